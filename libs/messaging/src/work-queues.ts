import { MessagingConfigError } from './message/errors.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import type { LaneTask, LeasedLane } from './dispatch/lane-drain.js';
import { DatabaseEngine } from './engines/database.engine.js';
import type { MessagingJob } from './jobs/messaging.jobs.js';
import { wakeJob } from './jobs/store.jobs.js';
import type { Clock } from './ports/clock.js';
import type { LaneWaker } from './ports/lane-waker.js';
import { Lanes } from './store/verbs/lanes.js';
import type { DueLane } from './store/reads/lane-queues.js';
import type { MessageStore } from './store/message-store.js';
import type { StoreDatabase } from './store/database/store-database.js';

/** The store's way to the app's database, for a queue's own tables. Statements are written with `?`. */
export type QueueDatabase = Pick<StoreDatabase, 'all' | 'transaction' | 'join'> & {
  readonly dialect: Pick<StoreDatabase['dialect'], 'kind' | 'rows' | 'updateFrom'>;
};

/**
 * An application's own background work, in lanes that are leased, woken, drained and released as lanes of messages
 * are. The rows of the work are the application's.
 */
export interface WorkQueue {
  /** The names of its lanes begin with this and a colon. No lane of messages may. */
  readonly name: string;
  /**
   * How long a lane stays with a process that has died, in milliseconds.
   * @default the module's `lease`
   */
  readonly lease?: number;
  /**
   * How long a stop waits for requests in flight, in milliseconds; at most the module's `shutdownTimeout`.
   * @default the module's `shutdownTimeout`
   */
  readonly shutdownTimeout?: number;
  /** Periodic duties of the queue. */
  readonly jobs?: readonly MessagingJob[];
  /** The work of one lane, under the lease just taken. */
  open(leased: LeasedLane): LaneTask;
  /** Lanes with work due within `horizon` milliseconds, held or not. */
  due(horizon: number): Promise<readonly DueLane[]>;
}

interface Opened {
  readonly dispatcher: Dispatcher;
  readonly jobs: readonly MessagingJob[];
}

/**
 * Where an application adds its own {@link WorkQueue}s, in `onModuleInit`. They run in every process that adds them,
 * whatever its `dispatch` option: a lane's lease decides which of them works on it.
 *
 * @example
 * onModuleInit() {
 *   this.waker = this.queues.add({ name: 'export', open: (leased) => new ExportTask(leased), due: … });
 * }
 */
export class WorkQueues {
  readonly #opened = new Map<string, Opened>();

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
   * Adds a queue; it starts with the module, after every `onModuleInit`.
   *
   * @returns its waker: call it when work was committed
   * @throws MessagingConfigError where the name is taken
   */
  add(queue: WorkQueue): LaneWaker {
    const { name } = queue;
    if (this.#opened.has(name))
      throw new MessagingConfigError(`queue: there is one named ${name}; give each its own name`);
    const { settings } = this;
    const leaseTime = queue.lease ?? settings.leaseTime;
    const lanes = new Lanes(this.store.database, this.clock.id(), leaseTime);
    const dispatcher = new Dispatcher(
      new DatabaseEngine(),
      {
        lanes,
        clock: this.clock,
        leaseTime,
        shutdownTimeout: Math.min(queue.shutdownTimeout ?? Infinity, settings.shutdownTimeout),
      },
      { lane: () => (leased) => queue.open(leased) },
    );
    const wake = wakeJob(dispatcher, `wake ${name}`, async (horizon) => {
      const due = await queue.due(horizon);
      const held = await lanes.held(due.map(({ lane }) => lane));
      return due.filter(({ lane }) => !held.has(lane));
    });
    this.#opened.set(name, { dispatcher, jobs: [wake, ...(queue.jobs ?? [])] });
    return dispatcher;
  }

  /** Whether the lane belongs to one of the queues. */
  owns(lane: string): boolean {
    return this.#opened.has(lane.slice(0, lane.indexOf(':')));
  }

  get jobs(): readonly MessagingJob[] {
    return [...this.#opened.values()].flatMap(({ jobs }) => jobs);
  }

  async start(): Promise<void> {
    for (const { dispatcher } of this.#opened.values()) await dispatcher.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(({ dispatcher }) => dispatcher.stop()));
  }

  /** What has not ended yet, for logs. */
  get underWay(): string {
    return [...this.#opened.values()].map(({ dispatcher }) => dispatcher.underWay).join('; ');
  }
}
