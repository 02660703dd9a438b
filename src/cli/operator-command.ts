import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Command } from 'commander';
import { pino } from 'pino';
import { OperatorModule } from '../app.module.js';
import { CARRIERS_OF_CHANNELS, CHANNELS } from '../channels/index.js';
import {
  type Environment,
  loadEnvironmentFile,
  readEnvironment,
  settingErrorOf,
} from '../config/environment.js';
import { PinoLogger } from '../http/pino.logger.js';
import { openGatewayDatabase } from '../gateway-database.js';
import { type OutputOptions, print, printError } from './output.js';

export interface OfAccount {
  readonly account: string;
}

/** A command that prints its result or its error; its subcommands do the same. */
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

  /** Runs `work` with the gateway's services on its database, also while the gateway runs. */
  runs<Options>(
    work: (app: INestApplicationContext, options: Options) => object | Promise<object>,
  ): this {
    return this.prints((options: Options) => withGateway(async (app) => work(app, options)));
  }

  /** @param work gets the options, then the arguments */
  prints<Options>(work: (options: Options, ...given: string[]) => Promise<object>): this {
    return this.option('--json', 'answer one line of JSON').action(
      async (...given: [...string[], Options & OutputOptions, Command]) => {
        const { json, ...options } = given.at(-2) as Options & OutputOptions;
        try {
          print(await work(options as Options, ...(given.slice(0, -2) as string[])), { json });
        } catch (error) {
          printError(error, { json });
        }
      },
    );
  }
}

/** Standard output has the answer alone. @param usual level where `LOG_LEVEL` is not set */
export function logToStderr(environment: Environment, usual: Environment['LOG_LEVEL']): PinoLogger {
  const level = process.env.LOG_LEVEL ? environment.LOG_LEVEL : usual;
  const logger = new PinoLogger(level, pino.destination({ fd: 2, sync: true }));
  Logger.overrideLogger(logger);
  return logger;
}

async function withGateway<T>(work: (app: INestApplicationContext) => Promise<T>): Promise<T> {
  loadEnvironmentFile();
  const environment = readEnvironment(process.env, CARRIERS_OF_CHANNELS);
  const logger = logToStderr(environment, 'warn');
  const dataSource = await openGatewayDatabase(environment, 'empty');
  const app = await NestFactory.createApplicationContext(
    OperatorModule.for(environment, dataSource, CHANNELS),
    { logger, abortOnError: false },
  ).catch((error: unknown) => {
    throw settingErrorOf(error, environment);
  });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}
