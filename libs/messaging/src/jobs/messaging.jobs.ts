import { Logger } from '@nestjs/common';
import { timeLimit } from '../message/time-limit.js';
import type { InboundRecorder } from '../contacts/inbound.js';
import { namingProvider } from '../message/errors.js';
import { VAS_ORDER_OPEN, type VasOrderOpen } from '../message/events.js';
import type { SyncedTemplates } from '../message/templates.js';
import type { EventPublisher } from '../ports/listeners.js';
import type { LaneWaker } from '../ports/dispatch-engine.js';
import type { Transports } from '../ports/message-transport.js';
import type { MessageStore } from '../store/message-store.js';
import type { DueLane } from '../store/reads/lane-queues.js';
import type { JobIntervals } from './job-intervals.js';

/** Periodic job; runs never overlap. A failed run is logged, and the next interval tries again. */
export interface MessagingJob {
  readonly name: string;
  /** Milliseconds between two runs. */
  readonly every: number;
  /** Also run at the start. @default false */
  readonly atStart?: boolean;
  run(signal: AbortSignal): Promise<void>;
}

/** Runs the jobs at their intervals. */
export class MessagingJobs {
  readonly #logger = new Logger('Jobs');
  readonly #running = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();

  constructor(
    private readonly intervals: JobIntervals,
    private readonly jobs: readonly MessagingJob[],
  ) {}

  /** Resolves when the jobs to run at the start have run. */
  async start(): Promise<void> {
    for (const job of this.jobs)
      this.intervals.add(
        `messaging.${job.name}`,
        setInterval(() => void this.#tick(job), job.every),
      );
    await Promise.all(this.jobs.filter(({ atStart }) => atStart).map((job) => this.#tick(job)));
  }

  /** Runs each job once, one after the other. */
  async runAll(): Promise<void> {
    for (const job of this.jobs) {
      await this.#running.get(job.name);
      await this.#tick(job);
    }
  }

  async stop(): Promise<void> {
    for (const { name } of this.jobs) this.intervals.delete(`messaging.${name}`);
    this.#abort.abort();
    await Promise.all(this.#running.values());
  }

  get underWay(): string {
    return `jobs (${[...this.#running.keys()].join(', ')})`;
  }

  async #tick(job: MessagingJob): Promise<void> {
    if (this.#running.has(job.name)) return;
    const run = job
      .run(this.#abort.signal)
      .catch((error: unknown) =>
        this.#logger.error(`${job.name}: ${(error as Error).name}: ${(error as Error).message}`),
      )
      .finally(() => this.#running.delete(job.name));
    this.#running.set(job.name, run);
    await run;
  }
}

/** Interval in milliseconds: the longest wait of due work whose wake was lost. */
const WAKE_EVERY = 2_000;

/** Interval in milliseconds; reads also see what is not folded yet. */
const FOLD_EVERY = 5_000;

/** Interval in milliseconds; one hour passes its age in an hour. */
const FORGET_OUTCOMES_EVERY = 600_000;

const PURGE_BATCHES = 200;
const FORGET_IDS = 5_000;
const FORGET_TEXTS = 500;

/** @param due lanes due within `horizon` milliseconds that no process holds */
export function wakeJob(
  waker: LaneWaker,
  name: string,
  due: (horizon: number) => Promise<readonly DueLane[]>,
): MessagingJob {
  return {
    name,
    every: WAKE_EVERY,
    atStart: true,
    run: async () => {
      for (const { lane, dueIn } of await due(WAKE_EVERY))
        waker.wake(lane, dueIn > 0 ? Date.now() + dueIn : undefined);
    },
  };
}

/** Before the wake job, so that the lanes of corrected batches are woken. */
export function clockJob({ setBackClock }: MessageStore): MessagingJob {
  return { name: 'clock', every: WAKE_EVERY, atStart: true, run: () => setBackClock.correct() };
}

export function purgeJob({ purge }: MessageStore): MessagingJob {
  return {
    name: 'purge',
    every: 60_000,
    run: async (signal) => {
      while (!signal.aborted && (await purge.step(PURGE_BATCHES)));
    },
  };
}

/** Folds what changes of statuses have added to the counts of outcomes. */
export function outcomesJob(counts: { fold(): Promise<boolean> }): MessagingJob {
  return {
    name: 'outcomes',
    every: FOLD_EVERY,
    run: async (signal) => {
      while (!signal.aborted && (await counts.fold()));
    },
  };
}

/** Deletes the counts of messages that were accepted more than `age` milliseconds ago. */
export function outcomesAgeJob(
  counts: { forgetOlder(age: number): Promise<boolean> },
  age: number,
): MessagingJob {
  return {
    name: 'outcomes-age',
    every: FORGET_OUTCOMES_EVERY,
    run: async (signal) => {
      while (!signal.aborted && (await counts.forgetOlder(age)));
    },
  };
}

const orders = new Logger('Orders');

/** Tells of orders that have had no outcome for a day, by log and event. */
export function openOrdersJob(
  take: () => Promise<readonly VasOrderOpen[]>,
  events: EventPublisher,
): MessagingJob {
  return {
    name: 'orders',
    every: 60_000,
    run: async () => {
      for (const open of await take()) {
        orders.warn(
          `Order ${open.orderId} has had no outcome since ${open.since.toISOString()}: settle it`,
        );
        events.publish(VAS_ORDER_OPEN, open);
      }
    },
  };
}

/** Erases the contents of messages with codes that have ended. */
export function verificationJobs(verification: {
  eraseEnded(): Promise<void>;
  forget(): Promise<void>;
}): MessagingJob[] {
  return [
    { name: 'codes', every: 5_000, run: () => verification.eraseEnded() },
    { name: 'old-codes', every: 600_000, run: () => verification.forget() },
  ];
}

/** Begins the next steps of notifications, and ends notifications. */
export function notificationJobs(notifications: {
  run(signal: AbortSignal): Promise<void>;
  forget(signal: AbortSignal): Promise<void>;
}): MessagingJob[] {
  return [
    {
      name: 'notifications',
      every: 1_000,
      atStart: true,
      run: (signal) => notifications.run(signal),
    },
    {
      name: 'old-notifications',
      every: 600_000,
      run: (signal) => notifications.forget(signal),
    },
  ];
}

/** Milliseconds; the start of a process waits as long for the first list. */
const TEMPLATES_TIMEOUT = 5_000;

/** Reads the lists of templates; where a provider does not answer, the earlier lists count on. */
export function templatesJob(
  templates: SyncedTemplates,
  every: number,
  transports: Transports,
): MessagingJob {
  return {
    name: 'templates',
    every,
    atStart: true,
    run: async (stop) => {
      const signal = timeLimit(TEMPLATES_TIMEOUT, stop);
      try {
        await templates.replace(() =>
          Promise.all(
            [...transports].map(async ([provider, transport]) => {
              const list = async () => (await transport.fetchTemplates?.(signal)) ?? [];
              return namingProvider(`provider ${provider}`, list);
            }),
          ),
        );
      } catch (error) {
        if (!stop.aborted) throw error;
      }
    },
  };
}

/** Continues erasures: of a process that died, and of messages that were in flight. */
export function erasureJob({ erasures }: MessageStore): MessagingJob {
  return { name: 'erasure', every: 5_000, run: (signal) => erasures.resume(signal) };
}

/** Deletes the ids of inbound messages that providers no longer repeat, and their old texts. */
export function inboundJob(
  inbound: InboundRecorder,
  /** Milliseconds for which texts are kept; `undefined`: for ever. */
  keepTexts?: number,
): MessagingJob {
  return {
    name: 'inbound',
    every: 600_000,
    run: async (signal) => {
      while (!signal.aborted && (await inbound.forget(FORGET_IDS)) > 0);
      if (keepTexts === undefined) return;
      while (!signal.aborted && (await inbound.forgetTexts(keepTexts, FORGET_TEXTS)) > 0);
    },
  };
}
