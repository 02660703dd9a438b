import { Logger } from '@nestjs/common';
import type { Lease } from '../store/rows/lease.js';
import type { LeaseContext } from './leased-lane.js';
import { type ProviderBreaker, storable } from './provider-breaker.js';

/** Its reason is `provider code: text`. A former holder's has no `provider`. */
type ShownPause = { readonly provider?: string; readonly reason: string } | undefined;

/**
 * Rests of a lane after failures, one for each provider. The lane's row shows the one with a reason
 * that ends last, so that the next holder keeps it. Times are on the monotonic clock.
 */
export class LanePause {
  readonly #logger = new Logger('Lane');
  readonly #until = new Map<string, number>();
  /**
   * Whether the lane goes on with other providers. Its row then shows a pause, and does not hold the
   * lane.
   */
  isPart = true;
  /** Rest of the whole lane that its row showed at the start. */
  readonly #inheritedUntil: number;
  /** End of the rest in the lane's row. */
  #recordedUntil: number;
  #shown: ShownPause;
  #writes: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: Pick<LeaseContext, 'lanes' | 'clock'>,
    private readonly lease: Lease,
    /** Their pauses over all lanes apply, too. */
    private readonly providers: ReadonlyMap<string, { readonly breaker: ProviderBreaker }>,
  ) {
    const { pausedFor, pauseReason, pausePart } = lease;
    const until = pausedFor > 0 ? context.clock.monotonic() + pausedFor : -Infinity;
    const [provider = ''] = pauseReason?.split(' ') ?? [];
    this.#inheritedUntil = pausePart ? -Infinity : until;
    if (pausePart) this.#until.set(provider, until);
    this.#recordedUntil = until;
    if (pauseReason !== null) this.#shown = { reason: pauseReason, ...(pausePart && { provider }) };
  }

  /** Milliseconds until a request of `provider` may start; without an argument, of any provider. */
  restFor(provider?: string): number {
    const own = Math.max(0, this.#untilOf(provider) - this.context.clock.monotonic());
    const breaker = provider === undefined ? undefined : this.providers.get(provider)?.breaker;
    return breaker?.isOpen ? Math.max(own, breaker.restFor(this.lease.lane)) : own;
  }

  /** @param reason `code: text` with the remedy, for a pause that operators must see */
  rest(provider: string, wait: number, reason: string | null): void {
    const until = Math.max(this.#untilOf(provider), this.context.clock.monotonic() + wait);
    this.#until.set(provider, until);
    if (reason === null) return;
    if (this.#shown?.provider !== provider && until < this.#recordedUntil) return;
    const shown = { provider, reason: `${provider} ${storable(reason)}` };
    if (this.#shown?.reason !== shown.reason)
      this.#logger.warn(`${this.lease.lane}: paused, provider ${shown.reason}`);
    this.#show(shown, until);
  }

  /** Ends the pause of `provider`, and an inherited one. */
  end(provider: string): void {
    if (!this.#shown || (this.#shown.provider ?? provider) !== provider) return;
    this.#logger.log(`${this.lease.lane}: provider ${provider} takes messages again`);
    this.#show(undefined, -Infinity);
  }

  /** So that the next holder keeps the rest of the next message's provider, too. */
  async leave(provider: string | undefined): Promise<void> {
    const until = this.#untilOf(provider);
    const isResting = until > this.context.clock.monotonic();
    if (isResting && until > this.#recordedUntil) this.#show(this.#shown, until);
    await this.#writes;
  }

  #untilOf(provider = ''): number {
    return Math.max(this.#inheritedUntil, this.#until.get(provider) ?? -Infinity);
  }

  #show(shown: ShownPause, until: number): void {
    const { lane, fence } = this.lease;
    const { lanes, clock } = this.context;
    const { isPart } = this;
    this.#shown = shown;
    this.#recordedUntil = until;
    this.#writes = this.#writes
      .then(() => {
        const wait = Math.max(0, until - clock.monotonic());
        return lanes.pause(lane, fence, wait, shown?.reason ?? null, isPart);
      })
      .catch(() => undefined);
  }
}
