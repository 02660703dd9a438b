import { Logger } from '@nestjs/common';
import type { Lease } from '../store/rows/lease.js';
import type { LeaseContext } from './lane-drain.js';

interface Rest {
  /** Monotonic milliseconds. */
  readonly until: number;
  /** `provider code: text`, as the lane's row shows it; `null`: not shown. */
  readonly reason: string | null;
}

/** Key of the rest that the row showed when this process took the lane; it applies to every provider. */
const INHERITED = '';

/**
 * Rests of a lane after failures, one for each provider. The lane's row shows the rest with a reason that ends last,
 * so that the next holder keeps it.
 */
export class LanePause {
  readonly #logger = new Logger('Lane');
  readonly #rests = new Map<string, Rest>();
  #shown: Rest | undefined;
  /** End of the rest in the row. */
  #recordedUntil: number;
  #writes: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: Pick<LeaseContext, 'lanes' | 'clock'>,
    private readonly lease: Lease,
  ) {
    const { pausedFor, pauseReason } = lease;
    this.#recordedUntil = pausedFor > 0 ? context.clock.monotonic() + pausedFor : -Infinity;
    this.#rests.set(INHERITED, { until: this.#recordedUntil, reason: pauseReason });
    this.#shown = this.#longest();
  }

  /** Milliseconds until the lane may start a request of `provider`; without an argument, of any provider. */
  restFor(provider = INHERITED): number {
    return Math.max(0, this.#untilOf(provider) - this.context.clock.monotonic());
  }

  /**
   * Starts no request of `provider` for `wait` milliseconds.
   * @param reason `code: text` with the remedy, for a pause that operators must see
   */
  rest(provider: string, wait: number, reason: string | null): void {
    const until = Math.max(this.#untilOf(provider), this.context.clock.monotonic() + wait);
    if (reason === null) {
      this.#rests.set(provider, { until, reason: this.#rests.get(provider)?.reason ?? null });
      return;
    }
    const text = `${provider} ${storable(reason)}`;
    if (this.#shown?.reason !== text)
      this.#logger.warn(`${this.lease.lane}: provider ${provider} is paused: ${storable(reason)}`);
    this.#rests.set(provider, { until, reason: text });
    this.#show();
  }

  /** Ends the pause of `provider`. An inherited one ends, too: its provider may no longer be configured. */
  end(provider: string): void {
    if (!this.#shown) return;
    for (const key of [INHERITED, provider]) {
      const rest = this.#rests.get(key);
      if (rest) this.#rests.set(key, { ...rest, reason: null });
    }
    if (this.#longest() === this.#shown) return;
    this.#logger.log(`${this.lease.lane}: provider ${provider} takes messages again`);
    this.#show();
  }

  /** Resolves once the row shows the rests, also one without a reason of the next message's provider. */
  async leave(provider: string | undefined): Promise<void> {
    const until = provider === undefined ? -Infinity : this.#untilOf(provider);
    if (this.restFor(provider) > 0 && until > this.#recordedUntil)
      this.#write({ until, reason: this.#shown?.reason ?? null });
    await this.#writes;
  }

  #untilOf(provider: string): number {
    const untilOf = (key: string) => this.#rests.get(key)?.until ?? -Infinity;
    return Math.max(untilOf(INHERITED), untilOf(provider));
  }

  #longest(): Rest | undefined {
    const shown = [...this.#rests.values()].filter(({ reason }) => reason !== null);
    return shown.toSorted((a, b) => b.until - a.until)[0];
  }

  #show(): void {
    this.#shown = this.#longest();
    this.#write(this.#shown ?? { until: -Infinity, reason: null });
  }

  /** Writes one state at a time, so that the latest one stays. */
  #write({ until, reason }: Rest): void {
    const { lane, fence } = this.lease;
    const { lanes, clock } = this.context;
    this.#recordedUntil = until;
    this.#writes = this.#writes
      .then(() => lanes.pause(lane, fence, Math.max(0, until - clock.monotonic()), reason))
      .catch(() => undefined);
  }
}

/** Cuts a reason to the length that the lane's row holds beside a provider's name. */
function storable(reason: string): string {
  return reason
    .slice(0, 440)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .slice(0, 220);
}
