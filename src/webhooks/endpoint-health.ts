import type { AttemptOutcome } from './webhook-attempt.js';
import type { DisabledReason } from './webhook-endpoint.entity.js';

/** What an attempt changed about its endpoint. */
export interface EndpointNews {
  readonly id: string;
  /** First failure since the last success, epoch milliseconds; `null`: it works. */
  readonly failingSince: number | null;
  readonly disabled?: { readonly at: number; readonly reason: DisabledReason };
}

/** Decides from its attempts whether an endpoint works, fails, or has failed for too long. */
export class EndpointHealth {
  constructor(
    private readonly id: string,
    private failingSince: number | null,
    private readonly failingLimit: number,
  ) {}

  /** What is new after an attempt; `undefined` where nothing is, as nearly always. */
  after({ error, startedAt, duration }: AttemptOutcome): EndpointNews | undefined {
    const ended = startedAt + duration;
    if (error === null) {
      if (this.failingSince === null) return undefined;
      this.failingSince = null;
      return { id: this.id, failingSince: null };
    }
    const first = this.failingSince === null;
    this.failingSince ??= startedAt;
    const reason = this.#reasonToDisable(error, ended);
    if (reason)
      return { id: this.id, failingSince: this.failingSince, disabled: { at: ended, reason } };
    return first ? { id: this.id, failingSince: this.failingSince } : undefined;
  }

  #reasonToDisable(error: AttemptOutcome['error'], now: number): DisabledReason | undefined {
    if (error === 'gone') return 'gone';
    const failing = now - (this.failingSince ?? now);
    return failing >= this.failingLimit ? 'failing' : undefined;
  }
}
