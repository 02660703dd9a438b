import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { BUDGET_PERIODS } from '../../billing/budgets/budget-period.js';
import {
  type BudgetName,
  BudgetsService,
  type NewBudget,
} from '../../billing/budgets/budgets.service.js';
import {
  type BalanceChange,
  BillingService,
  type PostedChange,
} from '../../billing/ledger/billing.service.js';
import {
  CHARGE_AT,
  type ChargeAt,
  UNSETTLED,
  type Unsettled,
} from '../../billing/charging/charge-state.js';
import { balanceOf, budgetOf, entryOf, statementOf } from '../../billing/account.dto.js';
import { BillingCheck } from '../../billing/billing-check.js';
import { Margins } from '../../billing/margins/margins.service.js';
import type { AccountMoney } from '../../billing/ledger/ledger.store.js';
import { BILLING_MODES, type BillingMode } from '../../billing/ledger/ledger.tables.js';
import { DEFAULT_CARD } from '../../billing/rate-cards/rate-cards.service.js';
import { amountText } from '../../billing/money.js';
import { StatementsService, statementCsv } from '../../billing/statements/statements.service.js';
import { ThresholdsService } from '../../billing/thresholds/thresholds.service.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';
import { TextAnswer } from '../output.js';

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

interface StatementOptions extends OfAccount {
  readonly month: string;
  readonly csv?: true;
}

const ENTRIES_A_PAGE = 50;

const billingOf = (app: INestApplicationContext) => app.get(BillingService, { strict: false });

export function addBillingCommands(billing: OperatorCommand): void {
  addAccountCommands(billing);
  addBalanceCommands(billing);
  addAlertCommands(billing);
  addBudgetCommands(billing.subcommand('budget', 'what an account may spend in a day or a month'));
  billing
    .subcommand('margins', 'what messages of a month brought and cost, by carrier and country')
    .requiredOption('--month <month>', 'as 2026-11')
    .runs(async (app, { month }: Pick<StatementOptions, 'month'>) => {
      const margins = await app.get(Margins, { strict: false }).month(month);
      return {
        month,
        margins: margins.map(({ price, cost, costCurrency, month: _month, ...row }) => ({
          ...row,
          price: amountText(price),
          costCurrency: costCurrency || null,
          cost: costCurrency ? amountText(cost) : null,
          margin: costCurrency === row.currency ? amountText(price - cost) : null,
        })),
      };
    });
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
    .accountCommand('statement', 'what an account was charged in a month')
    .requiredOption('--month <month>', 'as 2026-11')
    .option('--csv', 'answer a file')
    .runs(async (app, { account, month, csv }: StatementOptions) => {
      const statement = await app
        .get(StatementsService, { strict: false })
        .statement(account, month);
      if (!csv) return { accountId: account, ...statementOf(statement) };
      return new TextAnswer(statementCsv(statement));
    });
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

interface AlertOptions extends OfAccount {
  readonly low?: readonly string[] | false;
  readonly email?: readonly string[] | false;
}

function addAlertCommands(billing: OperatorCommand): void {
  billing
    .accountCommand(
      'alerts',
      'set below which balances an account gets a notice, and at which e-mail addresses',
    )
    .option('--low <amounts...>', 'as 500 100; they replace the present ones')
    .option('--no-low', 'no amount')
    .option('--email <addresses...>', 'they replace the present ones')
    .option('--no-email', 'no e-mails')
    .runs(async (app, { account, low, email }: AlertOptions) => {
      const settings = app.get(ThresholdsService, { strict: false });
      const listOf = (given: readonly string[] | boolean | undefined) =>
        typeof given === 'object' ? given : given === false ? [] : undefined;
      const [thresholds, emails] = [listOf(low), listOf(email)];
      const also = auditOf(app, account, 'billing.thresholds_set');
      const { thresholds: amounts, emails: addresses } =
        thresholds || emails
          ? await settings.set(account, { thresholds, emails }, also)
          : await settings.find(account);
      return { accountId: account, low: amounts.map(amountText), emails: addresses };
    });
}

function addBudgetCommands(budget: OperatorCommand): void {
  const budgetsOf = (app: INestApplicationContext) => app.get(BudgetsService, { strict: false });
  const named = (name: string, description: string): OperatorCommand =>
    budget
      .accountCommand(name, description)
      .addOption(
        new Option('--period <period>', 'of UTC').choices(BUDGET_PERIODS).makeOptionMandatory(),
      )
      .option(
        '--key <id>',
        'one of its keys or named tokens, or api_token (default: the whole account)',
      ) as OperatorCommand;
  const targetOf = ({ key = 'account', period }: BudgetName) => `${key} ${period}`;
  named('set', 'set a budget; what was spent in the present period counts')
    .requiredOption('--limit <amount>', 'as 5000')
    .runs(async (app, { account, ...given }: OfAccount & NewBudget) => {
      const also = auditOf(app, account, 'billing.budget_set', targetOf(given));
      return { accountId: account, ...budgetOf(await budgetsOf(app).set(account, given, also)) };
    });
  budget
    .accountCommand('list', 'the budgets of an account, and what is spent of them')
    .runs(async (app, { account }: OfAccount) => {
      return { budgets: (await budgetsOf(app).list(account)).map(budgetOf) };
    });
  named('remove', 'remove a budget').runs(
    async (app, { account, ...name }: OfAccount & BudgetName) => {
      const also = auditOf(app, account, 'billing.budget_removed', targetOf(name));
      await budgetsOf(app).remove(account, name, also);
      return { accountId: account, status: 'removed' };
    },
  );
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
