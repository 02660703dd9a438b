import { DataSource } from 'typeorm';
import { connect } from '../config/database.js';
import { type Environment, loadEnvironmentFile, readEnvironment } from '../config/environment.js';
import { type Variable, VARIABLES } from '../config/variables.js';
import { dataSourceOptions } from '../gateway-database.js';
import type { OperatorCommand } from './operator-command.js';

export function addConfigCommands(program: OperatorCommand): void {
  program
    .subcommand('config', 'the settings of this environment')
    .subcommand('check', 'read every setting, reach the database; changes nothing')
    .prints(async () => {
      loadEnvironmentFile();
      const environment = readEnvironment(process.env);
      const database = await reach(environment);
      return { status: 'ok', database, settings: settingsOf(process.env) };
    });
}

/** Connects to a server; a SQLite file is created only when the gateway first opens it. */
async function reach(environment: Environment): Promise<string> {
  const database = environment.DATABASE_URL;
  if (database.type === 'sqlite') return `file ${database.path}`;
  const dataSource = new DataSource(dataSourceOptions(environment));
  await connect(dataSource);
  await dataSource.destroy();
  return `${database.type}, reached`;
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
