import type { DispatchOptions } from '../../../libs/messaging/src/index.js';

/** One acceptance in the upstream's book. */
export interface BookEntry {
  readonly key: string;
  readonly body: string;
  readonly reference: string;
  readonly recipients: readonly string[];
  /** The same key and body again, answered and not taken again. */
  repeats: number;
  /** The same key with another body. */
  conflicts: number;
}

export interface Faults {
  readonly honoursKeys: boolean;
  /** Most milliseconds until an answer. */
  readonly latency: number;
  /** Share of the requests, 0 to 1, with a wrong answer before or after acceptance. */
  readonly wrong: number;
  /** Take the next request in, say so, and never answer it. */
  readonly hold: boolean;
  /** How often the line of each number is busy before it is answered; polls tell. */
  readonly busy: number;
  /** Share of the requests, 0 to 1, that are refused with 429; every second refusal asks for a second. */
  readonly throttled: number;
}

/** `refusing`: it listens no more; `hanging`: it answers nothing, and takes nothing in. */
export type Outage = 'none' | 'refusing' | 'hanging';

/** Points at which a test can stop a process of the app, in the order in which a message passes them. */
export const POINTS = [
  'after-accept',
  'before-intent',
  'after-intent',
  'on-the-wire',
  'response-read',
  'before-outcome',
  'after-outcome',
] as const;

/** How long a blocked event loop stands still, in milliseconds: longer than its lease. */
export const BLOCKED = 3_000;

/**
 * `inside-intent`: the database has been asked, and its answer is not read. `before-report` and
 * `after-report`: reports that were polled are not in the store yet, and are in it. `before-step`,
 * `inside-step`, `after-step`: in the transaction that begins a notification's next step, before
 * and after its message is stored, and after the commit.
 */
export type Point =
  | (typeof POINTS)[number]
  | 'inside-intent'
  | 'before-report'
  | 'after-report'
  | 'before-step'
  | 'inside-step'
  | 'after-step';

/** Fault of a process at a point: it dies, freezes, or its event loop blocks for a while. */
export type Fault = 'SIGKILL' | 'SIGSTOP' | 'block';

export interface AppSettings {
  /** Redis of BullMQ, where that is the engine. */
  readonly redis?: string;
  /** Decides the jitter of this process. */
  readonly seed: number;
  /** `sqlite:PATH`, `postgres://…` or `mysql://…`. */
  readonly database: string;
  readonly upstream: string;
  /** A second upstream, which gets what the first refuses. */
  readonly next?: string;
  readonly honoursKeys: boolean;
  /** @default 'sms' */
  readonly channel?: 'sms' | 'voice';
  /** Dials again a second after a busy line, and polls for it. @default false */
  readonly redials?: boolean;
  /** Tenants pay a credit for each message, from the tables of the example. @default false */
  readonly pays?: boolean;
  readonly options: Pick<DispatchOptions, 'concurrency' | 'rateLimit' | 'lease' | 'backoff'>;
}

export interface OrderAppSettings {
  /** `sqlite:PATH`, `postgres://…` or `mysql://…`. */
  readonly database: string;
  /** Address of the operator's process. */
  readonly operator: string;
}

export interface NotificationAppSettings {
  /** `sqlite:PATH`, `postgres://…` or `mysql://…`. */
  readonly database: string;
  /** File with a line for each SMS that the provider took. */
  readonly book: string;
}

export interface Send {
  readonly key: string;
  readonly tenant: string;
  readonly to: readonly string[];
}

/** Injects the fault at the `nth` passage of `point` from now on. */
export interface Arming {
  readonly point: Point;
  readonly nth: number;
  readonly fault: Fault;
  /** A directory: only the process that creates it gets the fault. */
  readonly claim?: string;
}

export type AppCommand =
  | { readonly command: 'send'; readonly sends: readonly Send[] }
  | ({ readonly command: 'arm' } & Arming)
  /** Block the event loop now. */
  | { readonly command: 'block' }
  | { readonly command: 'disarm' };

export type AppEvent =
  | { readonly event: 'ready' }
  /** A send is about to begin, perhaps not for the first time; `at` is the machine's monotonic clock in milliseconds. */
  | { readonly event: 'calling'; readonly key: string; readonly at: number }
  /** The send has resolved; `at` as above. */
  | {
      readonly event: 'accepted';
      readonly key: string;
      readonly id: string;
      readonly at?: number;
    }
  | { readonly event: 'refused'; readonly key: string; readonly error: string }
  /** The event loop stood still, and goes on. */
  | { readonly event: 'blocked' }
  /** A request is about to start; `at` is the machine's monotonic clock in milliseconds. */
  | {
      readonly event: 'starting';
      readonly key: string;
      readonly messages: number;
      readonly at: number;
    }
  /** A request has ended; `at` as above. */
  | {
      readonly event: 'answered';
      readonly key: string;
      readonly answer: Answer;
      readonly at: number;
    };

/**
 * `throttled` and `refused`: not taken now; `throttled in doubt`: by an answer that may be a proxy's, so
 * that the service may have taken it; `final`: accepted, or refused for good.
 */
export type Answer =
  | 'final'
  | 'throttled'
  | 'throttled in doubt'
  | 'refused'
  | 'deferred'
  | 'uncertain';

/** Milliseconds of the machine's monotonic clock, the same in every process of it. */
export function moment(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
