import { type Clock, MESSAGING_CLOCK, type MessageStatusChanged } from '@dundun/messaging';
import {
  type GuardedBatch,
  type GuardedCancellation,
  type GuardedChange,
  type GuardedEnd,
  type SpendGuard,
  type SpendReservation,
  SpendBusyError,
  SpendRefusedError,
  type SpentAmount,
  type VasOrderContent,
} from '@dundun/messaging/ports';
import type { Sql } from '@dundun/messaging/queue';
import { countryOfNumber } from '@dundun/messaging/values';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { BudgetBook, correctionsOf, summed } from '../budgets/budget-book.js';
import { BudgetStore } from '../budgets/budget.store.js';
import { Margins } from '../margins/margins.service.js';
import { amountText, readAmount } from '../money.js';
import { DEFAULT_CARD, type PayingTerms, RateCards } from '../rate-cards/rate-cards.service.js';
import { OTHERS, type Rate, type RateTable } from '../rate-cards/rate-table.js';
import { type MonthKey, MonthTotals } from '../statements/month-totals.js';
import { StatementStore } from '../statements/statement.store.js';
import { BalanceNotices } from '../thresholds/balance-notices.js';
import { chargeOf, reportedChargeOf, reservationOf, writeRates } from './batch-rates.js';
import { CHARGE_AT, chargeStateOf, type Unsettled } from './charge-state.js';
import {
  type AcceptedBatch,
  type AccountMove,
  type AccountTake,
  type BatchMove,
  ChargeStore,
  type PayingAccount,
} from './charge.store.js';
import { type ReadBatch, RecentBatches } from './recent-batches.js';
import { BILLED, reportedAfter, reportedBy, secondsOf } from './reported-price.js';

interface PricedBatch {
  readonly rates: string;
  readonly amount: bigint;
}

/** By what an account is priced. */
type Terms = Pick<PayingTerms, 'card' | 'currency'>;

/** What the messages of one batch move; amounts are millionths. */
interface Moved {
  reserved: bigint;
  charged: bigint;
  messages: number;
  /** As in {@link ChargedBatch}. */
  reported: string | null;
  /** What it charges by channel, country and credential. */
  readonly totals: MonthTotals;
}

/** Charges accounts for their messages, in the transactions of the messages. */
@Injectable()
export class AccountCharges implements SpendGuard {
  readonly #recent = new RecentBatches();
  /** Prices of batches that are about to be stored. */
  readonly #expected = new WeakMap<GuardedBatch, PricedBatch & { readonly terms: PayingTerms }>();
  /** Accounts whose last batch cost more than they had. */
  readonly #short = new Set<string>();

  constructor(
    private readonly cards: RateCards,
    private readonly store: ChargeStore,
    private readonly budgets: BudgetStore,
    private readonly statements: StatementStore,
    private readonly notices: BalanceNotices,
    private readonly margins: Margins,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  guards(accountId: string): boolean {
    return this.cards.pays(accountId);
  }

  async lock(accounts: readonly string[], manager: EntityManager): Promise<void> {
    await this.store.lock(this.store.join(manager), accounts);
  }

  /** Accounts with budgets, and those that were refused last, are asked one after the other. */
  expects(batch: GuardedBatch): boolean {
    const terms = this.cards.termsOf(batch.tenant);
    if (!terms || terms.budgets > 0 || this.#short.has(batch.tenant)) return false;
    const priced = this.#expectedPrice(batch, terms);
    if (!priced) return false;
    this.#expected.set(batch, { ...priced, terms });
    return true;
  }

  reserve(batches: readonly GuardedBatch[]): SpendReservation | undefined {
    const acceptedAt = this.clock.now();
    const takes = new Map<string, AccountTake>();
    const accepted: AcceptedBatch[] = [];
    for (const batch of batches) {
      const { terms, rates, amount } = this.#expected.get(batch)!;
      const { tenant: accountId } = batch;
      const { card, chargeAt, currency } = terms;
      const own = takes.get(accountId) ?? { accountId, card, chargeAt, currency, reserved: 0n };
      // The terms were read again between two of its batches.
      if (own.card !== card || own.chargeAt !== chargeAt || own.currency !== currency)
        return undefined;
      takes.set(accountId, { ...own, reserved: own.reserved + amount });
      accepted.push(acceptedOf(batch, { rates, reserved: amount, chargeAt, currency, acceptedAt }));
    }
    // The slow path overwrites those that it accepts under other terms.
    for (const batch of accepted) this.#recent.add(batch);
    return this.store.reservation(accepted, [...takes.values()]);
  }

  /** Of several batches of one account, the first that fit are accepted. */
  async onAccepted(
    batches: readonly GuardedBatch[],
    manager: EntityManager,
  ): Promise<ReadonlyMap<string, SpendRefusedError>> {
    const sql = this.store.join(manager);
    const refused = new Map<string, SpendRefusedError>();
    const known = await this.store.known(
      sql,
      batches.map(({ id }) => id),
    );
    const fresh = batches.filter(({ id }) => !known.has(id));
    const accounts = await this.store.lock(
      sql,
      [...new Set(fresh.map(({ tenant }) => tenant))].toSorted(),
    );
    const book = await this.#budgetsOf(sql, accounts);
    const left = new Map([...accounts].map(([id, { available }]) => [id, available]));
    const accepted: AcceptedBatch[] = [];
    for (const batch of fresh) {
      const account = accounts.get(batch.tenant);
      // The account does not pay any more.
      if (!account || account.mode === 'off') continue;
      const available = left.get(batch.tenant) ?? 0n;
      const priced = this.#priced(batch, account, available);
      const refusal =
        priced instanceof SpendRefusedError
          ? priced
          : book.spend({
              accountId: batch.tenant,
              spender: batch.spender,
              price: priced.amount,
              currency: account.currency,
            });
      if (refusal || priced instanceof SpendRefusedError) {
        if (refusal) refused.set(batch.id, refusal);
        if (refusal?.code === 'insufficient_balance') this.#short.add(batch.tenant);
        continue;
      }
      this.#short.delete(batch.tenant);
      left.set(batch.tenant, available - priced.amount);
      const { chargeAt, currency } = account;
      const { rates, amount: reserved } = priced;
      const acceptedAt = book.acceptedAt(batch.tenant);
      accepted.push(acceptedOf(batch, { rates, reserved, chargeAt, currency, acceptedAt }));
    }
    for (const batch of accepted) this.#recent.add(batch);
    await this.store.accept(sql, accepted);
    if (!(await this.budgets.spend(sql, book.spends)))
      throw new TypeError('a budget of a locked account has changed');
    return refused;
  }

  async onChanged(
    changes: readonly GuardedChange[],
    manager: EntityManager,
  ): Promise<readonly SpentAmount[]> {
    const moving = changes.filter((change) => this.#mayMove(change));
    const recent = this.#recentOf(moving);
    let charged = await this.#move(manager, moving, ({ batchId }) => batchId, changeOf, recent);
    if (!charged) {
      for (const batch of recent.keys()) this.#recent.forget(batch);
      charged = await this.#move(manager, moving, ({ batchId }) => batchId, changeOf, new Map());
    }
    return changes.map((change) => {
      const { amount = 0n, currency } = charged?.get(change) ?? {};
      return { amount, currency: currency ?? this.cards.termsOf(change.tenant)?.currency ?? '' };
    });
  }

  async spent(
    batches: readonly string[],
    manager: EntityManager,
  ): Promise<ReadonlyMap<string, SpentAmount>> {
    const found = await this.store.find(batches, this.store.join(manager));
    return this.margins.prices(found, manager);
  }

  /**
   * Those of the batches that are charged without a read: the row of their only message is locked, so no
   * other transaction moves their money. A report that says how one is billed needs what it has.
   */
  #recentOf(changes: readonly MessageStatusChanged[]): Map<string, ReadBatch> {
    const recent = new Map<string, ReadBatch>();
    for (const { batchId } of changes) {
      const known = recent.has(batchId) ? undefined : this.#recent.get(batchId);
      if (known?.messages === 1)
        recent.set(batchId, { ...known, reserved: 0n, charged: 0n, reported: null });
    }
    for (const { batchId, details } of changes)
      if (reportedBy(details) !== null) recent.delete(batchId);
    return recent;
  }

  /**
   * Whether the change may move money. One that leaves the charge moves none, whatever its batch has:
   * most reports of accounts that are charged for what is sent.
   */
  #mayMove(change: GuardedChange) {
    const { batchId, channel, previous, status, event, details } = change;
    const statuses = statusesOf(change);
    if (reportedBy(details) !== null) return event === undefined || event === BILLED;
    if (event !== undefined) return false;
    const known = this.#recent.get(batchId);
    return (known ? [known.chargeAt] : CHARGE_AT).some(
      (rule) =>
        chargeStateOf({ channel, status: previous, statuses: statuses - 1 }, rule) !==
        chargeStateOf({ channel, status, statuses }, rule),
    );
  }

  async onCancelled(
    batches: readonly GuardedCancellation[],
    manager: EntityManager,
  ): Promise<void> {
    await this.#move(manager, batches, ({ batchId }) => batchId, cancellationOf);
  }

  async onEnded(batches: readonly GuardedEnd[], manager: EntityManager): Promise<void> {
    const sql = this.store.join(manager);
    const rules = await this.store.unsettled(
      sql,
      batches.map(({ tenant }) => tenant),
    );
    await this.#move(manager, batches, ({ batchId }) => batchId, endBy(rules));
    const ids = batches.map(({ batchId }) => batchId);
    await this.margins.keep(sql, await this.store.charged(sql, ids), manager);
    await this.store.close(sql, ids);
  }

  async #budgetsOf(sql: Sql, accounts: ReadonlyMap<string, PayingAccount>): Promise<BudgetBook> {
    const limited = [...accounts.values()].filter(({ budgets }) => budgets > 0);
    const budgets = await this.budgets.ofAccounts(
      sql,
      limited.map(({ accountId }) => accountId),
    );
    return new BudgetBook(budgets, this.clock.now());
  }

  #priced(
    batch: GuardedBatch,
    account: PayingAccount,
    available: bigint,
  ): PricedBatch | SpendRefusedError {
    const { currency } = account;
    const priced = this.#priceOf(batch, account);
    if (priced instanceof SpendRefusedError || priced.amount <= available) return priced;
    const needed = amountText(priced.amount);
    const there = amountText(available);
    return new SpendRefusedError(
      'insufficient_balance',
      `The message costs ${needed} ${currency}, and ${there} ${currency} are available; top up the balance`,
      { needed, available: there, currency },
    );
  }

  /** @throws SpendBusyError as {@link #ofCard} */
  #priceOf(batch: GuardedBatch, terms: Terms): PricedBatch | SpendRefusedError {
    return isOrder(batch) ? orderPrice(batch.content, terms.currency) : this.#ofCard(batch, terms);
  }

  /** `undefined`: it would be refused. */
  #expectedPrice(batch: GuardedBatch, terms: Terms): PricedBatch | undefined {
    try {
      const priced = this.#priceOf(batch, terms);
      return priced instanceof SpendRefusedError ? undefined : priced;
    } catch (error) {
      if (error instanceof SpendBusyError) return undefined;
      throw error;
    }
  }

  /** @throws SpendBusyError where this process does not know the card yet: it reads them every second */
  #ofCard(
    { channel, category, parts, recipients }: GuardedBatch,
    { currency, card: own }: Terms,
  ): PricedBatch | SpendRefusedError {
    // As the locked row has it: a new card counts at once in every process.
    const card = own ?? DEFAULT_CARD;
    if (own !== null && this.cards.currencyOf(card) === undefined) throw new SpendBusyError();
    const version = this.cards.inForce(card);
    if (version && version.currency !== currency)
      return mismatch(version.currency, currency, 'The rate card');
    const priced = version?.rates.price(channel, category, recipients);
    if (!version || !priced || priced.unpriced >= 0)
      return new SpendRefusedError(
        'no_price',
        `The rate card of the account has no price for recipient ${(priced?.unpriced ?? 0) + 1} on ${channel}; ask your provider for one`,
      );
    const amount = priced.groups.reduce(
      (sum, { rate, recipients: number }) => sum + reservationOf(rate, parts) * BigInt(number),
      0n,
    );
    return {
      rates: writeRates(priced.groups, reportedRates(version.rates, channel, recipients)),
      amount,
    };
  }

  /**
   * @param movedOf adds to `moved` what an item moves of its batch
   * @param recent batches that need no read; those that are read are then remembered
   * @returns what each item charged; `undefined`: a recent batch is not as it is remembered, and nothing
   * has changed
   */
  async #move<T>(
    manager: EntityManager,
    items: readonly T[],
    batchOf: (item: T) => string,
    movedOf: (item: T, batch: ReadBatch, moved: Moved) => void,
    recent?: ReadonlyMap<string, ReadBatch>,
  ): Promise<ReadonlyMap<T, SpentAmount> | undefined> {
    const spent = new Map<T, SpentAmount>();
    if (items.length === 0) return spent;
    const sql = this.store.join(manager);
    const batches = new Map(recent);
    const others = items.map(batchOf).filter((batch) => !batches.has(batch));
    for (const one of others.length > 0 ? await this.store.charged(sql, others) : []) {
      batches.set(one.batch, { ...one, rates: this.#recent.ratesOf(one.rates) });
      if (recent && one.reported === null) this.#recent.add(one);
    }
    const moved = new Map<string, Moved>();
    const totals = new MonthTotals();
    for (const item of items) {
      const batch = batches.get(batchOf(item));
      if (!batch) continue;
      const own = moved.get(batch.batch) ?? nothingOf(totals, batch);
      moved.set(batch.batch, own);
      const { charged } = own;
      movedOf(item, batch, own);
      spent.set(item, { amount: own.charged - charged, currency: batch.currency });
    }
    const open = movesOf(batches, moved).filter(({ batch }) => recent?.has(batch));
    if (!(await this.store.moveOpen(sql, open))) {
      // The rows that it has changed are locked: the same ones change back.
      await this.store.moveOpen(
        sql,
        open.map((one) => ({ ...one, reserved: -one.reserved, charged: -one.charged })),
      );
      return undefined;
    }
    const at = this.clock.now();
    const paid = await this.#write(sql, { batches, moved, recent }, at);
    await this.statements.add(sql, totals.all, at);
    await this.notices.look(manager, paid);
    return spent;
  }

  /** @returns the accounts whose balances have changed */
  async #write(
    sql: Sql,
    {
      batches,
      moved,
      recent,
    }: {
      readonly batches: ReadonlyMap<string, ReadBatch>;
      readonly moved: ReadonlyMap<string, Moved>;
      /** Their rows have moved. */
      readonly recent: ReadonlyMap<string, unknown> | undefined;
    },
    at: number,
  ): Promise<readonly string[]> {
    const moves = movesOf(batches, moved);
    const accounts = new Map<string, Pick<Moved, 'reserved' | 'charged' | 'messages'>>();
    for (const [batch, { reserved, charged, messages }] of moved) {
      if (reserved === 0n && charged === 0n) continue;
      const { accountId } = batches.get(batch)!;
      const own = accounts.get(accountId) ?? { reserved: 0n, charged: 0n, messages: 0 };
      own.reserved += reserved;
      own.charged += charged;
      own.messages += messages;
      accounts.set(accountId, own);
    }
    const corrections = moves.flatMap(({ batch, reserved, charged }) => {
      const of = batches.get(batch)!;
      const change = reserved + charged;
      return change === 0n ? [] : correctionsOf(of, of.acceptedAt, change);
    });
    await this.store.move(
      sql,
      moves.filter(({ batch }) => !recent?.has(batch)),
      [...accounts].map(([accountId, { reserved, charged, messages }]): AccountMove => {
        const note = `${messages} ${messages === 1 ? 'message' : 'messages'}`;
        return { accountId, reserved, amount: -charged, reference: this.clock.id(), note, at };
      }),
    );
    // After the rows of the accounts, whose locks budgets share.
    await this.budgets.correct(sql, summed(corrections));
    return [...accounts].flatMap(([accountId, { charged }]) => (charged === 0n ? [] : accountId));
  }
}

function acceptedOf(
  { id: batch, tenant: accountId, channel, parts: units, recipients, spender }: GuardedBatch,
  priced: Pick<AcceptedBatch, 'rates' | 'reserved' | 'chargeAt' | 'currency' | 'acceptedAt'>,
): AcceptedBatch {
  return { batch, accountId, channel, units, messages: recipients.length, spender, ...priced };
}

function movesOf(
  batches: ReadonlyMap<string, ReadBatch>,
  moved: ReadonlyMap<string, Moved>,
): readonly BatchMove[] {
  return [...moved].flatMap(([batch, { reserved, charged, reported }]) => {
    const isMoved = reserved !== 0n || charged !== 0n;
    return isMoved || reported !== batches.get(batch)?.reported
      ? { batch, reserved, charged, reported }
      : [];
  });
}

function nothingOf(totals: MonthTotals, { reported }: Pick<ReadBatch, 'reported'>): Moved {
  return { reserved: 0n, charged: 0n, messages: 0, reported, totals };
}

/** The rates of the only recipient in the categories of the channel. */
function reportedRates(rates: RateTable, channel: string, recipients: readonly string[]) {
  const [recipient] = recipients;
  if (recipient === undefined || recipients.length > 1) return undefined;
  return new Map(
    rates.categoriesOf(channel).flatMap((category): [string, Rate][] => {
      const rate = rates.find(channel, category, recipient);
      return rate ? [[category, rate]] : [];
    }),
  );
}

function changeOf(change: GuardedChange, batch: ReadBatch, moved: Moved): void {
  const reported = reportedAfter(moved.reported, reportedBy(change.details));
  if (batch.messages === 1 && reported !== null) return settle(change, batch, reported, moved);
  if (change.event !== undefined) return;
  const { channel, recipient, previous, status, details } = change;
  const statuses = statusesOf(change);
  const rate = batch.rates.of(recipient);
  // An erased recipient of a batch with several rates: the end of the batch releases the rest.
  if (!rate) return;
  const former = { channel, status: previous, statuses: statuses - 1 };
  const before = chargeStateOf(former, batch.chargeAt);
  const after = chargeStateOf({ channel, status, statuses }, batch.chargeAt);
  if (before === after) return;
  const charge = chargeOf(rate, batch.units, secondsOf(details));
  const reservation = reservationOf(rate, batch.units);
  if (before === 'open') moved.reserved -= reservation;
  if (after === 'open') moved.reserved += reservation;
  if (before === 'charged') moved.charged -= charge;
  if (after === 'charged') moved.charged += charge;
  moved.messages++;
  const sign = Number(after === 'charged') - Number(before === 'charged');
  if (sign === 0) return;
  moved.totals.add(monthKeyOf(change, batch), {
    messages: sign,
    parts: sign * batch.units,
    amount: BigInt(sign) * charge,
  });
}

function statusesOf({ statuses, sequence }: GuardedChange): number {
  return statuses ?? sequence;
}

/** What the totals of a month count a message by. */
function monthKeyOf(
  { channel, recipient }: Pick<MessageStatusChanged, 'channel' | 'recipient'>,
  { accountId, spender }: ReadBatch,
): MonthKey {
  const country = NUMBER.test(recipient) ? countryOfNumber(recipient) : '';
  return { accountId, channel, country, spender };
}

/** Settles the only message of a batch at the price of the category that the platform reports. */
function settle(change: GuardedChange, batch: ReadBatch, reported: string, moved: Moved): void {
  const { channel, recipient, previous, status } = change;
  const statuses = statusesOf(change);
  const rate = batch.rates.of(recipient);
  if (!rate) return;
  const state = chargeStateOf({ channel, status, statuses }, batch.chargeAt);
  const charge = reportedChargeOf(batch.rates, rate, reported, batch.units);
  moved.reported = reported;
  moved.reserved = (state === 'open' ? reservationOf(rate, batch.units) : 0n) - batch.reserved;
  const former = {
    channel,
    status: previous,
    statuses: change.event === BILLED ? statuses : statuses - 1,
  };
  const sign =
    Number(state === 'charged') - Number(chargeStateOf(former, batch.chargeAt) === 'charged');
  const charged = (state === 'charged' ? charge : 0n) - batch.charged;
  moved.totals.add(monthKeyOf(change, batch), {
    messages: sign,
    parts: sign * batch.units,
    amount: charged - moved.charged,
  });
  moved.charged = charged;
  moved.messages = 1;
}

/** An address key that is a phone number. */
const NUMBER = /^\d+$/;

function cancellationOf(
  { recipients }: GuardedCancellation,
  { rates, units }: ReadBatch,
  moved: Moved,
): void {
  for (const recipient of recipients) {
    const rate = rates.of(recipient);
    if (!rate) continue;
    moved.reserved -= reservationOf(rate, units);
    moved.messages++;
  }
}

/** What is open belongs to messages that stay without an end, or to erased ones that never left. */
function endBy(rules: ReadonlyMap<string, Unsettled>) {
  return ({ cause }: GuardedEnd, batch: ReadBatch, moved: Moved): void => {
    const { accountId, channel, spender, units, reserved, rates } = batch;
    moved.reserved -= reserved;
    moved.messages++;
    if (cause !== 'retention' || rules.get(accountId) !== 'charge' || reserved === 0n) return;
    moved.charged += reserved;
    // The recipients are gone: with one rate the amount says how many they were.
    const each = rates.only ? reservationOf(rates.only, units) : 0n;
    const messages = each > 0n ? Number(reserved / each) : 0;
    moved.totals.add(
      { accountId, channel, country: '', spender },
      { messages, parts: messages * units, amount: reserved },
    );
  };
}

function isOrder(
  batch: GuardedBatch,
): batch is GuardedBatch & { readonly content: VasOrderContent } {
  return batch.content.kind === 'vas.airtime' || batch.content.kind === 'vas.data';
}

/** An order costs its amount. */
function orderPrice(
  { amount, currency }: VasOrderContent,
  own: string,
): PricedBatch | SpendRefusedError {
  if (currency !== own) return mismatch(currency, own, 'The order');
  const price = readAmount(amount);
  if (price === undefined)
    return new SpendRefusedError('no_price', `The amount ${amount} has more than six digits`);
  return { rates: `${OTHERS}:${price}`, amount: price };
}

function mismatch(currency: string, own: string, what: string): SpendRefusedError {
  return new SpendRefusedError(
    'currency_mismatch',
    `${what} is in ${currency}, and the account pays in ${own}; ask for it in ${own}`,
    { currency, account_currency: own },
  );
}
