import { migrateDatabase } from '@dundun/messaging/migrations';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { OperatorModule } from '../../app.module.js';
import { CARRIERS_OF_CHANNELS, CHANNELS } from '../../channels/index.js';
import type { Carrier } from '../../carriers/carriers.js';
import { connect, requireTexts, SilentTypeOrmLogger } from '../../config/database.js';
import {
  type Environment,
  loadEnvironmentFile,
  readEnvironment,
  settingErrorOf,
} from '../../config/environment.js';
import { VARIABLES } from '../../config/variables.js';
import { dataSourceOptions, migrateGatewayDatabase } from '../../gateway-database.js';
import { SecretsKeyEntity } from '../../secrets/secrets.tables.js';
import { checkSecretsKey } from '../../secrets/stored-secrets.js';
import { smppTls } from '../../smpp/smpp-tls.js';
import type { OperatorCommand } from '../operator-command.js';
import { logToStderr } from '../operator-gateway.js';

export function addConfigCommands(config: OperatorCommand): void {
  config
    .subcommand('check', 'read every setting, reach the database, check its key; changes nothing')
    .prints(async () => {
      loadEnvironmentFile();
      const environment = readEnvironment(process.env, CARRIERS_OF_CHANNELS);
      smppTls(environment);
      await tryModules(environment);
      const database = await reach(environment);
      return {
        status: 'ok',
        database,
        settings: settingsOf(process.env),
        carriers: environment.carriers.all.map(shownOf),
      };
    });
}

export function addDatabaseCommands(database: OperatorCommand): void {
  database
    .subcommand('migrate', 'bring the tables up to date, one process at a time')
    .prints(async () => {
      loadEnvironmentFile();
      const environment = readEnvironment(process.env, CARRIERS_OF_CHANNELS);
      logToStderr(environment, 'info');
      await migrateGatewayDatabase(environment);
      return { status: 'up to date' };
    });
}

/** Makes the modules as the start does, on an empty database of their own: they check every option. */
async function tryModules(environment: Environment): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-check-'));
  const path = join(directory, 'check.sqlite');
  const dataSource = new DataSource({
    ...dataSourceOptions({ DATABASE_URL: { type: 'sqlite', path } }),
    logger: new SilentTypeOrmLogger(),
  });
  try {
    await dataSource.initialize();
    Logger.overrideLogger(false);
    await migrateDatabase(dataSource);
    const module = OperatorModule.for(environment, dataSource, CHANNELS);
    const app = await NestFactory.createApplicationContext(module, {
      logger: false,
      abortOnError: false,
    });
    await app.close();
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw settingErrorOf(error, environment);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/**
 * Connects, and checks the key of the stored secrets; a SQLite file is created only when the gateway
 * first opens it.
 */
async function reach(environment: Environment): Promise<string> {
  const { DATABASE_URL: database } = environment;
  const isFile = database.type === 'sqlite';
  if (isFile && !existsSync(database.path)) return `file ${database.path}`;
  const dataSource = new DataSource(dataSourceOptions(environment));
  await connect(dataSource);
  const runner = dataSource.createQueryRunner();
  try {
    await requireTexts(dataSource);
    const { tablePath } = dataSource.getMetadata(SecretsKeyEntity);
    if (await runner.hasTable(tablePath)) await checkSecretsKey(dataSource, environment);
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
  return isFile ? `file ${database.path}` : `${database.type}, reached`;
}

function shownOf({ name, type, shown }: Carrier) {
  const settings = Object.entries(shown).map(([key, value]) => `${key}=${value}`);
  return { carrier: name, type, settings: settings.join(' ') };
}

function settingsOf(source: NodeJS.ProcessEnv) {
  return Object.entries(VARIABLES).map(([name, variable]) => {
    const written = source[name] || undefined;
    const shown = variable.secret && written !== undefined ? '(secret)' : written;
    return {
      variable: name,
      value: shown ?? variable.default ?? null,
      from: written === undefined ? 'default' : 'environment',
    };
  });
}
