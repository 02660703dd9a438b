import { partsOfQueueLane, queueLaneOf } from './message/ids.js';
import { MessagingConfigError } from './message/errors.js';
import { Dispatcher, type LaneTask } from './dispatch/dispatcher.js';
import type { LeasedLane } from './dispatch/leased-lane.js';
import { DatabaseEngine } from './engines/database.engine.js';
import { type MessagingJob, wakeJob } from './jobs/messaging.jobs.js';
import type { Clock } from './ports/clock.js';
import { Lanes } from './store/verbs/lanes.js';
import type { MessageStore } from './store/message-store.js';
import type { EntityManager } from 'typeorm';
import type { Dialect } from './store/database/dialect.js';
import type { Sql, Transaction } from './store/database/sql.js';

/** Access to the app's database for a queue's own tables. Statements use `?` placeholders. */
export interface QueueDatabase {
  readonly dialect: Pick<
    Dialect,
    | 'chains'
    | 'forceIndex'
    | 'forUpdate'
    | 'join'
    | 'onConflict'
    | 'rows'
    | 'sharesValues'
    | 'skipLocked'
    | 'updateFrom'
  >;
  /** Outside a transaction. */
  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]>;
  /** Repeated after deadlocks and serialisation failures. @param lockTimeout milliseconds of each lock wait */
  transaction<T>(work: (tx: Transaction) => Promise<T>, lockTimeout?: number): Promise<T>;
  /**
   * Reads at one moment, also over several turns of the event loop, on a connection that no write waits
   * for. On SQLite the log of writes grows meanwhile, and on PostgreSQL no old row is removed: keep it short.
   */
  snapshot<T>(work: (sql: Pick<Sql, 'all'>) => Promise<T>): Promise<T>;
  /** @throws TransactionRequiredError where `manager` is in no transaction of this data source */
  join(manager: EntityManager): Transaction;
}

export interface DueWork {
  /** The part of the queue that has work, such as the id of a receiver. */
  readonly key: string;
  /** Milliseconds until the work is due; 0 or less: now. */
  readonly dueIn: number;
}

/**
 * An app's own work. Each key of it is a lane that is leased, woken, drained and released like those
 * of messages. The app owns the rows of the work.
 */
export interface WorkQueue {
  /** Prefix of its lane names, before a colon; reserved for this queue. */
  readonly name: string;
  /** Time in milliseconds to a takeover after a crash. @default the module's `lease` */
  readonly lease?: number;
  /** Longest wait of a stop in milliseconds; at most, and by default, the module's. */
  readonly shutdownTimeout?: number;
  readonly jobs?: readonly MessagingJob[];
  /** Starts the work of one key, under the lease just taken. */
  start(leased: LeasedLane, key: string): LaneTask;
  /** Keys with work due within `horizon` milliseconds, with or without a holder of their lane. */
  due(horizon: number): Promise<readonly DueWork[]>;
}

/**
 * Registers {@link WorkQueue}s; call it in `onModuleInit`. The queues run in every process that
 * adds them, regardless of its `dispatch` option: a lane's lease decides which process works on it.
 * @example
 * onModuleInit() {
 *   this.wake = this.queues.add({ name: 'export', start: (leased, key) => new ExportLane(leased, key), due: … });
 * }
 */
export class WorkQueues {
  /** @internal */
  readonly jobs: MessagingJob[] = [];
  readonly #dispatchers = new Map<string, Dispatcher>();

  /** @internal */
  constructor(
    private readonly store: Pick<MessageStore, 'database'>,
    private readonly clock: Clock,
    /** Milliseconds. */
    private readonly settings: { readonly leaseTime: number; readonly shutdownTimeout: number },
  ) {}

  get database(): QueueDatabase {
    return this.store.database;
  }

  /**
   * Adds a queue, which starts after every `onModuleInit`. Call the returned function after commits
   * with the key that has work.
   * @throws MessagingConfigError where another queue has the name
   */
  add(queue: WorkQueue): (key: string) => void {
    const { name } = queue;
    if (this.#dispatchers.has(name))
      throw new MessagingConfigError(`queue: there is one named ${name}; give each its own name`);
    const { clock, settings } = this;
    const { lease: leaseTime = settings.leaseTime } = queue;
    const shutdownTimeout = Math.min(queue.shutdownTimeout ?? Infinity, settings.shutdownTimeout);
    const lanes = new Lanes(this.store.database, clock.id(), leaseTime);
    const dispatcher = new Dispatcher(
      new DatabaseEngine(),
      { lanes, clock, leaseTime, shutdownTimeout },
      () => (leased) => queue.start(leased, partsOfQueueLane(leased.lane).key),
    );
    const laneOf = (key: string) => queueLaneOf(name, key);
    const wake = wakeJob(dispatcher, `wake ${name}`, async (horizon) => {
      const found = await queue.due(horizon);
      const due = found.map(({ key, dueIn }) => ({ lane: laneOf(key), dueIn }));
      const leased = await lanes.leased(due.map(({ lane }) => lane));
      return due.filter(({ lane }) => !leased.has(lane));
    });
    this.#dispatchers.set(name, dispatcher);
    this.jobs.push(wake, ...(queue.jobs ?? []));
    return (key) => dispatcher.wake(laneOf(key));
  }

  /** @internal */
  owns(lane: string): boolean {
    return this.#dispatchers.has(partsOfQueueLane(lane).queue);
  }

  /** @internal */
  async start(): Promise<void> {
    for (const dispatcher of this.#dispatchers.values()) await dispatcher.start();
  }

  /** @internal */
  async stop(): Promise<void> {
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.stop()));
  }

  /** @internal */
  get underWay(): string {
    return [...this.#dispatchers.values()].map(({ underWay }) => underWay).join('; ');
  }
}
