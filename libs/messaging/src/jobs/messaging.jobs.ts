import { Logger } from '@nestjs/common';
import type { SchedulerRegistry } from '@nestjs/schedule';

/** One scheduled duty. */
export interface MessagingJob {
  readonly name: string;
  /** Milliseconds between two runs. */
  readonly every: number;
  run(signal: AbortSignal): Promise<void>;
}

/** Runs the jobs as intervals of Nest's scheduler registry, never one beside itself; a failing run is logged and tried again. */
export class MessagingJobs {
  readonly #logger = new Logger('Jobs');
  readonly #running = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly jobs: readonly MessagingJob[],
  ) {}

  start(): void {
    for (const job of this.jobs)
      this.registry.addInterval(
        nameOf(job),
        setInterval(() => this.#tick(job), job.every),
      );
  }

  async stop(): Promise<void> {
    for (const job of this.jobs)
      if (this.registry.doesExist('interval', nameOf(job)))
        this.registry.deleteInterval(nameOf(job));
    this.#abort.abort();
    await Promise.all(this.#running.values());
  }

  /** What is still under way, for people. */
  get underWay(): string {
    return `jobs (${[...this.#running.keys()].join(', ')})`;
  }

  #tick(job: MessagingJob): void {
    if (this.#running.has(job.name)) return;
    const run = job
      .run(this.#abort.signal)
      .catch((error: unknown) =>
        this.#logger.error(`${job.name}: ${(error as Error).name}: ${(error as Error).message}`),
      )
      .finally(() => this.#running.delete(job.name));
    this.#running.set(job.name, run);
  }
}

function nameOf({ name }: MessagingJob): string {
  return `messaging.${name}`;
}
