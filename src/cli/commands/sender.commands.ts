import type { INestApplicationContext } from '@nestjs/common';
import type { Also } from '../../accounts/accounts.service.js';
import { GatewayChannels, type SenderActions } from '../../channel.js';
import { AccountSenders } from '../../senders/account-senders.js';
import { type SenderOfAccount, SendersService } from '../../senders/senders.service.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

const service = (app: INestApplicationContext) => app.get(SendersService, { strict: false });

export function addSenderCommands(sender: OperatorCommand): void {
  addCommands(sender, 'sms', {
    field: 'sender',
    option: ['--sender <sender>', 'the sender ID, such as ACME'],
    nouns: 'sender IDs',
    send: 'send from a sender ID',
    one: 'a sender ID',
  });
}

export function addCallerCommands(caller: OperatorCommand): void {
  addCommands(caller, 'voice', {
    field: 'caller',
    option: ['--caller <number>', 'digits with country code'],
    nouns: 'caller ids',
    send: 'call from a number',
    one: 'a number',
  });
}

function addCommands(
  command: OperatorCommand,
  channel: string,
  words: {
    readonly field: 'sender' | 'caller';
    readonly option: readonly [string, string];
    readonly nouns: string;
    readonly send: string;
    readonly one: string;
  },
): void {
  const { field, nouns, send, one } = words;
  const commandForOne = (
    [name, description]: readonly [name: string, description: string],
    action: keyof SenderActions,
    work: (app: INestApplicationContext, of: SenderOfAccount, also: Also) => Promise<void>,
  ): OperatorCommand =>
    command
      .accountCommand(name, description)
      .requiredOption(...words.option)
      .runs(async (app, given: OfAccount & Readonly<Record<'sender' | 'caller', string>>) => {
        const { account: accountId, [field]: sender } = given;
        const { actions } = app.get(GatewayChannels).sendersOf(channel);
        if (!actions) throw new TypeError(`an operator alone adds senders of ${channel}`);
        const also = auditOf(app, accountId, actions[action], sender);
        await work(app, { accountId, channel, sender }, also);
        return { accountId, [field]: sender, ...(action !== 'added' && { status: action }) };
      });
  commandForOne(['add', `let an account ${send}`], 'added', (app, of, also) =>
    service(app).add(of, also),
  );
  command
    .accountCommand('list', `the ${nouns} of an account, also those that wait for approval`)
    .runs(async (app, { account }: OfAccount) => {
      const all = await app.get(AccountSenders, { strict: false }).list(account, channel);
      return { [`${field}s`]: all.map(({ sender, state }) => ({ [field]: sender, state })) };
    });
  commandForOne(
    ['approve', `let an account ${send} that it asked for`],
    'approved',
    (app, of, also) => service(app).approve(of, also),
  );
  commandForOne(
    ['reject', `refuse ${one} that an account asked for`],
    'rejected',
    (app, of, also) => service(app).remove(of, also, 'pending'),
  );
  commandForOne(['remove', `let an account ${send} no more`], 'removed', (app, of, also) =>
    service(app).remove(of, also),
  );
}
