import { VerificationService } from '@dundun/messaging';
import { DataSource } from 'typeorm';
import { ENVIRONMENT } from '../../config/environment.js';
import { SECRET_COLUMNS } from '../../gateway-database.js';
import { rotateSecretsKey } from '../../secrets/stored-secrets.js';
import type { OperatorCommand } from '../operator-command.js';
import { recordChange } from '../operator-gateway.js';

export function addSecretsCommands(secrets: OperatorCommand): void {
  secrets
    .subcommand(
      'rotate',
      'encrypt them all with SECRETS_KEY; set the former key as SECRETS_KEY_PREVIOUS',
    )
    .runs(async (app) => {
      const dataSource = app.get(DataSource, { strict: false });
      const environment = app.get(ENVIRONMENT, { strict: false });
      const rotated = await rotateSecretsKey(dataSource, environment, SECRET_COLUMNS);
      const codes = await app.get(VerificationService, { strict: false }).reencrypt();
      await recordChange(app, null, 'secrets.rotated');
      return { ...rotated, rewritten: rotated.rewritten + codes };
    });
}
