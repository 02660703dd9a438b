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
  readonly funnel: Funnel;
  /** The newest 200,000 messages are counted, those since this time; `null`: all of the period. */
  readonly countedSince: Timestamp | null;
  /** Times of the newest messages of the period; `null` without reports. */
  readonly latency: Latency | null;
  /** Milliseconds until a newer answer can be had; `null`: this one was read for the request. */
  readonly readAgainIn: number | null;
}

export interface StatsPoint {
  readonly start: Timestamp;
  /** Messages accepted in it. */
  readonly accepted: number;
  /** Those of them that had the status or event at least once, without zeros. */
  readonly counts: Readonly<Record<string, number>>;
  /** Accepted messages that reached their recipient, did not, or were cancelled; others are on the way. */
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Messages that reached at least this step. */
export interface Funnel {
  readonly accepted: number;
  readonly sent: number;
  readonly delivered: number;
  readonly read: number;
  readonly failed: number;
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
