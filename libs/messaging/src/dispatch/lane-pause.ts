import { Logger } from '@nestjs/common';
import type { Lease } from '../store/rows/lease.js';
import type { LeaseContext } from './lane-drain.js';

/** The pause that the lane's row shows. */
interface ShownPause {
  readonly provider: string;
  readonly reason: string;
  /** A former holder of the lane wrote the pause, perhaps for a provider that is no longer configured. */
  readonly inherited?: boolean;
}

/** Rests of a lane after failures, one for each provider, and the pause that the lane's row shows. */
export class LanePause {
  readonly #logger = new Logger('Lane');
  /** End of the rest by provider, on the monotonic clock. */
  readonly #until = new Map<string, number>();
  /** End of the rest that the row showed when this process took the lane; it applies to every provider. */
  readonly #rowUntil: number;
  #shown: ShownPause | undefined;
  #writes: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: Pick<LeaseContext, 'lanes' | 'clock'>,
    private readonly lease: Lease,
  ) {
    this.#shown = shownOf(lease.pauseReason);
    this.#rowUntil = lease.pausedFor > 0 ? context.clock.monotonic() + lease.pausedFor : -Infinity;
  }

  /** Milliseconds until the lane may start a request of `provider`; without an argument, of any provider. */
  restFor(provider: string | undefined): number {
    const until = this.#untilOf(provider);
    return until === -Infinity ? -Infinity : until - this.context.clock.monotonic();
  }

  /** Whether the lane's row shows the rest of `provider`. */
  isRecorded(provider: string | undefined): boolean {
    return this.#shown !== undefined || this.#untilOf(provider) === this.#rowUntil;
  }

  /**
   * Starts no request of `provider` for `wait` milliseconds.
   * @param reason `code: text` with the remedy, for a pause that operators must see
   */
  rest(provider: string, wait: number, reason: string | null): void {
    const until = this.context.clock.monotonic() + wait;
    this.#until.set(provider, Math.max(this.#untilOf(provider), until));
    if (reason === null) return;
    const shown = { provider, reason: storable(reason) };
    if (this.#shown?.reason !== shown.reason)
      this.#logger.warn(`${this.lease.lane}: provider ${provider} is paused: ${shown.reason}`);
    this.#shown = shown;
    this.#write();
  }

  /** Ends the rest of `provider`. */
  end(provider: string): void {
    if (!this.#shown || (this.#shown.provider !== provider && !this.#shown.inherited)) return;
    this.#shown = undefined;
    this.#logger.log(`${this.lease.lane}: provider ${provider} takes messages again`);
    this.#write();
  }

  /** Resolves once the lane's row shows the current state. */
  async written(): Promise<void> {
    await this.#writes;
  }

  #untilOf(provider: string | undefined): number {
    const own = provider === undefined ? undefined : this.#until.get(provider);
    return Math.max(this.#rowUntil, own ?? -Infinity);
  }

  /** Writes one state at a time, so that the latest one stays. */
  #write(): void {
    const { lane, fence } = this.lease;
    this.#writes = this.#writes
      .then(() => {
        const shown = this.#shown;
        const wait = shown ? Math.max(0, this.restFor(shown.provider)) : 0;
        const text = shown ? `${shown.provider} ${shown.reason}` : null;
        return this.context.lanes.pause(lane, fence, wait, text);
      })
      .catch(() => undefined);
  }
}

/** Provider and reason as {@link LanePause} writes them into the lane's row. */
function shownOf(text: string | null): ShownPause | undefined {
  if (text === null) return undefined;
  const end = text.indexOf(' ');
  return {
    provider: text.slice(0, Math.max(0, end)),
    reason: text.slice(end + 1),
    inherited: true,
  };
}

/** Cuts a reason to the length that the lane's row holds beside a provider's name. */
function storable(reason: string): string {
  return reason
    .slice(0, 440)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .slice(0, 220);
}
