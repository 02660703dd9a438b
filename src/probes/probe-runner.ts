import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import {
  dueTask,
  type DueWork,
  type LaneTask,
  type LeasedLane,
  type MessagingJob,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { Probes } from './probes.service.js';
import { ProbeEntity } from './probes.tables.js';

/** Milliseconds between two looks at the messages of open probes. */
const FOLLOW_EVERY = 5_000;

const DAY = 86_400_000;

/** The only lane, so that one process at a time has it. */
const KEY = 'all';

/** Follows the probes under way, and sends those of the schedule: one process of all that run. */
@Injectable()
export class ProbeRunner implements WorkQueue, OnModuleInit {
  readonly name = 'probes';
  readonly jobs: readonly MessagingJob[] = [
    { name: 'purge probes', every: DAY, run: () => this.probes.purge() },
  ];
  readonly #logger = new Logger('Probes');
  /** Epoch milliseconds. */
  #followedAt = -Infinity;

  constructor(
    private readonly queues: WorkQueues,
    private readonly probes: Probes,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'PROBE_NUMBERS' | 'PROBE_EVERY'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  onModuleInit(): void {
    if (this.environment.PROBE_NUMBERS) this.queues.add(this);
  }

  async due(): Promise<readonly DueWork[]> {
    const dueIn = await this.#dueIn();
    return dueIn === Infinity ? [] : [{ key: KEY, dueIn }];
  }

  start(leased: LeasedLane): LaneTask {
    return dueTask(leased, {
      underWay: 'a look at probes',
      dueIn: () => this.#dueIn(),
      run: () => this.run(),
    });
  }

  /** Never rejects: what fails is tried again at the next look. */
  async run(): Promise<void> {
    this.#followedAt = this.clock.now();
    try {
      const slot = this.#slot();
      if (slot !== undefined && !(await this.probes.hasSlot(slot)))
        await this.probes.send(undefined, slot);
      await this.probes.follow();
    } catch (error) {
      this.#logger.warn({ message: 'probes are not sent or followed', err: error });
    }
  }

  async #dueIn(): Promise<number> {
    const now = this.clock.now();
    // The clock may have been set back since.
    const next = Math.min(FOLLOW_EVERY, Math.max(0, this.#followedAt + FOLLOW_EVERY - now));
    if (await this.dataSource.manager.existsBy(ProbeEntity, { isOpen: 1 })) return next;
    const { PROBE_EVERY: every } = this.environment;
    const slot = this.#slot();
    if (every === undefined || slot === undefined) return Infinity;
    return (await this.probes.hasSlot(slot)) ? every - (now % every) : next;
  }

  /** Name of the time of the schedule that it is now. */
  #slot(): string | undefined {
    const { PROBE_EVERY: every } = this.environment;
    if (every === undefined) return undefined;
    return new Date(Math.floor(this.clock.now() / every) * every).toISOString();
  }
}
