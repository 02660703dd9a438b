import { DataSource } from 'typeorm';
import { ENVIRONMENT } from '../config/environment.js';
import { SECRET_COLUMNS } from '../gateway-database.js';
import { rotateSecretsKey } from '../secrets/stored-secrets.js';
import type { OperatorCommand } from './operator-command.js';

export function addSecretsCommands(program: OperatorCommand): void {
  program
    .subcommand('secrets', 'the secrets that the database holds')
    .subcommand(
      'rotate',
      'encrypt them all with SECRETS_KEY; set the former key as SECRETS_KEY_PREVIOUS',
    )
    .runs((app) => {
      const dataSource = app.get(DataSource, { strict: false });
      return rotateSecretsKey(dataSource, app.get(ENVIRONMENT, { strict: false }), SECRET_COLUMNS);
    });
}
