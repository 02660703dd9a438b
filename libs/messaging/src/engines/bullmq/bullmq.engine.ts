import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { JobsOptions, Queue, Worker } from 'bullmq';
import type { DispatchEngine, Drain, EngineHealth } from '../../ports/dispatch-engine.js';
import { DatabaseEngine } from '../database.engine.js';
import { LaneTimer } from '../lane-timer.js';
import { WakeOutbox } from '../wake-outbox.js';
import {
  type BrokerSettings,
  KeptOpen,
  type LaneJob,
  LATE,
  openQueue,
  openWorker,
  within,
} from './broker.js';

/** Pause of the worker after the broker refuses a command, in milliseconds. */
const REFUSAL_PAUSE = 1_000;

/** Ended jobs are not kept: a kept job would deduplicate the lane's next one. */
const REMOVE = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const;

/** How long a failure counts, in milliseconds; a failing worker fails more often than that. */
const FAILING_FOR = 15_000;

/**
 * Distributes lanes over many processes. A lane is a job without state: the worker that takes the
 * job drains the lane under its lease, and a wake during the drain adds one job after it. Wakes for
 * later wait in this process; after a crash the wake job of another process finds the lane.
 *
 * If the broker does not take a wake by its deadline, a process that dispatches runs the lane
 * itself. From other processes, the wake job of another process finds the lane.
 */
export class BullMqEngine implements DispatchEngine {
  readonly name = 'bullmq';
  readonly #logger = new Logger('BullMQ');
  readonly #queue: KeptOpen<Queue<LaneJob>>;
  readonly #outbox: WakeOutbox;
  readonly #later = new LaneTimer((lane, at) => this.wake(lane, at));
  /** Drains the lanes of this process; a lane due later goes through the broker again. */
  readonly #local = new DatabaseEngine((lane, at) => this.wake(lane, at));
  /** Set where this process dispatches. */
  #worker: KeptOpen<Worker<LaneJob>> | undefined;
  #pausing: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;
  #database: Promise<string | undefined> | undefined;
  /** Whether another database uses the queue, too. */
  #isShared = false;
  /** Why the broker takes no wakes. */
  #noWakes: string | null = null;
  /** Why the broker hands out no lanes, and when the worker failed last. */
  #noLanes: string | null = null;
  #failedAt = -Infinity;

  constructor(private readonly settings: BrokerSettings) {
    this.#queue = new KeptOpen(
      () => openQueue(settings),
      (error) => this.#wakesFailed(error),
    );
    this.#outbox = new WakeOutbox({
      send: async (lanes) => {
        const found = await within(settings.deadline, this.#identity());
        const database = found === LATE ? undefined : found;
        await this.#write((queue) => queue.addBulk(lanes.map((lane) => jobOf(lane, database))));
      },
      onSent: () => this.#wakesPassed(),
      onUnsent: (lane, error) => this.#unsent(lane, error),
    });
  }

  async start(drain: Drain): Promise<void> {
    await this.#local.start(drain);
    this.#worker = new KeptOpen(
      () => openWorker(this.settings, (job) => this.#work(job)),
      (error) => this.#workerFailed(error),
    );
  }

  wake(lane: string, at?: number): void {
    if (this.#stopped) return;
    if (at !== undefined && at > Date.now()) return this.#later.set(lane, at);
    void this.#outbox.add(lane);
    if (this.#worker && this.#isFailing) this.#local.wake(lane);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async health(): Promise<EngineHealth> {
    const probe = { ...REMOVE, deduplication: { id: 'probe' } };
    await this.#write((queue) => queue.add('probe', { lane: '' }, probe)).then(
      () => this.#wakesPassed(),
      (error: unknown) => this.#wakesFailed(error),
    );
    const reason = this.#noWakes ?? (this.#isFailing ? this.#noLanes : null);
    return { state: reason === null ? 'up' : 'degraded', reason };
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#pausing);
    this.#later.stop();
    await this.#local.stop();
    await this.#outbox.idle();
    await this.#worker?.close();
    await this.#queue.close();
  }

  /** @throws BrokerTimeoutError, or the error of the broker */
  async #write(write: (queue: Queue<LaneJob>) => Promise<unknown>): Promise<void> {
    const { deadline } = this.settings;
    if ((await within(deadline, write(this.#queue.current))) === LATE)
      throw new BrokerTimeoutError('timed out');
  }

  /** Read once; a failed read is repeated by the next wake. */
  #identity(): Promise<string | undefined> {
    this.#database ??= (this.settings.identity?.() ?? Promise.resolve(undefined)).catch(() => {
      this.#database = undefined;
      return undefined;
    });
    return this.#database;
  }

  async #work({ lane, database }: LaneJob): Promise<void> {
    this.#failedAt = -Infinity;
    if (database !== undefined && !this.#isShared) await this.#check(database);
    // A probe names no lane.
    if (lane === '') return;
    await this.#local.run(lane);
    // When this job ends, another process continues the work that this one did not finish.
    if (this.#stopped) await this.#outbox.add(lane);
  }

  /** Warns once where the wake is of another database, whose own processes may not get it. */
  async #check(database: string): Promise<void> {
    const own = await this.#identity();
    if (own === undefined || own === database || this.#isShared) return;
    this.#isShared = true;
    const { queue, prefix } = this.settings;
    this.#logger.warn(
      `Another database uses the queue ${queue} with the prefix ${prefix} of this broker: each takes wakes of the other, and messages wait for the wake job; give each database a queue of its own (the option queue of bullMq())`,
    );
  }

  get #isFailing(): boolean {
    return performance.now() - this.#failedAt < FAILING_FOR;
  }

  #unsent(lane: string, error: unknown): void {
    this.#wakesFailed(error);
    if (isTimeout(error)) this.#queue.reopen();
    if (this.#worker) this.#local.wake(lane);
  }

  #wakesFailed(error: unknown): void {
    if (this.#stopped) return;
    const reason = reasonOf(error);
    if (reason !== this.#noWakes)
      this.#logger.warn(`The broker takes no wakes, so messages wait for the wake job: ${reason}`);
    this.#noWakes = reason;
  }

  #wakesPassed(): void {
    if (this.#noWakes !== null) this.#logger.log('The broker takes wakes again');
    this.#noWakes = null;
  }

  #workerFailed(error: unknown): void {
    if (this.#stopped) return;
    if (isTimeout(error)) this.#worker?.reopen();
    else if (isRefusal(error)) this.#pause();
    else if (!isUnreachable(error)) return;
    const reason = reasonOf(error);
    if (!this.#isFailing || reason !== this.#noLanes)
      this.#logger.warn(
        `The broker hands out no lanes, so this process runs the lanes that it wakes: ${reason}`,
      );
    this.#noLanes = reason;
    this.#failedAt = performance.now();
  }

  /** Pauses the worker, which would otherwise retry a refused command without a wait. */
  #pause(): void {
    if (this.#pausing) return;
    const worker = this.#worker?.current;
    void worker?.pause(true);
    this.#pausing = setTimeout(() => {
      this.#pausing = undefined;
      if (!this.#stopped) void worker?.resume();
    }, REFUSAL_PAUSE);
  }
}

function jobOf(
  lane: string,
  database: string | undefined,
): { name: string; data: LaneJob; opts: JobsOptions } {
  const id = Buffer.from(lane).toString('base64url');
  // Own ids: those of the broker start again when it is wiped.
  const jobId = randomUUID();
  const deduplication = { id, keepLastIfActive: true };
  return { name: 'drain', data: { lane, database }, opts: { ...REMOVE, jobId, deduplication } };
}

class BrokerTimeoutError extends Error {
  override readonly name = 'BrokerTimeoutError';
}

/** Whether the broker did not answer in time, so that the connection may be dead. */
function isTimeout(error: unknown): boolean {
  return error instanceof BrokerTimeoutError || textOf(error).startsWith('Command timed out');
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

function isUnreachable(error: unknown): boolean {
  return /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|Connection is closed|isn't writeable/i.test(
    `${codeOf(error)} ${textOf(error)}`,
  );
}

/** Failure and remedy for operators, without an address or a credential. */
function reasonOf(error: unknown): string {
  if (isUnreachable(error)) return AWAY;
  const text = textOf(error);
  const [, remedy] = REASONS.find(([pattern]) => pattern.test(text)) ?? [];
  const kind = /^[A-Z]{3,}\b/.exec(text)?.[0] ?? (error instanceof Error ? error.name : 'unknown');
  return remedy ?? `the broker fails (${codeOf(error) || kind}); see its log`;
}

const AWAY =
  'the broker cannot be reached or does not answer; check that it runs, its address and the network';

const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /\bOOM\b/,
    'the broker is out of memory; raise maxmemory, with the policy noeviction, or free some',
  ],
  [/\bREADONLY\b/, 'the broker is a read-only replica; connect to the primary'],
  [
    /\bMISCONF\b/,
    'the broker cannot write its disk and refuses to change anything; free some space',
  ],
  [/\b(?:NOAUTH|WRONGPASS|NOPERM)\b/, 'the broker refuses the credential; correct it'],
  [/\bLOADING\b/, 'the broker is still loading its data; wait for it'],
  [/timed? ?out/i, AWAY],
];

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
