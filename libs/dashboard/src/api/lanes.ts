import type { Timestamp } from './common.js';

// GET api/lanes → LanesAnswer, POST api/lanes/:lane/resume → LanesAnswer (needs `operate` and `act`)

/** Lanes that are paused, held, or in doubt, or have due work. */
export interface LanesAnswer {
  readonly data: readonly LaneItem[];
}

export interface LaneItem {
  readonly lane: string;
  readonly state: 'working' | 'waiting' | 'paused' | 'held';
  /** Milliseconds since the oldest due message was due. */
  readonly waiting: number;
  readonly pause: {
    readonly provider: string | null;
    /** Such as `unauthorized`. */
    readonly reason: string | null;
    readonly title: string;
    readonly remedy: string | null;
    readonly until: Timestamp | null;
  } | null;
  readonly hold: {
    readonly reason: string;
    readonly title: string;
    readonly remedy: string;
    readonly since: Timestamp;
  } | null;
  /** Submissions without an answer, which their provider may have; `null`: there are none. */
  readonly doubt: {
    readonly submissions: number;
    /** First start of the oldest of them. */
    readonly since: Timestamp;
    /** Error code of the newest of them, such as `answer_lost`, in words. */
    readonly reason: string;
    readonly title: string;
  } | null;
}

// GET api/providers → ProvidersAnswer (needs `operate`)

export interface ProvidersAnswer {
  readonly data: readonly ProviderItem[];
}

export interface ProviderItem {
  readonly name: string;
  readonly simulator: boolean;
  /** Its channels; `null`: every one that a route gives it. */
  readonly channels: readonly string[] | null;
  /** Most messages in a time; `null`: unlimited. */
  readonly rateAllowed: { readonly max: number; /** Milliseconds. */ readonly per: number } | null;
  /** Messages that it accepted per second, over the last ten, of all processes. */
  readonly rateNow: number;
  /** Requests without an outcome, of all processes. */
  readonly inFlight: number;
  /** Most requests at a time of one process; `null`: unlimited. */
  readonly connections: number | null;
  /** Connections that all processes hold and may hold, where it limits them; `null`: it does not. */
  readonly places: { readonly taken: number; readonly most: number } | null;
  /** Lanes that rest because of this provider. */
  readonly pausedLanes: readonly string[];
  /** The reason of the first of them in words. */
  readonly pause: string | null;
}
