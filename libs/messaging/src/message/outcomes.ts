import type { Percentiles, TenantsOption } from './views.js';

/** What outcomes can be grouped by. */
export const OUTCOME_GROUPS = [
  'channel',
  'provider',
  'country',
  'sender',
  'tag',
  'category',
  'tenant',
] as const;

export type OutcomeGroup = (typeof OUTCOME_GROUPS)[number];

/** Messages whose columns have these values; `''` is a value. */
export type OutcomeFilter = Partial<Readonly<Record<Exclude<OutcomeGroup, 'tenant'>, string>>>;

export interface OutcomesOptions extends TenantsOption {
  /** By the acceptance of messages; rounded down to a whole hour. */
  readonly since: Date;
  /** Rounded up to a whole hour, at most 400 days after `since`. @default now */
  readonly until?: Date | undefined;
  readonly by: OutcomeGroup;
  readonly where?: OutcomeFilter | undefined;
  /** Groups with the most messages that are answered; at most 500. @default 100 */
  readonly limit?: number | undefined;
}

/** A sum of money, as a decimal text with two to six digits after the point. */
export interface OutcomeAmount {
  readonly amount: string;
  readonly currency: string;
}

/** Messages that were submitted or refused, by their status now. */
export interface OutcomeFigures {
  readonly messages: number;
  /** Those that reached their recipient, and those that did not; others are on the way. */
  readonly delivered: number;
  readonly failed: number;
  /** Of submitted messages. */
  readonly parts: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** What the spend guard charged for them, less what it gave back; by currency, which are never added. */
  readonly prices: readonly OutcomeAmount[];
  /** What their providers charge by the option `prices`, for messages that they have taken. */
  readonly costs: readonly OutcomeAmount[];
  /** Milliseconds from the time when a message was due, interpolated in the classes of a histogram. */
  readonly toSent: Percentiles | null;
  readonly toDelivered: Percentiles | null;
}

export interface OutcomesOfGroup {
  /** A provider, a country …; `''`: none, or not known. */
  readonly name: string;
  readonly current: OutcomeFigures;
  readonly former: OutcomeFigures;
}

export interface OutcomesOfSlot {
  readonly start: Date;
  readonly messages: number;
  readonly delivered: number;
  /** The same of the former period. */
  readonly former: { readonly messages: number; readonly delivered: number };
}

/** Outcomes of a period, and of the one of equal length before it. */
export interface Outcomes {
  readonly since: Date;
  readonly until: Date;
  readonly formerSince: Date;
  readonly interval: 'hour' | 'day';
  readonly total: Omit<OutcomesOfGroup, 'name'>;
  /** The largest first. */
  readonly groups: readonly OutcomesOfGroup[];
  /** Hours of a period of up to four days, else spans of 24 hours from `since` on. */
  readonly slots: readonly OutcomesOfSlot[];
}

/** What became of the messages that were accepted in a span of time. Times are epoch milliseconds. */
export interface OutcomeSpan {
  readonly start: number;
  readonly end: number;
  readonly delivered: number;
  readonly failed: number;
  /** Without a report that decides. */
  readonly open: number;
}

/** Messages of one provider, channel and country. */
export interface RecentOutcomes {
  readonly provider: string;
  readonly channel: string;
  /** ISO 3166 code; `''`: none, or not known. */
  readonly country: string;
  /** Milliseconds after which 95 of 100 deliveries were reported; `null`: there was none. */
  readonly p95: number | null;
  /** Reported deliveries, and those of them that were reported within half a second. */
  readonly deliveries: number;
  readonly fast: number;
  /** The newest first. */
  readonly spans: readonly OutcomeSpan[];
}

export interface DeliveredSharesOptions extends TenantsOption {
  /** By the acceptance of messages; rounded down to 5 minutes. */
  readonly since: Date;
  /** Rounded down to 5 minutes, at most a day after `since`. */
  readonly until: Date;
  /** Milliseconds from when a message was due; rounded down to a bound of the histogram, such as 5 minutes. */
  readonly within: number;
  /** Days before with the same hours, 1 to 30. @default 7 */
  readonly days?: number | undefined;
  readonly where?: Pick<OutcomeFilter, 'channel' | 'provider' | 'country'> | undefined;
}

export interface DeliveredCount {
  readonly messages: number;
  /** Those that were delivered within the time. */
  readonly delivered: number;
}

/** Of the messages that a provider took to a country. */
export interface DeliveredShare extends DeliveredCount {
  readonly provider: string;
  /** `''`: none, or not known. */
  readonly country: string;
  /** The same hours of each day before, the newest first; whole hours. */
  readonly days: readonly DeliveredCount[];
}
