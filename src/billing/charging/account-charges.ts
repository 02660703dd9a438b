import { type Clock, MESSAGING_CLOCK, type MessageStatusChanged } from '@dundun/messaging';
import {
  type GuardedBatch,
  type GuardedCancellation,
  type GuardedChange,
  type GuardedEnd,
  type SpendGuard,
  type SpendReservation,
  SpendRefusedError,
  type SpentAmount,
} from '@dundun/messaging/ports';
import type { Sql } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { BudgetBook, correctionsOf, summed } from '../budgets/budget-book.js';
import { BudgetStore } from '../budgets/budget.store.js';
import { Margins } from '../margins/margins.service.js';
import { amountText } from '../money.js';
import { type PayingTerms, RateCards } from '../rate-cards/rate-cards.service.js';
import { type MonthTotal, MonthTotals } from '../statements/month-totals.js';
import { StatementStore } from '../statements/statement.store.js';
import { BalanceNotices } from '../thresholds/balance-notices.js';
import { BatchPrices, type PricedBatch } from './batch-prices.js';
import { CHARGE_AT, chargeStateOf } from './charge-state.js';
import {
  type AcceptedBatch,
  type AccountMove,
  type AccountTake,
  type BatchMove,
  ChargeStore,
  type PayingAccount,
} from './charge.store.js';
import {
  cancellationOf,
  changeOf,
  endBy,
  type Moved,
  movesOf,
  nothingOf,
  statusesOf,
} from './message-moves.js';
import { type ReadBatch, RecentBatches } from './recent-batches.js';
import { BILLED, reportedBy } from './reported-price.js';

/** Charges accounts for their messages, in the transactions of the messages. */
@Injectable()
export class AccountCharges implements SpendGuard {
  readonly #prices: BatchPrices;
  /** Accounts whose last batch cost more than they had. */
  readonly #short = new Set<string>();

  constructor(
    private readonly cards: RateCards,
    private readonly store: ChargeStore,
    private readonly budgets: BudgetStore,
    private readonly statements: StatementStore,
    private readonly notices: BalanceNotices,
    private readonly margins: Margins,
    private readonly recent: RecentBatches,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {
    this.#prices = new BatchPrices(cards);
  }

  guards(accountId: string): boolean {
    return this.cards.pays(accountId);
  }

  async lock(accounts: readonly string[], manager: EntityManager): Promise<void> {
    await this.store.lock(this.store.join(manager), accounts);
  }

  expects(batch: GuardedBatch): boolean {
    return this.#expectedOf(batch) !== undefined;
  }

  reserve(batches: readonly GuardedBatch[]): SpendReservation | undefined {
    const acceptedAt = this.clock.now();
    const takes = new Map<string, AccountTake>();
    const accepted: AcceptedBatch[] = [];
    for (const batch of batches) {
      const expected = this.#expectedOf(batch);
      if (!expected) return undefined;
      const { terms, rates, amount } = expected;
      const { tenant: accountId } = batch;
      const { card, chargeAt, currency } = terms;
      const own = takes.get(accountId) ?? { accountId, card, chargeAt, currency, reserved: 0n };
      takes.set(accountId, { ...own, reserved: own.reserved + amount });
      accepted.push(acceptedOf(batch, { rates, reserved: amount, chargeAt, currency, acceptedAt }));
    }
    // The slow path overwrites those that it accepts under other terms.
    for (const batch of accepted) this.recent.add(batch);
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
      // The account does not pay any more, and `reserve()` may remember the batch.
      if (!account || account.mode === 'off') {
        this.recent.forget(batch.id);
        continue;
      }
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
    for (const batch of accepted) this.recent.add(batch);
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
      for (const batch of recent.keys()) this.recent.forget(batch);
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
      const known = recent.has(batchId) ? undefined : this.recent.get(batchId);
      if (known?.messages === 1)
        recent.set(batchId, {
          ...known,
          batch: batchId,
          reserved: 0n,
          charged: 0n,
          reported: null,
        });
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
    const known = this.recent.get(batchId);
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

  /**
   * The terms and the price of a batch that is accepted from memory. Accounts with budgets, and those that
   * were refused last, are asked one after the other.
   */
  #expectedOf(batch: GuardedBatch): (PricedBatch & { readonly terms: PayingTerms }) | undefined {
    const terms = this.cards.termsOf(batch.tenant);
    if (!terms || terms.budgets > 0 || this.#short.has(batch.tenant)) return undefined;
    const priced = this.#prices.expectedPriceOf(batch, terms);
    return priced && { ...priced, terms };
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
    const priced = this.#prices.priceOf(batch, account);
    if (priced instanceof SpendRefusedError || priced.amount <= available) return priced;
    const needed = amountText(priced.amount);
    const there = amountText(available);
    return new SpendRefusedError(
      'insufficient_balance',
      `The message costs ${needed} ${currency}, and ${there} ${currency} are available; top up the balance`,
      { needed, available: there, currency },
    );
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
    const unknown = items.map(batchOf).filter((batch) => !batches.has(batch));
    for (const one of unknown.length > 0 ? await this.store.charged(sql, unknown) : []) {
      batches.set(one.batch, { ...one, rates: this.recent.ratesOf(one.rates) });
      if (recent && one.reported === null) this.recent.add(one);
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
    const moves = movesOf(batches, moved);
    const open = moves.filter(({ batch }) => recent?.has(batch));
    const others = moves.filter(({ batch }) => !recent?.has(batch));
    const at = this.clock.now();
    const accounts = this.#accountsOf(batches, moved, at);
    const paid = await this.#pay(manager, { open, others, accounts, totals: totals.all, at });
    if (!paid) {
      // The rows that it has changed are locked: the same ones change back.
      await this.store.moveOpen(
        sql,
        open.map((one) => ({ ...one, reserved: -one.reserved, charged: -one.charged })),
      );
      return undefined;
    }
    // After the rows of the accounts, whose locks budgets share.
    const corrections = moves.flatMap(({ batch, reserved, charged }) => {
      const of = batches.get(batch)!;
      const change = reserved + charged;
      return change === 0n ? [] : correctionsOf(of, of.acceptedAt, change);
    });
    await this.budgets.correct(sql, summed(corrections));
    return spent;
  }

  /** @returns `false`: a batch of `open` is not as it is remembered, and only those of `open` have moved */
  async #pay(
    manager: EntityManager,
    {
      open,
      others,
      accounts,
      totals,
      at,
    }: {
      /** Of batches that need no read. */
      readonly open: readonly BatchMove[];
      readonly others: readonly BatchMove[];
      readonly accounts: readonly AccountMove[];
      readonly totals: readonly MonthTotal[];
      readonly at: number;
    },
  ): Promise<boolean> {
    const sql = this.store.join(manager);
    if (this.store.chains && open.length > 0 && others.length === 0) {
      const month = this.statements.addition(totals, at);
      const crossings = await this.store.charge(sql, { batches: open, accounts, month });
      if (crossings) await this.notices.tell(manager, crossings);
      return crossings !== undefined;
    }
    if (!(await this.store.moveOpen(sql, open))) return false;
    await this.store.move(sql, others, accounts);
    await this.statements.add(sql, totals, at);
    const paying = accounts.flatMap(({ accountId, amount }) => (amount === 0n ? [] : accountId));
    await this.notices.look(manager, paying);
    return true;
  }

  /** What the accounts of batches move. */
  #accountsOf(
    batches: ReadonlyMap<string, ReadBatch>,
    moved: ReadonlyMap<string, Moved>,
    at: number,
  ): readonly AccountMove[] {
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
    return [...accounts].map(([accountId, { reserved, charged, messages }]) => {
      const note = `${messages} ${messages === 1 ? 'message' : 'messages'}`;
      return { accountId, reserved, amount: -charged, reference: this.clock.id(), note, at };
    });
  }
}

function acceptedOf(
  { id: batch, tenant: accountId, channel, parts: units, recipients, spender }: GuardedBatch,
  priced: Pick<AcceptedBatch, 'rates' | 'reserved' | 'chargeAt' | 'currency' | 'acceptedAt'>,
): AcceptedBatch {
  return { batch, accountId, channel, units, messages: recipients.length, spender, ...priced };
}
