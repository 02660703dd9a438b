import { NestFactory } from '@nestjs/core';
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { OperatorModule } from '../../app.module.js';
import { CARRIERS_OF_CHANNELS, CHANNELS } from '../../channels/index.js';
import {
  type Environment,
  EnvironmentError,
  loadEnvironmentFile,
  readEnvironment,
  settingErrorOf,
} from '../../config/environment.js';
import { type CheckResult, runChecks } from '../../doctor/check.js';
import { causeOf } from '../../http/log-redaction.js';
import { Doctor, machineChecks } from '../../doctor/doctor.service.js';
import { openUnchangedDatabase } from '../../gateway-database.js';
import { smppTls } from '../../smpp/smpp-tls.js';
import type { OperatorCommand } from '../operator-command.js';
import { logToStderr } from '../operator-gateway.js';

/** Longest time, in milliseconds, that the database takes for the connection, and for all reads of its tables. */
const CONNECT_WITHIN = 10_000;
const OPEN_WITHIN = 15_000;

export function addDoctorCommand(doctor: OperatorCommand): void {
  doctor.prints(async () => {
    const checks = await examine();
    if (checks.some(({ ok }) => !ok)) process.exitCode = 1;
    return { checks };
  });
}

async function examine(): Promise<readonly CheckResult[]> {
  loadEnvironmentFile();
  let environment: Environment;
  try {
    environment = readEnvironment(process.env, CARRIERS_OF_CHANNELS);
    smppTls(environment);
  } catch (error) {
    return [failed('settings', error, CORRECT)];
  }
  logToStderr(environment, 'error');
  const settings = passed('settings', 'every setting is right');
  let dataSource: DataSource;
  try {
    dataSource = await opened(environment);
  } catch (error) {
    const database = failed('database', error, REACH);
    return [settings, database, ...(await runChecks(machineChecks(environment)))];
  }
  const database = passed('database', 'it answers, and its tables are those of this version');
  const app = await NestFactory.createApplicationContext(
    OperatorModule.for(environment, dataSource, CHANNELS),
    { logger: ['error'], abortOnError: false },
  ).catch((error: unknown) => settingErrorOf(error, environment) as Error);
  if (app instanceof Error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    return [failed('settings', app, CORRECT), database];
  }
  try {
    return [settings, database, ...(await app.get(Doctor, { strict: false }).examine())];
  } finally {
    await app.close();
  }
}

const CORRECT = 'correct the settings; docs/configuration.md lists them all';
const REACH = 'check DATABASE_URL, that the database runs and that this user may use it';

async function opened(environment: Environment): Promise<DataSource> {
  const { DATABASE_URL: database } = environment;
  // Opening it would create it.
  if (database.type === 'sqlite' && !existsSync(database.path))
    throw new EnvironmentError([
      'the file does not exist; start the gateway, or run `npx dundun database migrate`',
    ]);
  const late = wait(OPEN_WITHIN, undefined, { ref: false }).then(() => {
    throw new EnvironmentError([`no answer within ${OPEN_WITHIN / 1_000} s`]);
  });
  return Promise.race([openUnchangedDatabase(environment, CONNECT_WITHIN), late]);
}

function passed(name: string, detail: string): CheckResult {
  return { name, ok: true, detail, remedy: null };
}

/** The message of an error of a driver has its address: its code is enough. */
function failed(name: string, error: unknown, remedy: string): CheckResult {
  const { problems = [], cause } = error instanceof EnvironmentError ? error : {};
  const isOfDriver = cause instanceof Error && problems.length === 1 && name === 'database';
  const detail =
    isOfDriver || problems.length === 0 ? causeOf(cause ?? error) : problems.join('; ');
  return { name, ok: false, detail, remedy };
}
