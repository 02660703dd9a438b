import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import { type OutputOptions, print, printError } from './output.js';

export interface OfAccount {
  readonly account: string;
}

/**
 * A command that prints its result or its error; its subcommands do the same. This file loads nothing
 * of the gateway: that takes most of a second, and a page of help needs none of it.
 */
export class OperatorCommand extends Command {
  override createCommand(name?: string): OperatorCommand {
    return new OperatorCommand(name);
  }

  subcommand(name: string, description: string): OperatorCommand {
    return this.command(name).description(description) as OperatorCommand;
  }

  accountCommand(name: string, description: string): OperatorCommand {
    return this.subcommand(name, description).requiredOption('--account <id>', 'the account');
  }

  /**
   * Runs `work` with the gateway's services on its database, also while the gateway runs. An unknown
   * account in the option `account` is an error before.
   * @param work gets the services, the options, then the arguments
   */
  runs<Options>(
    work: (
      app: INestApplicationContext,
      options: Options,
      ...given: string[]
    ) => object | Promise<object>,
  ): this {
    return this.prints(async (options: Options & Partial<OfAccount>, ...given) => {
      const { withGateway } = await import('./operator-gateway.js');
      return withGateway(async (app) => work(app, options, ...given), options.account);
    });
  }

  /** @param work gets the options, then the arguments */
  prints<Options>(work: (options: Options, ...given: string[]) => Promise<object>): this {
    return this.option('--json', 'answer one line of JSON').action(
      async (...given: [...string[], Options & OutputOptions, Command]) => {
        const { json, ...options } = given.at(-2) as Options & OutputOptions;
        try {
          const result = await work(options as Options, ...(given.slice(0, -2) as string[]));
          const { isTTY, columns } = process.stdout;
          print(result, { json, columns: isTTY ? columns : undefined });
        } catch (error) {
          await printError(error, { json });
        }
      },
    );
  }
}
