import { CallbackCounts, type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { CallbackSighting } from './callback-sightings.tables.js';

const WRITE_EVERY = 60_000;

/** The endpoint at the callback path itself. */
const DEFAULT = 'default';

/** Writes once a minute which carriers have called back meanwhile. */
@Injectable()
export class CallbackSightings implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Callbacks');
  readonly #written = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly counts: CallbackCounts,
    private readonly messaging: MessagingService,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.write(), WRITE_EVERY).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  /** Never rejects: a failed write is repeated with the next one. */
  async write(): Promise<void> {
    const accepted = [...this.counts.snapshot()].map(
      ([endpoint, count]) => [endpoint, count.accepted] as const,
    );
    const grown = accepted.filter(([name, count]) => count > (this.#written.get(name) ?? 0));
    if (grown.length === 0) return;
    const main = this.environment.carriers.all.find(({ role }) => role === 'main')?.name;
    const names = grown.flatMap(([name]) => (name === DEFAULT ? (main ?? []) : name));
    const seenAt = new Date(this.clock.now());
    try {
      await this.messaging.transaction((manager: EntityManager) =>
        manager.upsert(
          CallbackSighting,
          // Sorted, so that two processes lock the same rows in the same order.
          names.toSorted().map((carrier) => ({ carrier, seenAt })),
          ['carrier'],
        ),
      );
      for (const [name, count] of grown) this.#written.set(name, count);
    } catch (error) {
      this.#logger.warn({ message: 'the time of callbacks is not written', err: error });
    }
  }
}
