// Insights (read: all roles in their account; operators without a chosen account read all accounts)

/** What messages are grouped by; `tenant` for an operator without a chosen account. */
export const INSIGHTS_GROUPS = [
  'provider',
  'country',
  'sender',
  'channel',
  'tag',
  'category',
  'tenant',
] as const;

export type InsightsGroup = (typeof INSIGHTS_GROUPS)[number];

export const INSIGHTS_PERIODS = ['24h', '7d', '30d'] as const;

export type InsightsPeriod = (typeof INSIGHTS_PERIODS)[number];

/** `GET api/insights?period=&by=&channel=&provider=&country=&sender=&tag=` */
export interface Insights {
  readonly since: string;
  readonly until: string;
  /** Start of the period before, of equal length. */
  readonly formerSince: string;
  readonly interval: 'hour' | 'day';
  readonly by: InsightsGroup;
  readonly total: Omit<InsightsRow, 'name'>;
  /** The 100 with the most messages. */
  readonly groups: readonly InsightsRow[];
  readonly slots: readonly InsightsSlot[];
  /** Of the last 24 hours; empty for an account. */
  readonly doubts: readonly InsightsDoubt[];
}

/** A carrier whose delivery reports a second witness contradicts. */
export interface InsightsDoubt {
  readonly provider: string;
  readonly channel: string;
  readonly country: string;
  readonly reason: string;
}

export interface InsightsRow {
  /** `''`: none, or not known. */
  readonly name: string;
  readonly current: InsightsFigures;
  readonly former: InsightsFigures;
}

/** Messages by their status now; times in milliseconds from when a message was due. */
export interface InsightsFigures {
  readonly messages: number;
  readonly delivered: number;
  readonly failed: number;
  readonly parts: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** What accounts were charged for them, by currency. */
  readonly prices: readonly InsightsAmount[];
  /** What carriers charge by their `prices`; empty for people who are no operators. */
  readonly costs: readonly InsightsAmount[];
  readonly toSent: InsightsTimes | null;
  readonly toDelivered: InsightsTimes | null;
}

/** A decimal text with its currency. */
export interface InsightsAmount {
  readonly amount: string;
  readonly currency: string;
}

export interface InsightsTimes {
  readonly p50: number;
  readonly p95: number;
}

/** An hour, or 24 hours. */
export interface InsightsSlot {
  readonly start: string;
  readonly messages: number;
  readonly delivered: number;
  readonly former: { readonly messages: number; readonly delivered: number };
}
