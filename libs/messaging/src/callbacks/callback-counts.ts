import { Injectable } from '@nestjs/common';

/** Counts of one endpoint since the process started. */
export interface CallbackCount {
  /** Callbacks answered 2xx. */
  readonly accepted: number;
  /** Callbacks not answered 2xx: failed verification, unreadable, too large, not committed. */
  readonly refused: number;
  /** Reports stored. */
  readonly reports: number;
  /** Reports whose status has no mapping. They are stored raw and change no message. */
  readonly unmapped: number;
  /** Inbound messages, repeated ones included. */
  readonly messages: number;
  /** Entries that could not be read in callbacks with other readable entries. */
  readonly unreadable: number;
}

type Counting = { -readonly [name in keyof CallbackCount]: number };

/** Counts callbacks by endpoint, for the metrics of the app. */
@Injectable()
export class CallbackCounts {
  readonly #counts = new Map<string, Counting>();

  /** Counts by name of the provider; `default` is the callback path itself. */
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
