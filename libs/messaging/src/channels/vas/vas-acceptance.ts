import { setTimeout as wait } from 'node:timers/promises';
import { amountOf } from '../../message/money.js';
import { ConcurrentChangeError } from '../../store/database/concurrent-change.error.js';
import { isOwnError } from '../../store/verbs/enqueue.js';
import { GroupCommit } from '../../store/database/group-commit.js';
import { retryWhileUnavailable } from '../../store/database/retry.js';
import type { NewBatch } from '../../store/rows/new-batch.js';
import type { Enqueuer } from '../enqueuer.js';
import { VasOrderError, type VasReceipt, VasReferenceReusedError } from './vas-order.js';
import type {
  KnownOrder,
  NewOrder,
  RecentOrder,
  StoredAllowance,
  VasLedger,
} from './vas-ledger.js';

const DAY = 86_400_000;
const DUPLICATE_WINDOW = 60_000;
/** Age in milliseconds at which the app gets the event of an order without an outcome. */
export const TELL_AFTER = DAY;

/** Most orders of one transaction. */
const MOST = 200;

/** Longest wait in ms until orders are decided again. */
const AGAIN_WITHIN = 10;

/** An order with its checked content, which may be refused yet. */
export interface AskedOrder {
  readonly batch: NewBatch;
  readonly row: Omit<NewOrder, 'id' | 'createdAt' | 'tellAt'>;
  /** The number's digests by every key; the first one is stored. */
  readonly numbers: readonly string[];
  /** By every key. */
  readonly fingerprints: readonly string[];
  readonly allowDuplicate: boolean;
  /** Policy's; a repetition of an accepted order has its receipt all the same. */
  readonly denial: Error | undefined;
}

export type Accepted = Omit<VasReceipt, 'order'>;

/** A refused order's error is its own; the others of its transaction are accepted. */
type Answer = Accepted | Error;

/** Orders of a tenant, with the orders that are accepted in this transaction. */
interface TenantOrders {
  readonly tenant: string;
  readonly allowance: StoredAllowance | undefined;
  readonly known: Map<string, KnownOrder>;
  /** Orders of the asked numbers in the last day that did not fail, by their stored digest. */
  readonly recent: Map<string, RecentOrder[]>;
  /** The amounts of the last day's orders, also failed ones, or more; `null`: not known. */
  tally: bigint | null;
  readonly accepted: AskedOrder[];
  /** The sum of `accepted`. */
  added: bigint;
  /** The sums without these orders, once they were counted. */
  counted: { readonly all: bigint; readonly notFailed: bigint } | undefined;
}

/**
 * Accepts orders: reads what their tenants have ordered, decides, and stores the accepted ones where
 * no other process has accepted an order of these tenants since; else it decides again. Orders that
 * arrive meanwhile in this process share the next transaction.
 */
export class VasAcceptance {
  readonly #group: GroupCommit<AskedOrder, Answer>;

  constructor(
    private readonly orders: VasLedger,
    private readonly enqueuer: Enqueuer,
    private readonly now: () => number,
  ) {
    this.#group = new GroupCommit((take) => retryWhileUnavailable(() => this.#acceptAll(take())), {
      maxItems: MOST,
      isItemError: isOwnError,
    });
  }

  /** Resolves once the order is durable. @throws as `VasService.order()` */
  async accept(order: AskedOrder): Promise<Accepted> {
    const answer = await this.#group.add(order);
    if (answer instanceof Error) throw answer;
    if (!answer.replayed) this.enqueuer.wake(order.batch);
    return answer;
  }

  async #acceptAll(asked: readonly AskedOrder[]): Promise<Answer[]> {
    for (;;) {
      try {
        return await this.#tryAll(asked);
      } catch (error) {
        if (!(error instanceof ConcurrentChangeError)) throw error;
        await wait(Math.random() * AGAIN_WITHIN);
      }
    }
  }

  /** @throws ConcurrentChangeError where an allowance changed since it was read; nothing is stored */
  async #tryAll(asked: readonly AskedOrder[]): Promise<Answer[]> {
    const now = this.now();
    const tenants = await this.#tenantsOf(asked, now);
    const answers: Answer[] = [];
    for (const order of asked)
      answers.push(await this.#decide(order, tenants.get(order.row.tenant)!, now));
    const changed = [...tenants.values()].filter(({ accepted }) => accepted.length > 0);
    const accepted = changed.flatMap((own) => own.accepted);
    if (accepted.length > 0)
      await this.enqueuer.storeWith(
        accepted.map(({ batch }) => batch),
        this.orders.ownRows(
          changed.map(({ tenant, allowance, tally }) => {
            return { tenant, version: allowance!.version, tally: tally! };
          }),
          accepted.map(({ row, batch: { id, createdAt } }) => {
            return { ...row, id, createdAt, tellAt: createdAt + TELL_AFTER };
          }),
        ),
      );
    return answers;
  }

  async #tenantsOf(
    asked: readonly AskedOrder[],
    now: number,
  ): Promise<ReadonlyMap<string, TenantOrders>> {
    // Map digests made with earlier keys to the current key's digest.
    const stored = new Map<string, string>();
    const numbers = asked.flatMap(({ row: { tenant, number }, numbers: all }) =>
      all.map((one) => {
        stored.set(one, number);
        return { tenant, number: one };
      }),
    );
    const found = await this.orders.read(
      asked.map(({ row }) => row),
      numbers,
      now - DAY,
    );
    const tenants = new Map<string, TenantOrders>();
    for (const [tenant, { allowance, known, recent }] of found)
      tenants.set(tenant, {
        tenant,
        allowance,
        known,
        recent: groupBy(recent, ({ number }) => stored.get(number) ?? number),
        tally: allowance?.tally ?? null,
        accepted: [],
        added: 0n,
        counted: undefined,
      });
    return tenants;
  }

  async #decide(order: AskedOrder, own: TenantOrders, now: number): Promise<Answer> {
    const { row, batch, allowDuplicate, denial } = order;
    const { reference, fingerprint, number, product, amount, currency } = row;
    const { allowance, known, recent } = own;
    const first = known.get(reference);
    // An order of its own id was stored by an attempt whose response was lost.
    if (first)
      return order.fingerprints.includes(first.fingerprint)
        ? receiptOf(first, first.id !== batch.id)
        : new VasReferenceReusedError();
    if (!allowance) return new VasOrderError('vas_not_allowed');
    if (currency !== allowance.currency)
      return new VasOrderError('vas_not_allowed', `Orders in ${currency} are off for this account`);
    const toNumber = recent.get(number) ?? [];
    const isSame = (other: RecentOrder) =>
      other.product === product &&
      other.amount === amount &&
      other.createdAt > now - DUPLICATE_WINDOW;
    if (!allowDuplicate && toNumber.some(isSame)) return new VasOrderError('duplicate_order');
    const spentOnNumber = toNumber
      .filter((other) => other.currency === currency)
      .reduce((sum, other) => sum + other.amount, 0n);
    const spent = await this.#spent(own, allowance, amount, now);
    for (const [sum, cap, whose] of [
      [spent, allowance.daily, 'the account'],
      [spentOnNumber, allowance.perNumber, 'the number'],
    ] as const)
      if (sum + amount > cap)
        return new VasOrderError(
          'cap_exceeded',
          `The order exceeds the daily cap of ${whose}: ${amountOf(cap > sum ? cap - sum : 0n)} of ${amountOf(cap)} ${currency} are left`,
        );
    if (denial) return denial;
    own.tally = (own.tally ?? 0n) + amount;
    own.added += amount;
    own.accepted.push(order);
    const { id, createdAt } = batch;
    toNumber.push({ number, product, amount, currency, createdAt });
    recent.set(number, toNumber);
    const accepted = { id, fingerprint, createdAt: new Date(createdAt) };
    known.set(reference, accepted);
    return receiptOf(accepted, false);
  }

  /** The last day's sum or, where the order fits all the same, a higher one that is known. */
  async #spent(
    own: TenantOrders,
    { currency, daily }: StoredAllowance,
    amount: bigint,
    now: number,
  ): Promise<bigint> {
    const fits = (sum: bigint | null): sum is bigint => sum !== null && sum + amount <= daily;
    if (fits(own.tally)) return own.tally;
    const sumOf = (which: 'all' | 'not failed') =>
      this.orders.spent(own.tenant, currency, now - DAY, which);
    own.counted ??= { all: await sumOf('all'), notFailed: await sumOf('not failed') };
    own.tally = own.counted.all + own.added;
    return fits(own.tally) ? own.tally : own.counted.notFailed + own.added;
  }
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const own = groups.get(keyOf(item));
    if (own) own.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** @throws VasReferenceReusedError */
export function replayOf(first: KnownOrder, fingerprints: readonly string[]): Accepted {
  if (!fingerprints.includes(first.fingerprint)) throw new VasReferenceReusedError();
  return receiptOf(first, true);
}

function receiptOf({ id, createdAt }: KnownOrder, replayed: boolean): Accepted {
  return { id, createdAt, replayed };
}
