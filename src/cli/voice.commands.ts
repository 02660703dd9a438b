import type { INestApplicationContext } from '@nestjs/common';
import { type AuditAction, Audit, commandLineFor } from '../portal/audit.js';
import { maskedAddress } from '../portal/masking.js';
import { CallersService } from '../voice/callers.service.js';
import { DoNotCallService } from '../voice/do-not-call.service.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';

interface OfCaller extends OfAccount {
  readonly caller: string;
}

export function addCallerCommands(program: OperatorCommand): void {
  const caller = program.subcommand('caller', 'caller ids, the numbers that accounts call from');
  const callersOf = (app: INestApplicationContext) => app.get(CallersService, { strict: false });
  const also = (
    app: INestApplicationContext,
    action: AuditAction & `caller.${string}`,
    of: OfCaller,
  ) => app.get(Audit, { strict: false }).also(commandLineFor(of.account), action, of.caller);
  const commandForOne = (name: string, description: string): OperatorCommand =>
    caller
      .accountCommand(name, description)
      .requiredOption('--caller <number>', 'digits with country code');
  commandForOne('add', 'let an account call from a number').runs(async (app, of: OfCaller) => {
    await callersOf(app).add(of.account, of.caller, also(app, 'caller.added', of));
    return { accountId: of.account, caller: of.caller };
  });
  caller
    .accountCommand('list', 'the caller ids of an account, also those that wait for approval')
    .runs(async (app, { account }: OfAccount) => ({
      callers: (await callersOf(app).list(account)).map(({ caller: number, state }) => {
        return { caller: number, state };
      }),
    }));
  commandForOne('approve', 'let an account call from a number that it asked for').runs(
    async (app, of: OfCaller) => {
      await callersOf(app).approve(of.account, of.caller, also(app, 'caller.approved', of));
      return { accountId: of.account, caller: of.caller, status: 'approved' };
    },
  );
  commandForOne('reject', 'refuse a number that an account asked for').runs(
    async (app, of: OfCaller) => {
      const rejected = { only: 'pending', also: also(app, 'caller.rejected', of) } as const;
      await callersOf(app).remove(of.account, of.caller, rejected);
      return { accountId: of.account, caller: of.caller, status: 'rejected' };
    },
  );
  commandForOne('remove', 'let an account call from a number no more').runs(
    async (app, of: OfCaller) => {
      await callersOf(app).remove(of.account, of.caller, {
        also: also(app, 'caller.removed', of),
      });
      return { accountId: of.account, caller: of.caller, status: 'removed' };
    },
  );
}

interface OfPhone extends OfAccount {
  readonly phone: string;
}

export function addDoNotCallCommands(program: OperatorCommand): void {
  const list = program.subcommand('do-not-call', 'numbers that get no marketing calls');
  const listOf = (app: INestApplicationContext) => app.get(DoNotCallService, { strict: false });
  const also = (
    app: INestApplicationContext,
    action: AuditAction & `do_not_call.${string}`,
    { account, phone: value }: OfPhone,
  ) => {
    const target = maskedAddress({ kind: 'phone', value });
    return app.get(Audit, { strict: false }).also(commandLineFor(account), action, target);
  };
  const commandForOne = (name: string, description: string): OperatorCommand =>
    list
      .accountCommand(name, description)
      .requiredOption('--phone <number>', 'digits with country code');
  commandForOne('add', 'refuse marketing calls of an account to a number').runs(
    async (app, of: OfPhone) => {
      await listOf(app).add(of.account, of.phone, also(app, 'do_not_call.added', of));
      return { accountId: of.account, phone: of.phone, status: 'do_not_call' };
    },
  );
  list
    .accountCommand('list', 'by number')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account, cursor }: OfAccount & { cursor?: string }) => {
      const page = await listOf(app).list(account, { limit: 1_000, cursor });
      const numbers = page.data.map(({ address, category, reason, at }) => {
        return { phone: address?.value ?? null, category, reason, at: at.toISOString() };
      });
      return { numbers, nextCursor: page.nextCursor };
    });
  commandForOne('remove', 'allow marketing calls of an account to a number again').runs(
    async (app, of: OfPhone) => {
      await listOf(app).remove(of.account, of.phone, also(app, 'do_not_call.removed', of));
      return { accountId: of.account, phone: of.phone, status: 'removed' };
    },
  );
}
