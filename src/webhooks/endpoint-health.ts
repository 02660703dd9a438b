import type { AttemptOutcome } from './webhook-attempt.js';
import type { ActiveEndpoint } from './webhook-endpoint.cache.js';
import type { DisabledReason } from './webhook-endpoint.entity.js';

/** What an attempt changed about its endpoint. */
export interface EndpointNews {
  readonly id: string;
  /** Where it was sent to: of an endpoint that has moved on since, it is no news. */
  readonly url: string;
  /** First failure since the last success, epoch milliseconds; `null`: it works. */
  readonly failingSince: number | null;
  readonly disabled?: { readonly at: number; readonly reason: DisabledReason };
}

/** Decides from its attempts whether an endpoint works, fails, or has failed for too long. */
export class EndpointHealth {
  #failingSince: number | null;

  constructor(
    private readonly endpoint: Pick<ActiveEndpoint, 'id' | 'url' | 'failingSince'>,
    private readonly failingLimit: number,
  ) {
    this.#failingSince = endpoint.failingSince;
  }

  /** What is new after an attempt; `undefined` where nothing is, as nearly always. */
  after({ error, startedAt, duration }: AttemptOutcome): EndpointNews | undefined {
    const { id, url } = this.endpoint;
    const ended = startedAt + duration;
    if (error === null) {
      if (this.#failingSince === null) return undefined;
      this.#failingSince = null;
      return { id, url, failingSince: null };
    }
    const first = this.#failingSince === null;
    this.#failingSince ??= startedAt;
    const news = { id, url, failingSince: this.#failingSince };
    const reason = this.#reasonToDisable(error, ended);
    if (reason) return { ...news, disabled: { at: ended, reason } };
    return first ? news : undefined;
  }

  #reasonToDisable(error: AttemptOutcome['error'], now: number): DisabledReason | undefined {
    if (error === 'gone') return 'gone';
    const failing = now - (this.#failingSince ?? now);
    return failing >= this.failingLimit ? 'failing' : undefined;
  }
}
