import { Injectable } from '@nestjs/common';

const ZERO = { accepted: 0, refused: 0, reports: 0, unmapped: 0, messages: 0, unreadable: 0 };

/** Counts of one endpoint since the process started. */
export interface CallbackCount {
  /** Callbacks answered 2xx. */
  readonly accepted: number;
  /** Callbacks not answered 2xx: failed verification, unreadable, too large, not committed. */
  readonly refused: number;
  readonly reports: number;
  /** Reports whose status has no mapping. They are stored raw and change no message. */
  readonly unmapped: number;
  /** Inbound messages, repeated ones included. */
  readonly messages: number;
  /** Entries that could not be read in callbacks with other readable entries. */
  readonly unreadable: number;
}

/** Counts callbacks by endpoint, for the metrics of the app. */
@Injectable()
export class CallbackCounts {
  readonly #counts = new Map<string, CallbackCount>();

  /** Counts by name of the provider; `default` is the callback path itself. */
  snapshot(): ReadonlyMap<string, CallbackCount> {
    return new Map(this.#counts);
  }

  add(endpoint: string, more: Partial<CallbackCount>): void {
    const count = { ...(this.#counts.get(endpoint) ?? ZERO) };
    for (const name of Object.keys(ZERO) as (keyof CallbackCount)[]) count[name] += more[name] ?? 0;
    this.#counts.set(endpoint, count);
  }
}
