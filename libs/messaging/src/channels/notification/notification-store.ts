import type { EntityManager } from 'typeorm';
import { addressKey } from '../../message/address.js';
import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { EventLabels, FallbackReason, NotificationStatus } from '../../message/events.js';
import { STATUS_RANK } from '../../message/status.js';
import {
  insertion,
  into,
  type RowSource,
  type RowWriter,
  type Statement,
  type StatementOf,
  updater,
} from '../../store/database/dialect.js';
import type { Sql, StoreDatabase, Transaction } from '../../store/database/store-database.js';
import type { ErasedAddress, ErasureListener } from '../../ports/listeners.js';
import { FIRST_ID, LAST_ID } from '../../store/reads/newest-batches.js';
import { BATCH_STATE } from '../../store/rows/batch-state.js';
import type { NewBatch } from '../../store/rows/new-batch.js';
import type { StepState } from './notification-decision.js';

type Big = string | number;

/** A step in the row of its notification. */
export interface StoredStep {
  readonly channel: string;
  readonly batch?: string;
  /** When it began, or begins to count: epoch milliseconds. */
  readonly at?: number;
  readonly reason?: FallbackReason;
  readonly denied?: true;
  /** The notification cancelled its message before it started. */
  readonly stopped?: true;
  /** As last seen; the batch may be gone later. */
  readonly status?: string;
  readonly code?: string | null;
}

/** The message of a step to come. */
export type StoredMessage = Pick<
  NewBatch,
  | 'channel'
  | 'lane'
  | 'class'
  | 'sender'
  | 'content'
  | 'deliveryReport'
  | 'parts'
  | 'recipients'
  | 'labels'
  | 'spender'
>;

/** State of a notification that may go on; times in milliseconds. */
export interface StoredPlan {
  readonly after: number | null;
  readonly unless: 'sent' | 'delivered';
  readonly until: number | null;
  /** In the order of the steps, which are the last ones. */
  readonly messages: readonly StoredMessage[];
}

export interface StoredNotification {
  readonly id: string;
  readonly tenant: string;
  readonly status: NotificationStatus;
  readonly steps: readonly StoredStep[];
  /** `null`: no further step begins, and its content is erased. */
  readonly plan: StoredPlan | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** `0`: at once; `null`: when a report comes. */
  readonly dueAt: number | null;
}

export interface NotificationKey {
  readonly key: string;
  readonly fingerprint: string;
}

export type KeyedNotification = StoredNotification & { readonly key?: NotificationKey | undefined };

/** The owner of an idempotency key. */
export interface KeyOwner
  extends NotificationKey, Pick<StoredNotification, 'id' | 'tenant' | 'createdAt' | 'steps'> {}

/** How the message of a step stands. */
export interface SeenMessage {
  readonly state: StepState;
  readonly lane: string;
  readonly status: string;
  readonly code: string | null;
  /** Tags and metadata, as events have them. */
  readonly labels?: EventLabels | undefined;
}

interface NotificationRow {
  readonly id: string;
  readonly tenant: string;
  readonly status: NotificationStatus;
  readonly steps: string;
  readonly plan: string | null;
  readonly createdAt: Big;
  readonly endedAt: Big | null;
  readonly dueAt: Big | null;
}

type OwnerRow = NotificationKey & Pick<NotificationRow, 'id' | 'tenant' | 'steps' | 'createdAt'>;

interface MessageRow {
  readonly batch: string;
  readonly lane: string;
  readonly state: number;
  readonly inDoubtAt: Big | null;
  readonly status: number | null;
  readonly code: string | null;
  readonly labels: string | null;
}

/** Notifications that one transaction of an erasure reads. */
const ERASED = 1_000;

const COLUMNS = `n.id, n.tenant, n.status, n.steps, n.plan, n.created_at AS "createdAt",
  n.ended_at AS "endedAt", n.due_at AS "dueAt"`;

const NOTIFICATION = {
  v_id: ['uuid', ({ id }: KeyedNotification) => id],
  v_tenant: ['key', ({ tenant }: KeyedNotification) => tenant],
  v_status: ['key', ({ status }: KeyedNotification) => status],
  v_steps: ['text', ({ steps }: KeyedNotification) => JSON.stringify(steps)],
  v_plan: ['text', ({ plan }: KeyedNotification) => plan && JSON.stringify(plan)],
  v_created_at: ['bigint', ({ createdAt }: KeyedNotification) => createdAt * 1_000],
  v_ended_at: ['bigint', ({ endedAt }: KeyedNotification) => micros(endedAt)],
  v_due_at: ['bigint', ({ dueAt }: KeyedNotification) => micros(dueAt)],
  v_idempotency_key: ['key', ({ key }: KeyedNotification) => key?.key],
  v_fingerprint: ['key', ({ key }: KeyedNotification) => key?.fingerprint],
} as const;

/** Statements on notifications and on the messages of their steps. */
export class NotificationStore implements ErasureListener {
  readonly #ids: RowSource<string>;
  readonly #keys: RowSource<readonly [tenant: string, key: string]>;
  readonly #insert: StatementOf<KeyedNotification>;
  readonly #update: RowWriter<StoredNotification>;
  readonly #releaseKeys: RowWriter<KeyOwner>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly channels: ChannelRegistry,
  ) {
    const { dialect } = database;
    this.#ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
    this.#keys = dialect.rows<readonly [string, string]>({
      v_tenant: ['key', ([tenant]) => tenant],
      v_key: ['key', ([, key]) => key],
    });
    this.#insert = insertion(dialect, into('notification', NOTIFICATION), NOTIFICATION, {
      suffix: dialect.ignoreConflict('messaging_notification', 'id'),
    });
    this.#update = updater<StoredNotification>(
      dialect,
      {
        v_id: NOTIFICATION.v_id,
        v_status: NOTIFICATION.v_status,
        v_steps: NOTIFICATION.v_steps,
        v_plan: NOTIFICATION.v_plan,
        v_ended_at: NOTIFICATION.v_ended_at,
        v_due_at: NOTIFICATION.v_due_at,
      },
      {
        table: 'messaging_notification',
        set: 'status = v_status, steps = v_steps, plan = v_plan, ended_at = v_ended_at, due_at = v_due_at',
        where: 'messaging_notification.id = v_id',
      },
    );
    this.#releaseKeys = updater<KeyOwner>(
      dialect,
      { v_id: ['uuid', ({ id }) => id] },
      {
        table: 'messaging_notification',
        set: 'idempotency_key = NULL',
        where: 'messaging_notification.id = v_id',
      },
    );
  }

  /** Stored ones and those whose key is taken are left out. */
  insertion(notifications: readonly KeyedNotification[]): Statement {
    return this.#insert(notifications);
  }

  async insert(sql: Sql, notifications: readonly KeyedNotification[]): Promise<void> {
    const { sql: text, params } = this.#insert(notifications);
    await sql.run(text, params);
  }

  async update(sql: Sql, notifications: readonly StoredNotification[]): Promise<void> {
    await this.#update(sql, notifications);
  }

  async owners(
    sql: Pick<Sql, 'all'>,
    keys: readonly (readonly [tenant: string, key: string])[],
    lock = false,
  ): Promise<KeyOwner[]> {
    if (keys.length === 0) return [];
    const { dialect } = this.database;
    const rows = await sql.all<OwnerRow>(
      `SELECT n.id, n.tenant, n.idempotency_key AS "key", n.fingerprint, n.steps,
         n.created_at AS "createdAt"
       FROM ${this.#keys.keyed} ${dialect.join} messaging_notification n
         ${dialect.forceIndex('messaging_notification_idempotency')}
         ON n.tenant = v_tenant AND n.idempotency_key = v_key
       ${lock ? dialect.forUpdate('n') : ''}`,
      this.#keys.bind(keys),
    );
    return rows.map(({ steps, createdAt, ...owner }) => {
      return { ...owner, steps: JSON.parse(steps) as StoredStep[], createdAt: ms(createdAt) };
    });
  }

  async releaseKeys(sql: Sql, owners: readonly KeyOwner[]): Promise<void> {
    await this.#releaseKeys(sql, owners);
  }

  async find(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    id: string,
    lock = false,
  ): Promise<StoredNotification | undefined> {
    const [row] = await sql.all<NotificationRow>(
      `SELECT ${COLUMNS} FROM messaging_notification n WHERE n.id = ? AND n.tenant = ?
       ${lock ? this.database.dialect.forUpdate('n') : ''}`,
      [id, tenant],
    );
    return row && notificationOf(row);
  }

  /** The newest first. @param before the id of the last one of the page before */
  async newest(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    limit: number,
    before = LAST_ID,
  ): Promise<StoredNotification[]> {
    const rows = await sql.all<NotificationRow>(
      `SELECT ${COLUMNS} FROM messaging_notification n
       WHERE n.tenant = ? AND n.id < ? ORDER BY n.id DESC LIMIT ?`,
      [tenant, before, limit],
    );
    return rows.map(notificationOf);
  }

  /** Locks those that are due, but none that another process has locked. */
  async lockDue(tx: Transaction, now: number, limit: number): Promise<StoredNotification[]> {
    const rows = await tx.all<NotificationRow>(
      `SELECT ${COLUMNS} FROM messaging_notification n
       WHERE n.due_at IS NOT NULL AND n.due_at <= ? ORDER BY n.due_at LIMIT ?
       ${this.database.dialect.skipLocked('n')}`,
      [now * 1_000, limit],
    );
    return rows.map(notificationOf);
  }

  async lock(tx: Transaction, ids: readonly string[]): Promise<StoredNotification[]> {
    const { dialect } = this.database;
    const rows = await tx.all<NotificationRow>(
      `SELECT ${COLUMNS} FROM ${this.#ids.keyed} ${dialect.join} messaging_notification n
         ${dialect.forceIndex('PRIMARY')} ON n.id = v_id ORDER BY n.id ${dialect.forUpdate('n')}`,
      this.#ids.bind(ids),
    );
    return rows.map(notificationOf);
  }

  /** The messages of steps by their batch; without those that retention deleted. */
  async messages(
    sql: Pick<Sql, 'all'>,
    of: readonly Pick<StoredNotification, 'steps'>[],
  ): Promise<ReadonlyMap<string, SeenMessage>> {
    const batches = of.flatMap(({ steps }) => steps.flatMap(({ batch }) => batch ?? []));
    if (batches.length === 0) return new Map();
    const { dialect } = this.database;
    const rows = await sql.all<MessageRow>(
      `SELECT b.id AS batch, b.lane, b.state, b.in_doubt_at AS "inDoubtAt", m.status,
         m.error_code AS "code", l.labels
       FROM ${this.#ids.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')}
         ON b.id = v_id
       LEFT JOIN messaging_message m ON m.batch = b.id AND m.position = 0
       LEFT JOIN messaging_batch_label l ON b.labelled = 1 AND l.batch = b.id AND l.n = 0`,
      this.#ids.bind(batches),
    );
    return new Map(rows.map((row) => [row.batch, this.#seen(row)]));
  }

  /** Erases an address from the messages of steps to come, which then never begin. */
  async onErased({ tenant, address }: ErasedAddress, manager?: EntityManager): Promise<void> {
    const { database } = this;
    const key = addressKey(address);
    for (let after: string | undefined = FIRST_ID; after !== undefined;) {
      const from: string = after;
      const erase = (tx: Transaction) => this.#erase(tx, tenant, key, from);
      after = await (manager ? erase(database.join(manager)) : database.transaction(erase));
    }
  }

  /** @returns the last notification that was read; `undefined`: there are no others */
  async #erase(tx: Transaction, tenant: string, key: string, after: string) {
    const found = await tx.all<NotificationRow>(
      `SELECT ${COLUMNS} FROM messaging_notification n
       WHERE n.plan IS NOT NULL AND n.tenant = ? AND n.id > ? ORDER BY n.id LIMIT ${ERASED}
       ${this.database.dialect.forUpdate('n')}`,
      [tenant, after],
    );
    const all = found.map(notificationOf);
    const own = all.filter(({ plan }) =>
      plan?.messages.some(({ recipients }) => recipients.includes(key)),
    );
    await this.update(
      tx,
      own.map((one) => ({ ...one, plan: null, dueAt: 0 })),
    );
    return all.length < ERASED ? undefined : all.at(-1)?.id;
  }

  /** Deletes notifications that ended before a time. @returns their number */
  async forget(tx: Transaction, endedBefore: number, limit: number): Promise<number> {
    const rows = await tx.all<{ id: string }>(
      `SELECT n.id FROM messaging_notification n
       WHERE n.ended_at IS NOT NULL AND n.ended_at < ? ORDER BY n.ended_at LIMIT ?
       ${this.database.dialect.skipLocked('n')}`,
      [endedBefore * 1_000, limit],
    );
    if (rows.length > 0)
      await tx.run(
        this.database.dialect.deleteFrom('messaging_notification', 'id', this.#ids),
        this.#ids.bind(rows.map(({ id }) => id)),
      );
    return rows.length;
  }

  #seen({ lane, state, inDoubtAt, status: rank, code, ...row }: MessageRow): SeenMessage {
    const { channels } = this;
    const labels = row.labels === null ? undefined : (JSON.parse(row.labels) as EventLabels);
    const isCancelled = state === BATCH_STATE.cancelled;
    // A message that waits for a further try has a negative rank.
    if (rank === null || rank <= STATUS_RANK.queued) {
      const waiting = inDoubtAt === null ? 'queued' : 'held';
      const status = isCancelled ? 'cancelled' : 'queued';
      return { state: isCancelled ? 'cancelled' : waiting, lane, status, code, labels };
    }
    const status = channels.nameOf(rank);
    return { state: this.#stateOf(rank, status), lane, status, code, labels };
  }

  #stateOf(rank: number, status: string): StepState {
    const { channels } = this;
    if (rank === STATUS_RANK.cancelled) return 'cancelled';
    if (rank === STATUS_RANK.sending) return 'sending';
    if (channels.reachedRanks.includes(rank)) return 'reached';
    if (channels.isTerminal(status)) return 'failed';
    // A call that is answered and goes on has arrived.
    return rank >= STATUS_RANK.delivered ? 'reached' : 'unreported';
  }

  /** The state of a status that was seen before retention deleted the message. */
  stateOfStatus(status: string | undefined): StepState {
    const rank = status === undefined ? undefined : this.channels.rankOf(status);
    return rank === undefined || status === undefined ? 'unreported' : this.#stateOf(rank, status);
  }
}

function notificationOf(row: NotificationRow): StoredNotification {
  const { id, tenant, status, steps, plan, createdAt, endedAt, dueAt } = row;
  return {
    id,
    tenant,
    status,
    steps: JSON.parse(steps) as StoredStep[],
    plan: plan === null ? null : (JSON.parse(plan) as StoredPlan),
    createdAt: ms(createdAt),
    endedAt: endedAt === null ? null : ms(endedAt),
    dueAt: dueAt === null ? null : ms(dueAt),
  };
}

export function labelsOf(
  { steps }: Pick<StoredNotification, 'steps'>,
  seen: ReadonlyMap<string, SeenMessage>,
): EventLabels {
  const [labels = {}] = steps.flatMap(({ batch = '' }) => seen.get(batch)?.labels ?? []);
  return labels;
}

function micros(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds * 1_000;
}

function ms(value: Big): number {
  return Math.floor(Number(value) / 1_000);
}
