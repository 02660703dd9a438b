import { LATENCY_BOUNDS } from '../rows/latency.js';
import { entitiesOf } from './columns.js';

/** What the counts of messages are kept by; `''`: none, or not known. */
const GROUPED_BY = {
  /** Acceptance of the messages, rounded down to 5 minutes or an hour; epoch microseconds. */
  start: 'big NOT NULL',
  tenant: 'key NOT NULL',
  channel: 'short(16) NOT NULL',
  /** Of the last submission; '': never submitted. */
  provider: 'short(32) NOT NULL',
  /** ISO 3166 code of the recipient's country. */
  country: 'short(2) NOT NULL',
  sender: 'key NOT NULL',
  /** The template of the content, else the first tag. */
  tag: 'short(64) NOT NULL',
  category: 'short(32) NOT NULL',
  /** The rank that the messages have now. */
  status: 'small NOT NULL',
  /** Of the price; '': no price. */
  currency: "short(3) NOT NULL DEFAULT ''",
  /** Of the cost; '': no cost, or not known. */
  cost_currency: "short(3) NOT NULL DEFAULT ''",
} as const;

const latency = (name: string) =>
  Object.fromEntries(
    Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, n) => [`${name}_${n}`, 'int NOT NULL']),
  );

const SUMS = {
  messages: 'int NOT NULL',
  /** Of messages that were submitted. */
  parts: 'int NOT NULL',
  /** What the spend guard charged, less what it gave back, in millionths. */
  price: 'big NOT NULL DEFAULT 0',
  /** What providers charge by their option `prices`, in millionths. */
  cost: 'big NOT NULL DEFAULT 0',
  /** Changes to the accepted status, and to a delivered one, by the time since the messages were due. */
  ...latency('sent'),
  ...latency('delivered'),
};

/** Columns that say which messages are counted, and the counts. */
export const OUTCOME_KEY = Object.keys(GROUPED_BY);
export const OUTCOME_SUMS = Object.keys(SUMS);
/** Those of them that are millionths. */
export const OUTCOME_AMOUNTS: ReadonlySet<string> = new Set(['price', 'cost']);

const { tenant: _tenant, sender: _sender, tag: _tag, ...TOTALLED_BY } = GROUPED_BY;

/** The same of the totals of all tenants. */
export const TOTAL_KEY = Object.keys(TOTALLED_BY);

export const OUTCOME_COLUMNS = {
  /** Messages by outcome: the sums of its rows and of those of `outcome_change`. */
  outcome_hour: { ...GROUPED_BY, minutes: 'small NOT NULL', ...SUMS },
  /** The sums of `outcome_hour` over tenants, senders and tags, of which there are many. */
  outcome_total: { ...TOTALLED_BY, minutes: 'small NOT NULL', ...SUMS },
  /** What changes of statuses add to `outcome_hour`; a fold moves it there. */
  outcome_change: {
    /** All that one group of changes has written. */
    part: 'uuid NOT NULL',
    n: 'int NOT NULL',
    ...GROUPED_BY,
    ...SUMS,
  },
  /** One row. Its lock lets one process at a time fold or rebuild. */
  outcome_state: {
    id: 'small NOT NULL',
    /** Acceptance of the newest batch that retention has erased; epoch microseconds. */
    purged_until: 'big NOT NULL',
  },
};

export const OUTCOME_PRIMARY_KEYS = {
  outcome_hour: [...OUTCOME_KEY, 'minutes'].join(', '),
  outcome_total: [...TOTAL_KEY, 'minutes'].join(', '),
  outcome_change: 'part, n',
  outcome_state: 'id',
} as const;

/** SQL: sums rows of `outcome_hour` into `outcome_total`. @param where which rows */
export function intoTotals(where = '1 = 1'): string {
  const row = [...TOTAL_KEY, 'minutes'].join(', ');
  const sums = OUTCOME_SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ');
  return `INSERT INTO messaging_outcome_total (${row}, ${OUTCOME_SUMS.join(', ')})
    SELECT ${row}, ${sums} FROM messaging_outcome_hour WHERE ${where} GROUP BY ${row}`;
}

export const OUTCOME_ENTITIES = entitiesOf(OUTCOME_COLUMNS, OUTCOME_PRIMARY_KEYS);
