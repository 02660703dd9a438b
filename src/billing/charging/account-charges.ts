import { type Clock, MESSAGING_CLOCK, type MessageStatusChanged } from '@dundun/messaging';
import {
  type GuardedBatch,
  type GuardedCancellation,
  type GuardedEnd,
  type SpendGuard,
  SpendBusyError,
  SpendRefusedError,
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
import { DEFAULT_CARD, RateCards } from '../rate-cards/rate-cards.service.js';
import { OTHERS, type Rate, type RateTable } from '../rate-cards/rate-table.js';
import { type MonthKey, MonthTotals } from '../statements/month-totals.js';
import { StatementStore } from '../statements/statement.store.js';
import { BalanceNotices } from '../thresholds/balance-notices.js';
import {
  BatchRates,
  chargeOf,
  reportedChargeOf,
  reservationOf,
  writeRates,
} from './batch-rates.js';
import { chargeStateOf, type Unsettled } from './charge-state.js';
import {
  type AcceptedBatch,
  type AccountMove,
  type BatchMove,
  type ChargedBatch,
  ChargeStore,
  type PayingAccount,
} from './charge.store.js';
import { BILLED, reportedAfter, reportedBy, secondsOf } from './reported-price.js';

interface PricedBatch {
  readonly rates: string;
  readonly amount: bigint;
}

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
        continue;
      }
      left.set(batch.tenant, available - priced.amount);
      accepted.push({
        batch: batch.id,
        accountId: batch.tenant,
        channel: batch.channel,
        chargeAt: account.chargeAt,
        units: batch.parts,
        currency: account.currency,
        messages: batch.recipients.length,
        rates: priced.rates,
        reserved: priced.amount,
        spender: batch.spender,
        acceptedAt: book.acceptedAt(batch.tenant),
      });
    }
    await this.store.accept(sql, accepted);
    if (!(await this.budgets.spend(sql, book.spends)))
      throw new TypeError('a budget of a locked account has changed');
    return refused;
  }

  async onChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    const priced = changes.filter(({ event }) => event === undefined || event === BILLED);
    await this.#move(manager, priced, ({ batchId }) => batchId, changeOf);
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
    const priced = isOrder(batch)
      ? orderPrice(batch.content, currency)
      : this.#ofCard(batch, account);
    if (priced instanceof SpendRefusedError || priced.amount <= available) return priced;
    const needed = amountText(priced.amount);
    const there = amountText(available);
    return new SpendRefusedError(
      'insufficient_balance',
      `The message costs ${needed} ${currency}, and ${there} ${currency} are available; top up the balance`,
      { needed, available: there, currency },
    );
  }

  /** @throws SpendBusyError where this process does not know the card yet: it reads them every second */
  #ofCard(
    { channel, category, parts, recipients }: GuardedBatch,
    { currency, card: own }: PayingAccount,
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

  /** @param movedOf adds to `moved` what an item moves of its batch */
  async #move<T>(
    manager: EntityManager,
    items: readonly T[],
    batchOf: (item: T) => string,
    movedOf: (item: T, batch: ReadBatch, moved: Moved) => void,
  ): Promise<void> {
    if (items.length === 0) return;
    const sql = this.store.join(manager);
    const found = await this.store.charged(sql, items.map(batchOf));
    const batches = new Map(
      found.map((one): [string, ReadBatch] => [
        one.batch,
        { ...one, rates: new BatchRates(one.rates) },
      ]),
    );
    const moved = new Map<string, Moved>();
    const totals = new MonthTotals();
    for (const item of items) {
      const batch = batches.get(batchOf(item));
      if (!batch) continue;
      const own = moved.get(batch.batch) ?? nothingOf(totals, batch);
      moved.set(batch.batch, own);
      movedOf(item, batch, own);
    }
    const at = this.clock.now();
    const paid = await this.#write(sql, batches, moved, at);
    await this.statements.add(sql, totals.all, at);
    await this.notices.look(manager, paid);
  }

  /** @returns the accounts whose balances have changed */
  async #write(
    sql: Sql,
    batches: ReadonlyMap<string, ReadBatch>,
    moved: ReadonlyMap<string, Moved>,
    at: number,
  ): Promise<readonly string[]> {
    const moves: BatchMove[] = [];
    const accounts = new Map<string, Omit<Moved, 'totals'>>();
    for (const [batch, { reserved, charged, messages, reported }] of moved) {
      const { accountId, reported: before } = batches.get(batch)!;
      const isMoved = reserved !== 0n || charged !== 0n;
      if (isMoved || reported !== before) moves.push({ batch, reserved, charged, reported });
      if (!isMoved) continue;
      const own = accounts.get(accountId) ?? {
        reserved: 0n,
        charged: 0n,
        messages: 0,
        reported: null,
      };
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
      moves,
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

type ReadBatch = Omit<ChargedBatch, 'rates'> & { readonly rates: BatchRates };

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

function changeOf(change: MessageStatusChanged, batch: ReadBatch, moved: Moved): void {
  const reported = reportedAfter(moved.reported, reportedBy(change.details));
  if (batch.messages === 1 && reported !== null) return settle(change, batch, reported, moved);
  if (change.event !== undefined) return;
  const { channel, recipient, previous, status, sequence, details } = change;
  const rate = batch.rates.of(recipient);
  // An erased recipient of a batch with several rates: the end of the batch releases the rest.
  if (!rate) return;
  const former = { channel, status: previous, sequence: sequence - 1 };
  const before = chargeStateOf(former, batch.chargeAt);
  const after = chargeStateOf({ channel, status, sequence }, batch.chargeAt);
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

/** What the totals of a month count a message by. */
function monthKeyOf(
  { channel, recipient }: Pick<MessageStatusChanged, 'channel' | 'recipient'>,
  { accountId, spender }: ReadBatch,
): MonthKey {
  const country = NUMBER.test(recipient) ? countryOfNumber(recipient) : '';
  return { accountId, channel, country, spender };
}

/** Settles the only message of a batch at the price of the category that the platform reports. */
function settle(
  change: MessageStatusChanged,
  batch: ReadBatch,
  reported: string,
  moved: Moved,
): void {
  const { channel, recipient, previous, status, sequence } = change;
  const rate = batch.rates.of(recipient);
  if (!rate) return;
  const state = chargeStateOf({ channel, status, sequence }, batch.chargeAt);
  const charge = reportedChargeOf(batch.rates, rate, reported, batch.units);
  moved.reported = reported;
  moved.reserved = (state === 'open' ? reservationOf(rate, batch.units) : 0n) - batch.reserved;
  const former = { channel, status: previous, sequence: sequence - 1 };
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
