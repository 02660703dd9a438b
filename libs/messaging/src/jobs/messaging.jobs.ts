import { Logger } from '@nestjs/common';
import type { SchedulerRegistry } from '@nestjs/schedule';

/** A periodic job. Its runs never overlap. A failed run is logged, and the next interval tries again. */
export interface MessagingJob {
  readonly name: string;
  /** Milliseconds between two runs. */
  readonly every: number;
  /** Also run at the start. @default false */
  readonly atStart?: boolean;
  run(signal: AbortSignal): Promise<void>;
}

/** Runs the jobs as intervals of Nest's scheduler registry. */
export class MessagingJobs {
  readonly #logger = new Logger('Jobs');
  readonly #running = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly jobs: readonly MessagingJob[],
  ) {}

  /** Resolves when the jobs to run at the start have run. */
  async start(): Promise<void> {
    for (const job of this.jobs)
      this.registry.addInterval(
        nameOf(job),
        setInterval(() => void this.#tick(job), job.every),
      );
    await Promise.all(this.jobs.filter(({ atStart }) => atStart).map((job) => this.#tick(job)));
  }

  async stop(): Promise<void> {
    for (const job of this.jobs)
      if (this.registry.doesExist('interval', nameOf(job)))
        this.registry.deleteInterval(nameOf(job));
    this.#abort.abort();
    await Promise.all(this.#running.values());
  }

  /** Jobs that have not ended, for logs. */
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

function nameOf({ name }: MessagingJob): string {
  return `messaging.${name}`;
}
