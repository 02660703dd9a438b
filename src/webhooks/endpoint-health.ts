import type { AttemptOutcome } from './webhook-client.js';
import type { ActiveEndpoint } from './webhook-endpoint.cache.js';
import type { DisabledReason } from './webhooks.tables.js';

export interface HealthChange {
  readonly id: string;
  /** The URL of the attempt; the change is dropped where the endpoint has another URL by now. */
  readonly url: string;
  /** First failure since the last success, epoch milliseconds. */
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

  after({ error, startedAt, duration }: AttemptOutcome): HealthChange | undefined {
    const { id, url } = this.endpoint;
    const before = this.#failingSince;
    const failingSince = error === null ? null : (before ?? startedAt);
    this.#failingSince = failingSince;
    const change = { id, url, failingSince };
    const at = startedAt + duration;
    if (error === 'gone') return { ...change, disabled: { at, reason: 'gone' } };
    if (failingSince !== null && at - failingSince >= this.failingLimit)
      return { ...change, disabled: { at, reason: 'failing' } };
    return (before === null) === (failingSince === null) ? undefined : change;
  }
}
