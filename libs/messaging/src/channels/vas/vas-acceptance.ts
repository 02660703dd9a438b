import { amountOf } from '../../message/money.js';
import { isDataError } from '../../store/database/database-errors.js';
import { GroupCommit } from '../../store/database/group-commit.js';
import type { StoreDatabase, Transaction } from '../../store/database/store-database.js';
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

/** An order with its checked content, which may be refused yet. */
export interface AskedOrder {
  readonly batch: NewBatch;
  readonly row: Omit<NewOrder, 'id' | 'createdAt'>;
  /** The number's digests by every key; the first one is stored. */
  readonly numbers: readonly string[];
  /** By every key. */
  readonly fingerprints: readonly string[];
  readonly allowDuplicate: boolean;
}

export type Accepted = Omit<VasReceipt, 'order'>;

/** A refused order's error is its own; the others of its transaction are accepted. */
type Answer = Accepted | Error;

/** What a tenant has ordered, with the orders that are accepted in this transaction. */
interface TenantOrders {
  readonly tenant: string;
  readonly allowance: StoredAllowance | undefined;
  readonly known: Map<string, KnownOrder>;
  /** Orders of the asked numbers in the last day that did not fail, by their stored digest. */
  readonly recent: Map<string, RecentOrder[]>;
  /** The amounts of the last day's orders, also failed ones, or more; `null`: not known. */
  tally: bigint | null;
  /** Of the orders that are accepted in this transaction. */
  added: bigint;
  /** The sums without these orders, once they were counted. */
  counted: { readonly all: bigint; readonly notFailed: bigint } | undefined;
}

/**
 * Accepts orders, which are decided one after the other under a lock of their tenant's allowance.
 * Orders that wait for the lock in this process share the next transaction: 64 callers get 20 times
 * the orders per second.
 */
export class VasAcceptance {
  readonly #group: GroupCommit<AskedOrder, Answer>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly orders: VasLedger,
    private readonly enqueuer: Enqueuer,
    private readonly now: () => number,
  ) {
    this.#group = new GroupCommit(
      (take) =>
        database.callerTransaction((manager) => this.#acceptAll(database.join(manager), take())),
      { maxItems: MOST, isItemError: isDataError },
    );
  }

  /** Resolves once the order is durable. @throws as `VasService.order()` */
  async accept(order: AskedOrder): Promise<Accepted> {
    this.database.refuseWithin();
    const answer = await this.#group.add(order);
    if (answer instanceof Error) throw answer;
    if (!answer.replayed) this.enqueuer.wake(order.batch);
    return answer;
  }

  async #acceptAll(tx: Transaction, asked: readonly AskedOrder[]): Promise<Answer[]> {
    const now = this.now();
    const tenants = await this.#tenantsOf(tx, asked, now);
    const denials = await this.enqueuer.denialsOf(
      tx,
      asked.map(({ batch }) => batch),
    );
    const accepted: AskedOrder[] = [];
    const answers: Answer[] = [];
    for (const order of asked) {
      const own = tenants.get(order.row.tenant) as TenantOrders;
      const answer = await this.#decide(tx, order, own, denials.get(order.batch), now);
      answers.push(answer);
      if (!(answer instanceof Error) && !answer.replayed) accepted.push(order);
    }
    if (accepted.length === 0) return answers;
    await this.enqueuer.storeWithin(
      tx,
      accepted.map(({ batch }) => batch),
    );
    await this.orders.insert(
      tx,
      accepted.map(({ row, batch: { id, createdAt } }) => ({ ...row, id, createdAt })),
      TELL_AFTER,
    );
    for (const { tenant, tally, added } of tenants.values())
      if (tally !== null && added > 0n) await this.orders.setTally(tx, tenant, tally);
    return answers;
  }

  /** Locks the allowances, in the order of their tenants. */
  async #tenantsOf(
    tx: Transaction,
    asked: readonly AskedOrder[],
    now: number,
  ): Promise<ReadonlyMap<string, TenantOrders>> {
    const { orders } = this;
    const tenants = new Map<string, TenantOrders>();
    const byTenant = groupBy(asked, ({ row }) => row.tenant);
    for (const tenant of [...byTenant.keys()].toSorted()) {
      const own = byTenant.get(tenant) as AskedOrder[];
      const allowance = await orders.allowance(tx, tenant, true);
      const known = await orders.findAll(
        tx,
        tenant,
        own.map(({ row }) => row.reference),
      );
      // Digests of former keys count as the present one's.
      const stored = new Map(
        own.flatMap(({ row, numbers }) => numbers.map((one) => [one, row.number] as const)),
      );
      const found = allowance ? await orders.recent(tx, tenant, [...stored.keys()], now - DAY) : [];
      const recent = groupBy(found, ({ number }) => stored.get(number) ?? number);
      tenants.set(tenant, {
        tenant,
        allowance,
        known,
        recent,
        tally: allowance?.tally ?? null,
        added: 0n,
        counted: undefined,
      });
    }
    return tenants;
  }

  async #decide(
    tx: Transaction,
    order: AskedOrder,
    own: TenantOrders,
    denial: Error | undefined,
    now: number,
  ): Promise<Answer> {
    const { row, batch, allowDuplicate } = order;
    const { reference, fingerprint, number, product, amount, currency } = row;
    const { allowance, known, recent } = own;
    const first = known.get(reference);
    if (first)
      return order.fingerprints.includes(first.fingerprint)
        ? receiptOf(first, true)
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
    const spent = await this.#spent(tx, own, allowance, amount, now);
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
    const { id, createdAt } = batch;
    toNumber.push({ number, product, amount, currency, createdAt });
    recent.set(number, toNumber);
    const accepted = { id, fingerprint, createdAt: new Date(createdAt) };
    known.set(reference, accepted);
    return receiptOf(accepted, false);
  }

  /** The last day's sum or, where the order fits all the same, a higher one that is known. */
  async #spent(
    tx: Transaction,
    own: TenantOrders,
    { currency, daily }: StoredAllowance,
    amount: bigint,
    now: number,
  ): Promise<bigint> {
    const fits = (sum: bigint | null): sum is bigint => sum !== null && sum + amount <= daily;
    if (fits(own.tally)) return own.tally;
    const sumOf = (which: 'all' | 'not failed') =>
      this.orders.spent(tx, own.tenant, currency, now - DAY, which);
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
