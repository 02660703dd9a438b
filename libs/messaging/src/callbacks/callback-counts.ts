import { Injectable } from '@nestjs/common';

/** What came in at one endpoint since the process started. */
export interface CallbackCount {
  /** Callbacks answered 2xx. */
  readonly accepted: number;
  /** Callbacks answered otherwise: unproven, unreadable, too large, not committed. */
  readonly refused: number;
  /** Reports stored. */
  readonly reports: number;
  /** Of these, reports whose status nobody mapped: stored raw, they moved nothing. */
  readonly unmapped: number;
  /** Messages people wrote, repeated ones included. */
  readonly messages: number;
  /** Entries that could not be read, beside others that could. */
  readonly unreadable: number;
}

type Counting = { -readonly [name in keyof CallbackCount]: number };

/** Callbacks counted by endpoint, for the app's own metrics. */
@Injectable()
export class CallbackCounts {
  readonly #counts = new Map<string, Counting>();

  /** By name of the provider; `default` is the callback path itself. */
  snapshot(): ReadonlyMap<string, CallbackCount> {
    return new Map([...this.#counts].map(([endpoint, count]) => [endpoint, { ...count }]));
  }

  add(endpoint: string, more: Partial<CallbackCount>): void {
    let count = this.#counts.get(endpoint);
    if (!count) {
      count = { accepted: 0, refused: 0, reports: 0, unmapped: 0, messages: 0, unreadable: 0 };
      this.#counts.set(endpoint, count);
    }
    count.accepted += more.accepted ?? 0;
    count.refused += more.refused ?? 0;
    count.reports += more.reports ?? 0;
    count.unmapped += more.unmapped ?? 0;
    count.messages += more.messages ?? 0;
    count.unreadable += more.unreadable ?? 0;
  }
}
