import type { INestApplicationContext } from '@nestjs/common';
import { withGateway } from './command-context.js';
import { type Answer, type OutputOptions, print, printError } from './output.js';

/** Runs one command and prints its answer or its error; never rejects. */
export type Run = (
  options: OutputOptions,
  command: (app: INestApplicationContext) => Promise<Answer>,
) => Promise<void>;

export const run: Run = async (options, command) => {
  try {
    print(await withGateway(command), options);
  } catch (error) {
    printError(error, options);
  }
};
