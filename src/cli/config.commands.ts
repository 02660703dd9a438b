import { existsSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { type FileCarrier, fileCarriers } from '../carriers/file-carriers.js';
import { connect } from '../config/database.js';
import { type Environment, loadEnvironmentFile, readEnvironment } from '../config/environment.js';
import { type Variable, VARIABLES } from '../config/variables.js';
import { dataSourceOptions, migrateGatewayDatabase } from '../gateway-database.js';
import { SecretsKeyEntity } from '../secrets/secrets.tables.js';
import { checkSecretsKey } from '../secrets/stored-secrets.js';
import { smppTls } from '../smpp/smpp-tls.js';
import type { OperatorCommand } from './operator-command.js';

export function addConfigCommands(program: OperatorCommand): void {
  program
    .subcommand('config', 'the settings of this environment')
    .subcommand('check', 'read every setting, reach the database, check its key; changes nothing')
    .prints(async () => {
      loadEnvironmentFile();
      const environment = readEnvironment(process.env);
      const file = fileCarriers(environment);
      // Each provider checks its options, and connects to nothing.
      for (const { transport } of file?.carriers ?? []) await transport();
      smppTls(environment);
      const database = await reach(environment);
      return {
        status: 'ok',
        database,
        settings: settingsOf(process.env),
        ...(file && { carriers: file.carriers.map(shownOf) }),
      };
    });
  program
    .subcommand('database', 'the tables of the gateway')
    .subcommand('migrate', 'bring the tables up to date, one process at a time')
    .prints(async () => {
      loadEnvironmentFile();
      await migrateGatewayDatabase(readEnvironment(process.env));
      return { status: 'up to date' };
    });
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
    const { tablePath } = dataSource.getMetadata(SecretsKeyEntity);
    if (await runner.hasTable(tablePath)) await checkSecretsKey(dataSource, environment);
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
  return isFile ? `file ${database.path}` : `${database.type}, reached`;
}

function shownOf({ name, type, shown }: FileCarrier) {
  const settings = Object.entries(shown).map(([key, value]) => `${key}=${value}`);
  return { carrier: name, type, settings: settings.join(' ') };
}

function settingsOf(source: NodeJS.ProcessEnv) {
  return Object.entries<Variable<unknown>>(VARIABLES).map(([name, variable]) => {
    const written = source[name] || undefined;
    const shown = variable.secret && written !== undefined ? '(secret)' : written;
    return {
      variable: name,
      value: shown ?? variable.default ?? null,
      from: written === undefined ? 'default' : 'environment',
    };
  });
}
