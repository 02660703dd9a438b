import type { AttemptOutcome } from './webhook-attempt.js';
import type { ActiveEndpoint } from './webhook-endpoint.cache.js';
import type { DisabledReason } from './webhooks.tables.js';

/** A change of an endpoint's state after an attempt. */
export interface HealthChange {
  readonly id: string;
  /** The URL of the attempt; the change is dropped where the endpoint has another URL by now. */
  readonly url: string;
  /**
   * First failure since the last success, epoch milliseconds; `null`: the last attempt succeeded.
   */
  readonly failingSince: number | null;
  readonly disabled?: { readonly at: number; readonly reason: DisabledReason };
}

/** Derives an endpoint's state from its attempts: working, failing, or failing for too long. */
export class EndpointHealth {
  #failingSince: number | null;

  constructor(
    private readonly endpoint: Pick<ActiveEndpoint, 'id' | 'url' | 'failingSince'>,
    private readonly failingLimit: number,
  ) {
    this.#failingSince = endpoint.failingSince;
  }

  /** The change after an attempt; `undefined`: none. */
  after({ error, startedAt, duration }: AttemptOutcome): HealthChange | undefined {
    const { id, url } = this.endpoint;
    const ended = startedAt + duration;
    if (error === null) {
      if (this.#failingSince === null) return undefined;
      this.#failingSince = null;
      return { id, url, failingSince: null };
    }
    const isFirst = this.#failingSince === null;
    this.#failingSince ??= startedAt;
    const change = { id, url, failingSince: this.#failingSince };
    const reason = this.#reasonToDisable(error, ended);
    if (reason) return { ...change, disabled: { at: ended, reason } };
    return isFirst ? change : undefined;
  }

  #reasonToDisable(error: AttemptOutcome['error'], now: number): DisabledReason | undefined {
    if (error === 'gone') return 'gone';
    const failing = now - (this.#failingSince ?? now);
    return failing >= this.failingLimit ? 'failing' : undefined;
  }
}
