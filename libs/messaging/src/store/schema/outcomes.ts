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
} as const;

const latency = (name: string) =>
  Object.fromEntries(
    Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, n) => [`${name}_${n}`, 'int NOT NULL']),
  );

const SUMS = {
  messages: 'int NOT NULL',
  /** Of messages that were submitted. */
  parts: 'int NOT NULL',
  /** Changes to the accepted status, and to a delivered one, by the time since the messages were due. */
  ...latency('sent'),
  ...latency('delivered'),
};

/** Columns that say which messages are counted, and the counts. */
export const OUTCOME_KEY = Object.keys(GROUPED_BY);
export const OUTCOME_SUMS = Object.keys(SUMS);

export const OUTCOME_COLUMNS = {
  /** Messages by outcome: the sums of its rows and of those of `outcome_change`. */
  outcome_hour: { ...GROUPED_BY, minutes: 'small NOT NULL', ...SUMS },
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
  outcome_change: 'part, n',
  outcome_state: 'id',
} as const;

export const OUTCOME_ENTITIES = entitiesOf(OUTCOME_COLUMNS, OUTCOME_PRIMARY_KEYS);
