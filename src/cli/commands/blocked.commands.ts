import type { Address } from '@dundun/messaging';
import { partialAddress } from '@dundun/messaging/values';
import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { BlockedService, DO_NOT_CALL, SUPPRESSIONS } from '../../blocked/blocked.service.js';
import {
  SUPPRESSION_CATEGORIES,
  SUPPRESSION_REASONS,
  suppressionOf,
} from '../../blocked/suppressions.dto.js';
import { invalidField } from '../../http/api-error.js';
import { numberRemedy } from '../../http/fields.js';
import type { AuditAction } from '../../portal/audit.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

interface OfEmail extends OfAccount {
  readonly email: string;
  readonly reason?: string;
  readonly category?: string;
}

interface OfPage extends OfAccount {
  readonly email?: string;
  readonly cursor?: string;
}

interface OfPhone extends OfAccount {
  readonly phone: string;
}

/** The lists, and the audit entry of a change. */
function listsOf(app: INestApplicationContext, account: string) {
  return {
    blocked: app.get(BlockedService, { strict: false }),
    also: (action: AuditAction, kind: Address['kind'], value: string) =>
      auditOf(app, account, action, partialAddress({ kind, value })),
  };
}

export function addSuppressionCommands(suppression: OperatorCommand): void {
  suppression
    .accountCommand('add', 'send no email to an address any more')
    .requiredOption('--email <address>', 'the address')
    .addOption(
      new Option('--reason <reason>', 'why').choices(SUPPRESSION_REASONS).default('manual'),
    )
    .addOption(
      new Option('--category <category>', 'this category alone (default: all)').choices(
        SUPPRESSION_CATEGORIES,
      ),
    )
    .runs(async (app, { account, email: address, reason, category }: OfEmail) => {
      const { blocked, also } = listsOf(app, account);
      const entry = { address, reason, category };
      const recorded = also('suppression.added', 'email', address);
      await blocked.add(account, SUPPRESSIONS, [entry], recorded);
      const { data } = await blocked.list(account, SUPPRESSIONS, { address, limit: 10 });
      return { suppressions: data.map(suppressionOf) };
    });
  suppression
    .accountCommand('list', 'by address')
    .option('--email <address>', 'only entries of this address')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account, email: address, cursor }: OfPage) => {
      const { blocked } = listsOf(app, account);
      const page = await blocked.list(account, SUPPRESSIONS, { address, cursor, limit: 1_000 });
      return { suppressions: page.data.map(suppressionOf), nextCursor: page.nextCursor };
    });
  suppression
    .accountCommand('remove', 'send to an address again, unless it unsubscribed')
    .requiredOption('--email <address>', 'the address')
    .runs(async (app, { account, email }: OfEmail) => {
      const { blocked, also } = listsOf(app, account);
      const recorded = also('suppression.lifted', 'email', email);
      await blocked.lift(account, SUPPRESSIONS, email, recorded);
      return { accountId: account, email, status: 'lifted' };
    });
}

export function addDoNotCallCommands(list: OperatorCommand): void {
  const commandForOne = (name: string, description: string): OperatorCommand =>
    list
      .accountCommand(name, description)
      .requiredOption('--phone <number>', 'digits with country code');
  commandForOne('add', 'refuse marketing calls of an account to a number').runs(
    async (app, { account, phone: address }: OfPhone) => {
      checkNumber(address);
      const { blocked, also } = listsOf(app, account);
      const recorded = also('do_not_call.added', 'phone', address);
      await blocked.add(account, DO_NOT_CALL, [{ address }], recorded);
      return { accountId: account, phone: address, status: 'do_not_call' };
    },
  );
  list
    .accountCommand('list', 'by number')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account, cursor }: OfPage) => {
      const { blocked } = listsOf(app, account);
      const page = await blocked.list(account, DO_NOT_CALL, { limit: 1_000, cursor });
      const numbers = page.data.map(({ address, category, reason, at }) => {
        return { phone: address?.value ?? null, category, reason, at: at.toISOString() };
      });
      return { numbers, nextCursor: page.nextCursor };
    });
  commandForOne('remove', 'allow marketing calls of an account to a number again').runs(
    async (app, { account, phone }: OfPhone) => {
      checkNumber(phone);
      const { blocked, also } = listsOf(app, account);
      const recorded = also('do_not_call.removed', 'phone', phone);
      await blocked.lift(account, DO_NOT_CALL, phone, recorded);
      return { accountId: account, phone, status: 'removed' };
    },
  );
}

/** @throws ApiError 422 */
function checkNumber(phone: string): void {
  const remedy = numberRemedy(phone);
  if (remedy !== undefined) throw invalidField('phone', remedy);
}
