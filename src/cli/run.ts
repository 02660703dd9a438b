import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { OperatorModule } from '../app.module.js';
import { openGatewayDatabase } from '../config/database.module.js';
import { loadEnvironmentFile, readEnvironment } from '../config/environment.js';
import { PinoLogger } from '../http/pino.logger.js';
import { gatewayTables } from '../tables.js';
import { type Answer, type OutputOptions, print, printError } from './output.js';

/** Runs `work` with the gateway's services on its database, also while the gateway runs. */
async function withGateway<T>(work: (app: INestApplicationContext) => Promise<T>): Promise<T> {
  loadEnvironmentFile();
  const environment = readEnvironment(process.env);
  const level = process.env.LOG_LEVEL ? environment.LOG_LEVEL : 'warn';
  const logger = new PinoLogger(level, pino.destination({ fd: 2, sync: true }));
  Logger.overrideLogger(logger);
  const dataSource = await openGatewayDatabase(
    environment,
    gatewayTables(environment),
    environment.NODE_ENV === 'production' ? 'empty' : 'always',
  );
  const app = await NestFactory.createApplicationContext(
    OperatorModule.for(environment, dataSource),
    { logger, abortOnError: false },
  );
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

/** Runs one command and prints its result or error; never rejects. */
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
