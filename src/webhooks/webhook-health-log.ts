import type { Clock } from '@dundun/messaging';
import type { LoggerService } from '@nestjs/common';
import { originOf } from './webhook-address.js';
import type { ActiveEndpoint, AttemptOutcome } from './webhook-client.js';
import type { HealthChange } from './webhook-delivery.store.js';

const MINUTE = 60_000;

/** Endpoints whose last line is known. */
const MOST = 10_000;

interface Written {
  /** Monotonic time of the last line. */
  readonly at: number;
  /** Changes since then, which have no line yet. */
  changes: number;
  failing: boolean;
}

/** Writes a line when an endpoint begins to fail or works again, at most one a minute for each. */
export class WebhookHealthLog {
  readonly #written = new Map<string, Written>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /**
   * Called after each attempt: a change within a minute of the last line is written after the next
   * attempt that ends later, with the number of changes since.
   */
  attempted(
    logger: Pick<LoggerService, 'log' | 'warn'>,
    { id, url }: ActiveEndpoint,
    { error }: AttemptOutcome,
    change: HealthChange | undefined,
  ): void {
    const line = { webhook: id, origin: originOf(url) };
    if (change?.disabled) {
      this.#written.delete(id);
      logger.warn({ message: 'webhook disabled', ...line, reason: change.disabled.reason });
      return;
    }
    const before = this.#written.get(id);
    if (before && change) {
      before.changes++;
      before.failing = change.failingSince !== null;
    }
    const changes = before ? before.changes : change ? 1 : 0;
    const now = this.clock.monotonic();
    if (changes === 0 || (before && now - before.at < MINUTE)) return;
    const failing = before?.failing ?? change?.failingSince != null;
    // The newest stays last, so that the first is the oldest.
    this.#written.delete(id);
    for (const oldest of this.#written.keys()) {
      if (this.#written.size < MOST) break;
      this.#written.delete(oldest);
    }
    this.#written.set(id, { at: now, changes: 0, failing });
    const flapped = changes > 1 && { changes };
    if (failing) logger.warn({ message: 'webhook fails', ...line, error, ...flapped });
    else logger.log({ message: 'webhook works again', ...line, ...flapped });
  }
}
