import { type Clock, MESSAGING_CLOCK, MessagingService, type Page } from '@dundun/messaging';
import type { Sql } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountsService, type Also, lockAccount } from '../../accounts/accounts.service.js';
import { invalidField } from '../../http/api-error.js';
import { isText } from '../../http/fields.js';
import type { PageQuery } from '../../http/page.dto.js';
import { startOf } from '../budgets/budget-period.js';
import { ChargeAudit } from '../charging/charge-audit.js';
import type { ChargeAt, Unsettled } from '../charging/charge-state.js';
import { amountText, LARGEST, readAmount } from '../money.js';
import { DEFAULT_CARD, RateCards } from '../rate-cards/rate-cards.service.js';
import { BalanceNotices } from '../thresholds/balance-notices.js';
import { type Difference, LedgerAudit } from './ledger-audit.js';
import { type AccountMoney, type Entry, LedgerStore, type LowestBalances } from './ledger.store.js';
import type { BillingMode, EntryKind } from './ledger.tables.js';

/** Widths of the columns. */
const LONGEST_REFERENCE = 100;
const LONGEST_NOTE = 255;

export interface NewMode {
  readonly mode: BillingMode;
  /** Name of a card. @default the account keeps its card */
  readonly card?: string | undefined;
  /** When its next messages are charged. @default the account keeps its rule */
  readonly chargeAt?: ChargeAt | undefined;
  /** What becomes of reservations without an end. @default the account keeps its rule */
  readonly unsettled?: Unsettled | undefined;
}

/** An operator's change of a balance. */
export interface BalanceChange {
  /** Decimal text; below zero it takes from the balance. */
  readonly amount: string;
  /** Such as the number of an invoice; a second change of the kind with it changes nothing. */
  readonly reference: string;
  readonly note?: string | undefined;
  /** The user who makes it; `null`: the command line. */
  readonly userId: string | null;
}

export interface PostedChange {
  readonly entry: Entry;
  readonly currency: string;
  /** `false`: the entry was there before, and nothing has changed. */
  readonly isNew: boolean;
}

/** What an account has and may spend; operators change it. Amounts are millionths. */
@Injectable()
export class BillingService {
  constructor(
    private readonly messaging: MessagingService,
    private readonly accounts: AccountsService,
    private readonly ledger: LedgerStore,
    private readonly cards: RateCards,
    private readonly chargeAudit: ChargeAudit,
    private readonly notices: BalanceNotices,
    private readonly ledgerAudit: LedgerAudit,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** `undefined`: nothing was ever set for the account, so it is `off`. */
  account(accountId: string): Promise<AccountMoney | undefined> {
    return this.ledger.account(accountId);
  }

  /** Accounts that pay and may spend least, at most `most` of them. */
  lowest(most: number): Promise<LowestBalances> {
    return this.ledger.lowest(most);
  }

  /** @throws ApiError 404 */
  async find(accountId: string): Promise<AccountMoney | undefined> {
    await this.accounts.find(accountId);
    return this.ledger.account(accountId);
  }

  /**
   * Sets how and when an account pays, and its card. `prepaid` sets its credit limit to zero.
   * @throws ApiError 404; 422 where there is no such card, where its currency is not that of the entries,
   * or where the balance is below zero before `prepaid`
   */
  async setMode(accountId: string, change: NewMode, also: Also): Promise<AccountMoney> {
    const { mode, card } = change;
    return this.changing(accountId, async (sql, manager, known) => {
      const own = known.card ?? DEFAULT_CARD;
      const name = card ?? own;
      const currency = this.#currencyOf(name);
      if (currency !== known.currency && (known.entries > 0n || known.reserved > 0n))
        throw invalidField(
          'card',
          `has prices in ${currency}, and the account has entries in ${known.currency}; choose a card in ${known.currency}`,
        );
      const { chargeAt = known.chargeAt, unsettled = known.unsettled } = change;
      const isSame = mode === known.mode && name === own && currency === known.currency;
      if (isSame && chargeAt === known.chargeAt && unsettled === known.unsettled) return known;
      const limit = mode === 'prepaid' ? 0n : known.creditLimit;
      const changed = await sql.run(
        `UPDATE gateway_billing_account SET mode = ?, card = ?, currency = ?, charge_at = ?, unsettled = ?,
            credit_limit = ${limit}
          WHERE account_id = ? AND balance - reserved + ${limit} >= 0
            AND (currency = ? OR (entries = 0 AND reserved = 0))`,
        [
          mode,
          name === DEFAULT_CARD ? null : name,
          currency,
          chargeAt,
          unsettled,
          accountId,
          currency,
        ],
      );
      if (changed === 0) {
        const missing = amountText(known.reserved - known.balance);
        throw invalidField('mode', `needs a balance; top up ${missing} ${known.currency} first`);
      }
      await this.notices.look(manager, [accountId]);
      await also(manager);
      return this.#known(accountId, sql);
    });
  }

  /**
   * Sets how far below zero a `postpaid` account may spend.
   * @throws ApiError 404; 422 where it is not `postpaid`, or is below the limit already
   */
  async setLimit(accountId: string, limit: string, also: Also): Promise<AccountMoney> {
    const amount = readAmount(limit);
    if (amount === undefined || amount < 0n)
      throw invalidField('limit', `must be ${AMOUNT_FORM}, such as 5000`);
    return this.changing(accountId, async (sql, manager, known) => {
      if (known.mode !== 'postpaid')
        throw invalidField('limit', `is of postpaid accounts alone, and this one is ${known.mode}`);
      if (known.creditLimit === amount) return known;
      const changed = await sql.run(
        `UPDATE gateway_billing_account SET credit_limit = ${amount}
          WHERE account_id = ? AND balance - reserved + ${amount} >= 0`,
        [accountId],
      );
      if (changed === 0) {
        const used = amountText(known.reserved - known.balance);
        throw invalidField('limit', `must be at least ${used} ${known.currency}, which is spent`);
      }
      await this.notices.look(manager, [accountId]);
      await also(manager);
      return this.#known(accountId, sql);
    });
  }

  /** Adds to the balance. @throws ApiError 404; 422 naming the wrong field */
  async topUp(accountId: string, change: BalanceChange, also: Also): Promise<PostedChange> {
    return this.#post(accountId, 'top_up', change, also);
  }

  /** Corrects the balance, also downwards. @throws ApiError 404; 422 naming the wrong field */
  async adjust(accountId: string, change: BalanceChange, also: Also): Promise<PostedChange> {
    return this.#post(accountId, 'adjustment', change, also);
  }

  /** Newest first. @throws ApiError 422 on `cursor` */
  async entries(accountId: string, { cursor, limit }: PageQuery): Promise<Page<Entry>> {
    if (cursor !== undefined && !/^[1-9]\d{0,17}$/.test(cursor))
      throw invalidField('cursor', 'must be the next_cursor of the page before');
    const before = cursor === undefined ? undefined : BigInt(cursor);
    const found = await this.ledger.page(accountId, limit + 1, before);
    const data = found.slice(0, limit);
    const last = found.length > limit ? data.at(-1) : undefined;
    return { data, nextCursor: last ? last.sequence.toString() : null };
  }

  /** Charges less refunds of the present day of UTC, in millionths. */
  spentToday(accountId: string): Promise<bigint> {
    return this.ledger.spentSince(accountId, startOf('day', this.clock.now()));
  }

  /**
   * Compares balances and budgets with their entries and with what their batches have, and batches with their
   * messages. Empty: all agree.
   */
  async differences(): Promise<readonly Difference[]> {
    const ofAccounts = await this.ledgerAudit.differences();
    return [...ofAccounts, ...(await this.chargeAudit.differences())];
  }

  async #post(
    accountId: string,
    kind: EntryKind,
    { amount: written, reference, note, userId }: BalanceChange,
    also: Also,
  ): Promise<PostedChange> {
    const amount = checkedAmount(kind, written);
    checkText('reference', reference, LONGEST_REFERENCE);
    if (note !== undefined) checkText('note', note, LONGEST_NOTE);
    return this.changing(accountId, async (sql, manager, { currency, ...known }) => {
      const key = { accountId, kind, reference };
      const earlier = await this.ledger.entry(key, sql);
      if (earlier) return { entry: sameAs(earlier, amount, currency), currency, isNew: false };
      const entry = { ...key, amount, note: note ?? null, userId, at: this.clock.now() };
      if (!(await this.ledger.post(sql, [entry]))) throw refused(known, amount, currency);
      await this.notices.look(manager, [accountId]);
      await also(manager);
      const made = await this.ledger.entry(key, sql);
      if (!made) throw new TypeError('an entry is not found in its own transaction');
      return { entry: made, currency, isNew: true };
    });
  }

  /**
   * For changes of the account's money in one transaction. Locks the account; one without a row gets it,
   * `off` and in the currency of its card.
   * @throws ApiError 404; 422 where there is no rate card
   */
  changing<T>(
    accountId: string,
    work: (sql: Sql, manager: EntityManager, known: AccountMoney) => Promise<T>,
  ): Promise<T> {
    return this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      const sql = this.ledger.join(manager);
      if (!(await this.ledger.account(accountId, sql)))
        await sql.run(
          `INSERT INTO gateway_billing_account (account_id, mode, currency) VALUES (?, 'off', ?)`,
          [accountId, this.#currencyOf(DEFAULT_CARD)],
        );
      return work(sql, manager, await this.#known(accountId, sql));
    });
  }

  async #known(accountId: string, sql: Sql): Promise<AccountMoney> {
    const known = await this.ledger.account(accountId, sql);
    if (!known) throw new TypeError('an account with money is not found in its own transaction');
    return known;
  }

  /** @throws ApiError 422 where there is no such card */
  #currencyOf(card: string): string {
    const currency = this.cards.currencyOf(card);
    if (currency !== undefined) return currency;
    throw invalidField('card', `must be a rate card; dundun rates import FILE.csv --card ${card}`);
  }
}

export const AMOUNT_FORM =
  'a decimal number with up to twelve digits before the point and six after it';

/** @throws ApiError 422 */
function checkedAmount(kind: EntryKind, written: string): bigint {
  const amount = readAmount(written);
  if (amount === undefined) throw invalidField('amount', `must be ${AMOUNT_FORM}, such as 5000`);
  if (kind === 'top_up' && amount <= 0n)
    throw invalidField('amount', 'must be above zero; dundun billing adjust takes from a balance');
  if (amount === 0n) throw invalidField('amount', 'must not be zero');
  return amount;
}

/** @throws ApiError 422 */
function checkText(path: string, text: string, most: number): void {
  if (!isText(text, most) || text.trim() === '' || /\p{Cc}/u.test(text))
    throw invalidField(path, `must be 1 to ${most} characters, in one line`);
}

/** @throws ApiError 422 where the reference has an entry of another amount */
function sameAs(entry: Entry, amount: bigint, currency: string): Entry {
  if (entry.amount === amount) return entry;
  throw invalidField(
    'reference',
    `has an entry of ${amountText(entry.amount)} ${currency} already; another amount needs another reference`,
  );
}

/** Why a balance does not change by an amount. */
function refused(
  { balance, reserved, creditLimit }: Pick<AccountMoney, 'balance' | 'reserved' | 'creditLimit'>,
  amount: bigint,
  currency: string,
) {
  if (amount > 0n)
    return invalidField('amount', `would make the balance larger than ${amountText(LARGEST)}`);
  const available = amountText(balance - reserved + creditLimit);
  return invalidField(
    'amount',
    `takes more than the ${available} ${currency} that are available; a postpaid account may have a credit limit`,
  );
}
