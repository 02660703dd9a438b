import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import {
  type BalanceChange,
  BillingService,
  type PostedChange,
} from '../billing/ledger/billing.service.js';
import {
  CHARGE_AT,
  type ChargeAt,
  UNSETTLED,
  type Unsettled,
} from '../billing/charging/charge-state.js';
import { balanceOf, entryOf } from '../billing/account.dto.js';
import { BillingCheck } from '../billing/billing-check.js';
import type { AccountMoney } from '../billing/ledger/ledger.store.js';
import { BILLING_MODES, type BillingMode } from '../billing/ledger/ledger.tables.js';
import { DEFAULT_CARD } from '../billing/rate-cards/rate-cards.service.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';
import { auditOf } from './operator-gateway.js';

interface ModeOptions extends OfAccount {
  readonly mode: BillingMode;
  readonly card?: string;
  readonly chargeAt?: ChargeAt;
  readonly unsettled?: Unsettled;
}

interface LimitOptions extends OfAccount {
  readonly limit: string;
}

interface ChangeOptions extends OfAccount {
  readonly amount: string;
  readonly reference: string;
  readonly note?: string;
}

interface EntriesOptions extends OfAccount {
  readonly cursor?: string;
}

const ENTRIES_A_PAGE = 50;

const billingOf = (app: INestApplicationContext) => app.get(BillingService, { strict: false });

export function addBillingCommands(billing: OperatorCommand): void {
  addAccountCommands(billing);
  addBalanceCommands(billing);
  billing
    .subcommand('verify', 'compare every balance with its entries; exit code 1 where they differ')
    .runs(async (app) => {
      const differences = await app.get(BillingCheck, { strict: false }).run();
      if (differences.length > 0) process.exitCode = 1;
      return { differences };
    });
}

function addAccountCommands(billing: OperatorCommand): void {
  billing
    .accountCommand('show', 'mode, balance and credit limit of an account')
    .runs(async (app, { account }: OfAccount) =>
      shownAccount(account, await billingOf(app).find(account)),
    );
  billing
    .accountCommand('mode', 'set how an account pays, and its rate card')
    .addOption(
      new Option('--mode <mode>', 'off: not at all').choices(BILLING_MODES).makeOptionMandatory(),
    )
    .option('--card <name>', 'its rate card (default: the present one)')
    .addOption(
      new Option(
        '--charge-at <status>',
        'when its messages are charged (default: the present rule)',
      ).choices(CHARGE_AT),
    )
    .addOption(
      new Option(
        '--unsettled <what>',
        'what becomes of reservations without an end (default: the present rule)',
      ).choices(UNSETTLED),
    )
    .runs(async (app, { account, ...change }: ModeOptions) => {
      const also = auditOf(app, account, 'billing.mode_changed', change.mode);
      return shownAccount(account, await billingOf(app).setMode(account, change, also));
    });
  billing
    .accountCommand('limit', 'set how far below zero a postpaid account may spend')
    .requiredOption('--limit <amount>', 'as 5000')
    .runs(async (app, { account, limit }: LimitOptions) => {
      const also = auditOf(app, account, 'billing.limit_changed', limit);
      return shownAccount(account, await billingOf(app).setLimit(account, limit, also));
    });
}

function addBalanceCommands(billing: OperatorCommand): void {
  const change = (name: string, description: string, amount: string): OperatorCommand =>
    billing
      .accountCommand(name, description)
      .requiredOption('--amount <amount>', amount)
      .requiredOption('--reference <reference>', 'as INV-17; a second time it changes nothing')
      .option('--note <text>', 'why; it is recorded') as OperatorCommand;
  const changeOf = ({ amount, reference, note }: ChangeOptions): BalanceChange => {
    return { amount, reference, note, userId: null };
  };
  change('top-up', 'add to the balance of an account', 'as 5000 or 12.50').runs(
    async (app, options: ChangeOptions) => {
      const { account, reference } = options;
      const also = auditOf(app, account, 'billing.topped_up', reference);
      return shownChange(await billingOf(app).topUp(account, changeOf(options), also));
    },
  );
  change('adjust', 'correct the balance of an account', 'as 5000 or -12.50').runs(
    async (app, options: ChangeOptions) => {
      const { account, reference } = options;
      const also = auditOf(app, account, 'billing.adjusted', reference);
      return shownChange(await billingOf(app).adjust(account, changeOf(options), also));
    },
  );
  billing
    .accountCommand('entries', 'entries of the ledger of an account, newest first')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account, cursor }: EntriesOptions) => {
      const page = { cursor, limit: ENTRIES_A_PAGE };
      const { data, nextCursor } = await billingOf(app).entries(account, page);
      const entries = data.map((entry) => ({ ...entryOf(entry), note: entry.note }));
      return { entries, nextCursor };
    });
}

/** @param money `undefined`: nothing was ever set for the account */
function shownAccount(accountId: string, money: AccountMoney | undefined) {
  const { mode, currency, ...amounts } = balanceOf(money);
  return { accountId, mode, card: money?.card ?? DEFAULT_CARD, currency, ...amounts };
}

function shownChange({ entry, currency, isNew }: PostedChange) {
  const status = isNew ? 'posted' : 'posted before';
  return { accountId: entry.accountId, status, ...entryOf(entry), currency };
}
