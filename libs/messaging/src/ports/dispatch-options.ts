import type { Channel } from '../message/message.js';
import type { EngineFactory } from './dispatch-engine.js';
import {
  callback,
  DURATION,
  type Duration,
  duration,
  flag,
  MOMENT,
  type OptionReader,
  type ReadersOf,
  optional,
  type RateLimit,
  rateLimit,
  wholeNumber,
  withDefault,
} from './option-schema.js';

type RateOfLane = (lane: string) => RateLimit | undefined;

const rateLimitOrFunction: OptionReader<RateLimit | RateOfLane, RateLimit | RateOfLane | string> = (
  name,
  value,
) => (typeof value === 'function' ? (value as RateOfLane) : rateLimit(name, value));

/** Options of the dispatch. */
export interface DispatchOptions {
  /** Dispatch and run jobs in this process; with false, it only accepts messages. @default true */
  readonly enabled?: boolean;
  /**
   * `bullMq({ connection })` from `@dundun/messaging/bullmq`, or an engine of your own.
   * @default lanes of its own in each process, found through the database
   */
  readonly engine?: EngineFactory;
  /**
   * Limit of each lane, or a function of the lane, called several times a second, so that a changed
   * limit takes effect at once. A limit over all lanes is set at the provider. @default none
   */
  readonly rateLimit?: RateLimit | string | RateOfLane;
  /** The unit of order and rate. @default `{tenant}:{channel}` */
  readonly lane?: (of: { readonly tenant: string; readonly channel: Channel }) => string;
  /** How long a lane stays with a process that does not renew it; 1 s or more. @default '30s' */
  readonly lease?: Duration;
  /** Most requests in flight per lane. @default 32 */
  readonly concurrency?: number;
  /**
   * Tries of a message that fails while others pass; then it is `failed`, or `unknown` where the
   * provider may have it. In an outage tries do not count: as long as nothing shows that the provider
   * works (it accepts another message of the lane, or has accepted one in the last ten seconds and
   * nothing else fails, or answers a question after an uncertain one), the message is tried on, until
   * `retryFor`, `validFor` or the end of the provider's idempotency window. A try counts at its own
   * failure where that is shown by then, else at the next one. So `1` means one request where the
   * provider has accepted another message in the ten seconds before, and two where it accepts another
   * one only after the first failure. @default 8
   */
  readonly maxAttempts?: number;
  /**
   * How long after its due time a message is tried without counting failures while no other message
   * proves that the provider answers. `validFor` may end it earlier. @default '24h'
   */
  readonly retryFor?: Duration;
  /** First wait after a refusal; it doubles with jitter, up to ten minutes. @default '1s' */
  readonly backoff?: Duration;
  /** Time limit of one request. @default '30s' */
  readonly timeout?: Duration;
  /**
   * Longest wait of a stop for requests in flight. At most 2 s later, the library has stopped, or
   * an error names the part that has not; a hung database is abandoned
   * (`DatabaseShutdownTimeoutError`). @default '10s'
   */
  readonly shutdownTimeout?: Duration;
}

export const DISPATCH = {
  enabled: withDefault(flag, true),
  engine: optional(callback<EngineFactory>()),
  rateLimit: optional(rateLimitOrFunction),
  lane: optional(
    callback<(of: { readonly tenant: string; readonly channel: Channel }) => string>(),
  ),
  lease: withDefault(duration(1_000), '30s'),
  concurrency: withDefault(wholeNumber, 32),
  maxAttempts: withDefault(wholeNumber, 8),
  retryFor: withDefault(DURATION, '24h'),
  backoff: withDefault(MOMENT, '1s'),
  timeout: withDefault(MOMENT, '30s'),
  shutdownTimeout: withDefault(DURATION, '10s'),
} satisfies ReadersOf<DispatchOptions>;
