import type { TenantQuery, Timestamp } from './common.js';

// GET api/stats → StatsAnswer

export interface StatsQuery extends TenantQuery {
  /** @default 24 hours before `until` */
  readonly since?: Timestamp;
  /** @default now */
  readonly until?: Timestamp;
  /** At most 744 hours or 366 days. @default 'hour' */
  readonly interval?: 'hour' | 'day';
  readonly channel?: string;
}

export interface StatsAnswer {
  readonly since: Timestamp;
  readonly until: Timestamp;
  readonly interval: 'hour' | 'day';
  /** One for each hour or day of UTC, also without messages. */
  readonly series: readonly StatsPoint[];
  /** The sums of the series. */
  readonly funnel: Outcomes;
  /** The sums of each channel that has messages: together the funnel. */
  readonly channels: readonly ChannelOutcomes[];
  /** Failed messages by channel, status and error, most first, at most 20 rows. */
  readonly failures: readonly Failure[];
  /** The newest 200,000 messages are counted, those since this time; `null`: all of the period. */
  readonly countedSince: Timestamp | null;
  /** Times of the newest messages of the period; `null` without reports. */
  readonly latency: Latency | null;
  /** Milliseconds until a newer answer can be had; `null`: this one was read for the request. */
  readonly readAgainIn: number | null;
}

export interface StatsPoint extends Outcomes {
  readonly start: Timestamp;
  /** The accepted messages by their present status, without zeros. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Accepted messages by their present status: `delivered`, `failed`, `cancelled`, `unknown` and
 * `onTheWay` together are `accepted`.
 */
export interface Outcomes {
  readonly accepted: number;
  /** Those that a provider accepted, whatever became of them. */
  readonly sent: number;
  /** Reached their recipient, such as `delivered` or `completed`. */
  readonly delivered: number;
  /** Those of the delivered ones that were read. */
  readonly read: number;
  readonly failed: number;
  readonly cancelled: number;
  /** The answer of the provider was lost. */
  readonly unknown: number;
  readonly onTheWay: number;
}

export interface ChannelOutcomes extends Outcomes {
  readonly channel: string;
}

export interface Failure {
  readonly channel: string;
  readonly status: string;
  readonly errorCode: string | null;
  /** The error in words. */
  readonly reason: string | null;
  readonly messages: number;
}

/** Milliseconds. */
export interface Latency {
  /** Number of messages behind it. */
  readonly messages: number;
  /** From the acceptance to the provider's acceptance. */
  readonly toSent: Percentiles | null;
  /** From the acceptance to the delivery. */
  readonly toDelivered: Percentiles | null;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

// GET api/changes?since=<cursor> → ChangesAnswer

export interface ChangesQuery extends TenantQuery {
  /** `cursor` of the answer before. @default answers the present cursor without changes */
  readonly since?: string;
}

/** Cheap: three index look-ups where nothing changed. */
export interface ChangesAnswer {
  readonly cursor: string;
  /** Anything changed since the cursor. */
  readonly changed: boolean;
  /** Newest batches accepted since; at most 100. */
  readonly batches: readonly string[];
  /** Messages with a new status or event since; at most 500. */
  readonly messages: readonly string[];
  /** More changed than `batches` and `messages` name: read the lists again. */
  readonly more: boolean;
}
