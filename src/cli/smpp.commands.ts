import type { INestApplicationContext } from '@nestjs/common';
import { type AuditAction, Audit, commandLineFor } from '../portal/audit.js';
import { SmppCredentials } from '../smpp/smpp-credentials.service.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';

interface OfSystemId extends OfAccount {
  readonly systemId: string;
}

export function addSmppCommands(program: OperatorCommand): void {
  const smpp = program.subcommand('smpp', 'system_ids and passwords with which accounts bind');
  const credentialsOf = (app: INestApplicationContext) =>
    app.get(SmppCredentials, { strict: false });
  const also = (
    app: INestApplicationContext,
    action: AuditAction & `smpp.${string}`,
    account: string,
    systemId?: string,
  ) => app.get(Audit, { strict: false }).also(commandLineFor(account), action, systemId);
  const commandForOne = (name: string, description: string): OperatorCommand =>
    smpp
      .accountCommand(name, description)
      .requiredOption('--system-id <id>', 'the system_id it was made with');
  smpp
    .accountCommand('add', 'make a system_id and a password, good for SMPP only; shown once')
    .runs(async (app, { account: accountId }: OfAccount) => ({
      accountId,
      ...(await credentialsOf(app).add(accountId, also(app, 'smpp.added', accountId))),
    }));
  smpp
    .accountCommand('list', 'the system_ids of an account, with their last bind')
    .runs(async (app, { account }: OfAccount) => ({
      systemIds: (await credentialsOf(app).list(account)).map(
        ({ systemId, createdAt, lastBoundAt }) => ({ systemId, createdAt, lastBoundAt }),
      ),
    }));
  commandForOne('rotate', 'make a new password; its binds end within a second').runs(
    async (app, { account: accountId, systemId }: OfSystemId) => ({
      accountId,
      ...(await credentialsOf(app).rotate(
        accountId,
        systemId,
        also(app, 'smpp.rotated', accountId, systemId),
      )),
    }),
  );
  commandForOne('remove', 'delete it; its binds end within a second').runs(
    async (app, { account: accountId, systemId }: OfSystemId) => {
      const removed = also(app, 'smpp.removed', accountId, systemId);
      await credentialsOf(app).remove(accountId, systemId, removed);
      return { accountId, systemId, status: 'removed' };
    },
  );
}
