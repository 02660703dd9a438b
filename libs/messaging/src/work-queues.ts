import { partsOfQueueLane } from './message/ids.js';
import { MessagingConfigError } from './message/errors.js';
import { Dispatcher, type LaneTask } from './dispatch/dispatcher.js';
import type { LeasedLane } from './dispatch/leased-lane.js';
import { DatabaseEngine } from './engines/database.engine.js';
import { type MessagingJob, wakeJob } from './jobs/messaging.jobs.js';
import type { Clock } from './ports/clock.js';
import type { LaneWaker } from './ports/dispatch-engine.js';
import { Lanes } from './store/verbs/lanes.js';
import type { DueLane } from './store/reads/lane-queues.js';
import type { MessageStore } from './store/message-store.js';
import type { EntityManager } from 'typeorm';
import type { Dialect } from './store/database/dialect.js';
import type { Transaction } from './store/database/sql.js';

/** Access to the app's database for a queue's own tables. Statements use `?` placeholders. */
export interface QueueDatabase {
  readonly dialect: Pick<Dialect, 'rows' | 'updateFrom'>;
  /** Outside a transaction. */
  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]>;
  /** Repeated after deadlocks and serialisation failures. @param lockTimeout milliseconds of each lock wait */
  transaction<T>(work: (tx: Transaction) => Promise<T>, lockTimeout?: number): Promise<T>;
  /** @throws TransactionRequiredError where `manager` is in no transaction of this data source */
  join(manager: EntityManager): Transaction;
}

/**
 * An app's own work, in lanes that are leased, woken, drained and released like those of messages.
 * The app owns the rows of the work.
 */
export interface WorkQueue {
  /** Prefix of its lane names, before a colon; reserved for this queue. */
  readonly name: string;
  /** Time in milliseconds to a takeover after a crash. @default the module's `lease` */
  readonly lease?: number;
  /** Longest wait of a stop in milliseconds; at most, and by default, the module's. */
  readonly shutdownTimeout?: number;
  readonly jobs?: readonly MessagingJob[];
  /** Starts the work of one lane, under the lease just taken. */
  start(leased: LeasedLane): LaneTask;
  /** Lanes with work due within `horizon` milliseconds, with or without a holder. */
  due(horizon: number): Promise<readonly DueLane[]>;
}

/**
 * Registers {@link WorkQueue}s; call it in `onModuleInit`. The queues run in every process that
 * adds them, regardless of its `dispatch` option: a lane's lease decides which process works on it.
 * @example
 * onModuleInit() {
 *   this.waker = this.queues.add({ name: 'export', start: (leased) => new ExportTask(leased), due: … });
 * }
 */
export class WorkQueues {
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
   * Adds a queue, which starts after every `onModuleInit`. Call the returned waker after commits.
   * @throws MessagingConfigError where another queue has the name
   */
  add(queue: WorkQueue): LaneWaker {
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
      () => (leased) => queue.start(leased),
    );
    const wake = wakeJob(dispatcher, `wake ${name}`, async (horizon) => {
      const due = await queue.due(horizon);
      const leased = await lanes.leased(due.map(({ lane }) => lane));
      return due.filter(({ lane }) => !leased.has(lane));
    });
    this.#dispatchers.set(name, dispatcher);
    this.jobs.push(wake, ...(queue.jobs ?? []));
    return dispatcher;
  }

  owns(lane: string): boolean {
    return this.#dispatchers.has(partsOfQueueLane(lane).queue);
  }

  async start(): Promise<void> {
    for (const dispatcher of this.#dispatchers.values()) await dispatcher.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.stop()));
  }

  get underWay(): string {
    return [...this.#dispatchers.values()].map(({ underWay }) => underWay).join('; ');
  }
}
