import { MessagingService } from '@dundun/messaging';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { AccountsService, type Also } from '../accounts/accounts.service.js';
import { OperatorModule } from '../app.module.js';
import { CARRIERS_OF_CHANNELS, CHANNELS } from '../channels/index.js';
import {
  type Environment,
  loadEnvironmentFile,
  readEnvironment,
  settingErrorOf,
} from '../config/environment.js';
import { openGatewayDatabase } from '../gateway-database.js';
import { PinoLogger } from '../http/pino.logger.js';
import { Audit, type AuditAction, commandLineFor } from '../portal/audit.js';

/** Standard output has the answer alone. @param usual level where `LOG_LEVEL` is not set */
export function logToStderr(environment: Environment, usual: Environment['LOG_LEVEL']): PinoLogger {
  const level = process.env.LOG_LEVEL ? environment.LOG_LEVEL : usual;
  const logger = new PinoLogger(level, pino.destination({ fd: 2, sync: true }));
  Logger.overrideLogger(logger);
  return logger;
}

/** @param account checked before `work` @throws ApiError 404 for an unknown account */
export async function withGateway<T>(
  work: (app: INestApplicationContext) => Promise<T>,
  account?: string,
): Promise<T> {
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
    if (account !== undefined) await app.get(AccountsService, { strict: false }).find(account);
    return await work(app);
  } finally {
    await app.close();
  }
}

/**
 * The audit entry of a change, for the transaction of the change.
 * @param account `null`: the change is of no one account
 * @param target the changed object @default the id of the created one
 */
export function auditOf(
  app: INestApplicationContext,
  account: string | null,
  action: AuditAction,
  target?: string,
): Also {
  return app.get(Audit, { strict: false }).also(commandLineFor(account), action, target);
}

/** Records a change whose transaction cannot be joined, after it. */
export async function recordChange(
  app: INestApplicationContext,
  ...entry: [account: string | null, action: AuditAction, target?: string]
): Promise<void> {
  await app.get(MessagingService, { strict: false }).transaction(auditOf(app, ...entry));
}
