import { Logger } from '@nestjs/common';
import type { Lease, ShownPause } from '../store/rows/lease.js';
import type { LeaseContext } from './leased-lane.js';
import { type ProviderBreaker, storable } from './provider-breaker.js';

/**
 * How long a lane starts no request of each provider: its pause, or the backoff of the lane after a
 * failure. The lane's row shows the pause that ends last, with its reason, so that the next holder keeps
 * it. Times are on the monotonic clock.
 */
export class LanePause {
  readonly #logger = new Logger('Lane');
  readonly #until = new Map<string, number>();
  /** End of the whole lane's pause that its row showed at the start. */
  readonly #inheritedUntil: number;
  /** End of the pause in the lane's row. */
  #recordedUntil: number;
  #shown: ShownPause | undefined;
  /** The row shows the whole lane's pause of a former holder, which any provider ends. */
  #isInherited = false;
  #writes: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: Pick<LeaseContext, 'lanes' | 'clock'>,
    private readonly lease: Lease,
    /** Their pauses over all lanes apply, too. */
    private readonly providers: ReadonlyMap<string, { readonly breaker: ProviderBreaker }>,
    /**
     * Whether the lane goes on with other providers. Its row then shows a pause, and does not stop the
     * lane.
     */
    private isPart: boolean,
  ) {
    const { pausedFor, pauseProvider, pauseReason: reason, pausePart } = lease;
    const until = pausedFor > 0 ? context.clock.monotonic() + pausedFor : -Infinity;
    const provider = pauseProvider ?? '';
    this.#inheritedUntil = pausePart ? -Infinity : until;
    if (pausePart) this.#until.set(provider, until);
    this.#recordedUntil = until;
    if (reason === null) return;
    this.#shown = { provider, reason };
    this.#isInherited = !pausePart;
  }

  /** Milliseconds until a request of `provider` may start; without an argument, of any provider. */
  pausedFor(provider?: string): number {
    const own = Math.max(0, this.#untilOf(provider) - this.context.clock.monotonic());
    const breaker = provider === undefined ? undefined : this.providers.get(provider)?.breaker;
    return breaker?.isOpen ? Math.max(own, breaker.pausedFor(this.lease.lane)) : own;
  }

  /** @param reason `code: text` with the remedy, for a pause that operators must see */
  add(provider: string, wait: number, reason: string | null): void {
    const until = Math.max(this.#untilOf(provider), this.context.clock.monotonic() + wait);
    this.#until.set(provider, until);
    if (reason === null) return;
    const before = this.#shown;
    const isOwn = before?.provider === provider;
    if (!(isOwn && !this.#isInherited) && until < this.#recordedUntil) return;
    const shown = { provider, reason: storable(reason) };
    if (!isOwn || before.reason !== shown.reason)
      this.#logger.warn(`${this.lease.lane}: paused, provider ${provider} ${shown.reason}`);
    this.#isInherited = false;
    this.#show(shown, until);
  }

  /** @param isPart whether the planned messages have several providers */
  planned(isPart: boolean): void {
    this.isPart = isPart;
  }

  /** Ends the pause of `provider`, and an inherited one. */
  end(provider: string): void {
    if (!this.#shown || !(this.#isInherited || this.#shown.provider === provider)) return;
    this.#logger.log(`${this.lease.lane}: provider ${provider} takes messages again`);
    this.#show(undefined, -Infinity);
  }

  /** So that the next holder keeps the wait for the next message's provider, too. */
  async leave(provider: string | undefined): Promise<void> {
    const until = this.#untilOf(provider);
    const isPaused = until > this.context.clock.monotonic();
    if (isPaused && until > this.#recordedUntil) this.#show(this.#shown, until);
    await this.#writes;
  }

  #untilOf(provider = ''): number {
    return Math.max(this.#inheritedUntil, this.#until.get(provider) ?? -Infinity);
  }

  #show(shown: ShownPause | undefined, until: number): void {
    const { lanes, clock } = this.context;
    const { isPart } = this;
    this.#shown = shown;
    this.#recordedUntil = until;
    this.#writes = this.#writes
      .then(() => {
        const wait = Math.max(0, until - clock.monotonic());
        return lanes.pause(this.lease, wait, shown, isPart);
      })
      .catch(() => undefined);
  }
}
