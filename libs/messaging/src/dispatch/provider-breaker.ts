import { Logger } from '@nestjs/common';
import type { Clock } from '../ports/clock.js';
import type { ProviderPause, ProviderPauses } from '../store/verbs/provider-pauses.js';
import { PROVIDER_PROBE_LASTS, providerPause } from './waits.js';

/** Shortest pause that other processes are told of, in milliseconds. */
const SHARED_FROM = 100;

/** Wait for the answer to a claim, in milliseconds. */
const CLAIM_WAIT = 50;

/** Milliseconds in which a read of the rows may be older than the state of this process. */
const READ_LAG = 2_000;

/** Time without a message to probe a provider after which the transport's own state ends the pause, in ms. */
const LONGEST_PROBING = 5_000;

type Pauses = Pick<ProviderPauses, 'pause' | 'claim' | 'end'>;

/**
 * The pause of a provider over all lanes. A failure that says that the provider accepts nothing opens
 * it; pauses of a tenth of a second or more are shared with other processes by a row:
 *
 * ```
 * closed ──accepts nothing──▶ open: no lane starts a request
 *    ▲                          │ the pause is over
 *    │                          ▼
 *    └──it answers────────── half-open: one request at a time, of one lane of one process
 *                               └─ accepts nothing ─▶ open, for longer
 * ```
 */
export class ProviderBreaker {
  readonly #logger = new Logger('Provider');
  /** Monotonic milliseconds, as all times here; `undefined`: closed. */
  #until: number | undefined;
  #changedAt = -Infinity;
  #trips = 0;
  #reason = '';
  #isShared = false;
  /** The lane that may send the probe. */
  #prober: string | undefined;
  #probesUntil = -Infinity;
  /** Until then this process may probe a shared pause. */
  #claimedUntil = -Infinity;
  #claiming = false;

  constructor(
    private readonly provider: string,
    private readonly clock: Pick<Clock, 'monotonic'>,
    /** First backoff, in milliseconds. */
    private readonly base: number,
    private readonly pauses: Pauses | undefined,
  ) {}

  get isOpen(): boolean {
    return this.#until !== undefined;
  }

  /** Milliseconds until the lane may start a request. */
  pausedFor(lane: string): number {
    if (this.#until === undefined) return 0;
    const now = this.clock.monotonic();
    if (now < this.#until) return this.#until - now;
    if (this.#isShared && now >= this.#claimedUntil) {
      this.#claim();
      return CLAIM_WAIT;
    }
    return this.#prober === lane ? 0 : Math.max(0, this.#probesUntil - now);
  }

  /** Whether the lane's only request is the probe: it starts no other before the answer. */
  isProbedBy(lane: string): boolean {
    return (
      this.#until !== undefined &&
      this.#prober === lane &&
      this.#probesUntil > this.clock.monotonic()
    );
  }

  /** A request of the lane starts: while the breaker is half-open, it is the probe. */
  started(lane: string): void {
    if (this.#until === undefined) return;
    this.#prober = lane;
    this.#probesUntil = this.clock.monotonic() + PROVIDER_PROBE_LASTS;
  }

  /**
   * The provider accepts nothing.
   * @param ofLane milliseconds, as the lane has reckoned
   * @param asked the pause that the provider asked for
   */
  open(ofLane: number, asked: number | undefined, reason: string): void {
    const now = this.clock.monotonic();
    const former = this.#until ?? -Infinity;
    const isOpen = now < former;
    // Requests in flight together fail together, so they count as one.
    if (!isOpen) this.#trips++;
    const { base } = this;
    const wait = providerPause({ base, asked, ofLane, isPaused: isOpen, trips: this.#trips });
    const until = now + wait;
    if (isOpen && until <= former) return;
    this.#set(until, reason);
    if (wait < SHARED_FROM && !this.#isShared) return;
    this.#isShared = true;
    const { provider, pauses } = this;
    void pauses
      ?.pause({ provider, pausedFor: wait, reason, trips: this.#trips })
      .catch(this.#missed);
  }

  /** The provider has answered a request. One that started before the pause says nothing new. */
  passed(): void {
    if (this.#until === undefined || this.clock.monotonic() < this.#until) return;
    this.#close();
  }

  /** Takes over the pause that another process has recorded; `undefined`: there is no row. */
  read(row: ProviderPause | undefined): void {
    const now = this.clock.monotonic();
    if (now - this.#changedAt < READ_LAG) return;
    if (!row) {
      if (this.#isShared) this.#end();
      return;
    }
    const until = now + row.pausedFor;
    this.#isShared = true;
    this.#trips = Math.max(this.#trips, row.trips);
    if (this.#until === undefined || until > this.#until + READ_LAG) {
      this.#until = until;
      this.#reason = row.reason;
      this.#prober = undefined;
    }
  }

  #set(until: number, reason: string): void {
    this.#until = until;
    this.#reason = reason;
    this.#changedAt = this.clock.monotonic();
    this.#prober = undefined;
    this.#probesUntil = -Infinity;
    this.#claimedUntil = -Infinity;
  }

  #close(): void {
    const { provider, pauses } = this;
    const wasShared = this.#isShared;
    this.#end();
    if (wasShared) void pauses?.end(provider).catch(this.#missed);
  }

  #end(): void {
    this.#until = undefined;
    this.#changedAt = this.clock.monotonic();
    this.#trips = 0;
    this.#isShared = false;
  }

  #claim(): void {
    if (this.#claiming) return;
    this.#claiming = true;
    const until = this.clock.monotonic() + PROVIDER_PROBE_LASTS;
    void (this.pauses?.claim(this.provider, PROVIDER_PROBE_LASTS) ?? Promise.resolve(true))
      .then((isOurs) => {
        if (isOurs) this.#claimedUntil = until;
      })
      .catch(this.#missed)
      .finally(() => (this.#claiming = false));
  }

  /** The pause applies in this process; the next pause or read makes up for it. */
  readonly #missed = (error: unknown): void =>
    this.#logger.warn(
      `${this.provider}: pause (${this.#reason.split(':')[0]}) not shared: ${(error as Error).name}`,
    );
}

interface WatchedProvider {
  readonly breaker: ProviderBreaker;
  /** `null`: the transport knows of none; `undefined`: it does not tell. */
  readonly trouble: string | null | undefined;
}

/**
 * Reads the pauses of all providers, every second, and records what transports know by themselves, as
 * of a refused bind, before a message finds it out.
 */
export class ProviderWatch {
  readonly #logger = new Logger('Provider');
  /** Reasons that transports gave by themselves, by provider. */
  readonly #said = new Map<string, string>();
  #fails = false;

  constructor(
    private readonly pauses: Pick<ProviderPauses, 'list' | 'pause' | 'end'>,
    private readonly providers: ReadonlyMap<string, WatchedProvider>,
  ) {}

  /** After a failed read, which is logged once, the pauses stay as they were. */
  async refresh(): Promise<void> {
    try {
      const rows = new Map((await this.pauses.list()).map((row) => [row.provider, row]));
      for (const [name, provider] of this.providers) {
        await this.#note(name, provider, rows.get(name));
        provider.breaker.read(rows.get(name));
      }
      this.#fails = false;
    } catch (error) {
      if (!this.#fails) this.#logger.warn(`pauses not read: ${(error as Error).name}`);
      this.#fails = true;
    }
  }

  async #note(provider: string, { trouble }: WatchedProvider, row: ProviderPause | undefined) {
    if (trouble === undefined) return;
    const said = this.#said.get(provider);
    if (trouble !== null) {
      const reason = storable(trouble);
      this.#said.set(provider, reason);
      const isOther = row && row.pausedFor <= 0 && row.reason !== reason;
      if (!row || isOther)
        await this.pauses.pause({ provider, pausedFor: 0, reason, trips: row?.trips ?? 1 });
      return;
    }
    this.#said.delete(provider);
    // The pause was recorded by this process, or by one that has ended.
    if (row && (row.reason === said || row.pausedFor < -LONGEST_PROBING))
      await this.pauses.end(provider);
  }
}

/** Fits the rows of lanes and providers, beside a provider's name. */
export function storable(reason: string): string {
  return reason
    .slice(0, 440)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .slice(0, 220);
}
