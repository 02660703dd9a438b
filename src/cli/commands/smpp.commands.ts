import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { invalidField } from '../../http/api-error.js';
import { SmppCredentials } from '../../smpp/smpp-credentials.service.js';
import type { SmppAlphabets } from '../../smpp/smpp.tables.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

interface OfSystemId extends OfAccount {
  readonly systemId: string;
}

const ALPHABETS = ['gsm7', 'ascii', 'latin1'] satisfies SmppAlphabets['dataCoding0'][];

/** No defaults: the columns have them, and a change leaves what is not given. */
const alphabetOptions = (): Option[] => [
  new Option('--data-coding-0 <alphabet>', 'what its texts with data_coding 0 are').choices(
    ALPHABETS,
  ),
  new Option('--data-coding-1 <alphabet>', 'the same for data_coding 1').choices([
    'auto',
    ...ALPHABETS,
  ]),
];

function withAlphabets(command: OperatorCommand): OperatorCommand {
  for (const option of alphabetOptions()) command.addOption(option);
  return command;
}

export function addSmppCommands(smpp: OperatorCommand): void {
  const credentialsOf = (app: INestApplicationContext) =>
    app.get(SmppCredentials, { strict: false });
  const commandForOne = (name: string, description: string): OperatorCommand =>
    smpp
      .accountCommand(name, description)
      .requiredOption('--system-id <id>', 'the system_id it was made with');
  withAlphabets(
    smpp.accountCommand('add', 'make a system_id and a password, good for SMPP only; shown once'),
  ).runs(async (app, { account: accountId, ...alphabets }: OfAccount & Partial<SmppAlphabets>) => ({
    accountId,
    ...(await credentialsOf(app).add(accountId, auditOf(app, accountId, 'smpp.added'), alphabets)),
  }));
  withAlphabets(
    commandForOne('change', 'change how its texts are read; its binds end within a second'),
  ).runs(
    async (
      app,
      { account: accountId, systemId, ...alphabets }: OfSystemId & Partial<SmppAlphabets>,
    ) => {
      if (Object.keys(alphabets).length === 0)
        throw invalidField('--data-coding-0', 'or --data-coding-1 is needed');
      const changed = auditOf(app, accountId, 'smpp.changed', systemId);
      await credentialsOf(app).change(accountId, systemId, alphabets, changed);
      return { accountId, systemId, ...alphabets };
    },
  );
  smpp
    .accountCommand('list', 'the system_ids of an account, with their last bind')
    .runs(async (app, { account }: OfAccount) => ({
      systemIds: (await credentialsOf(app).list(account)).map(
        ({ systemId, createdAt, lastBoundAt, dataCoding0, dataCoding1 }) => ({
          systemId,
          createdAt,
          lastBoundAt,
          dataCoding0,
          dataCoding1,
        }),
      ),
    }));
  commandForOne('rotate', 'make a new password; its binds end within a second').runs(
    async (app, { account: accountId, systemId }: OfSystemId) => ({
      accountId,
      ...(await credentialsOf(app).rotate(
        accountId,
        systemId,
        auditOf(app, accountId, 'smpp.rotated', systemId),
      )),
    }),
  );
  commandForOne('remove', 'delete it; its binds end within a second').runs(
    async (app, { account: accountId, systemId }: OfSystemId) => {
      const removed = auditOf(app, accountId, 'smpp.removed', systemId);
      await credentialsOf(app).remove(accountId, systemId, removed);
      return { accountId, systemId, status: 'removed' };
    },
  );
}
