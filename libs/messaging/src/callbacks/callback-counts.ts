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

const NONE: CallbackCount = {
  accepted: 0,
  refused: 0,
  reports: 0,
  unmapped: 0,
  messages: 0,
  unreadable: 0,
};

/** Callbacks counted by endpoint, for the app's own metrics. */
@Injectable()
export class CallbackCounts {
  readonly #counts = new Map<string, CallbackCount>();

  /** By name of the provider; `default` is the callback path itself. */
  snapshot(): ReadonlyMap<string, CallbackCount> {
    return new Map(this.#counts);
  }

  add(endpoint: string, more: Partial<CallbackCount>): void {
    const known = this.#counts.get(endpoint) ?? NONE;
    this.#counts.set(endpoint, {
      accepted: known.accepted + (more.accepted ?? 0),
      refused: known.refused + (more.refused ?? 0),
      reports: known.reports + (more.reports ?? 0),
      unmapped: known.unmapped + (more.unmapped ?? 0),
      messages: known.messages + (more.messages ?? 0),
      unreadable: known.unreadable + (more.unreadable ?? 0),
    });
  }
}
