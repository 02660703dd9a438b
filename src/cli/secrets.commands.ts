import { VerificationService } from '@dundun/messaging';
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
    .runs(async (app) => {
      const dataSource = app.get(DataSource, { strict: false });
      const environment = app.get(ENVIRONMENT, { strict: false });
      const rotated = await rotateSecretsKey(dataSource, environment, SECRET_COLUMNS);
      const codes = await app.get(VerificationService, { strict: false }).reencrypt();
      return { ...rotated, rewritten: rotated.rewritten + codes };
    });
}
