import { MessagingConfigError } from '../message/errors.js';
import {
  group,
  list,
  oneOf,
  optional,
  type OptionReader,
  type RateLimit,
  rateLimit,
  type ReadersOf,
  textLike,
  wholeNumber,
  withDefault,
} from './option-schema.js';

/** What becomes of a send over a limit, from the strictest on. */
const ACTIONS = ['deny', 'hold', 'alert'] as const;

/**
 * `deny`: the send is refused as a whole with a `GuardRefusedError`. `hold`: it is accepted, and its lane
 * is held until an operator releases it. `alert`: it is sent. The app hears of each.
 */
export type GuardAction = (typeof ACTIONS)[number];

export type GuardRule = 'countries' | 'recipient' | 'prefix' | 'range' | 'growth';

export interface GuardLimit {
  /** Such as `'10/h'`, in windows that begin with the first message; at most `7d` long. */
  readonly limit: RateLimit | string;
  /** @default 'deny' */
  readonly action?: GuardAction;
}

/** What a tenant may send, against abuse of its credentials. What has no rule has no limit. */
export interface GuardRules {
  /** Countries of phone numbers, by their ISO 3166 codes: only these, or all but these. */
  readonly countries?: {
    readonly only?: readonly string[];
    readonly except?: readonly string[];
    /** @default 'deny' */
    readonly action?: GuardAction;
  };
  /** Messages to one recipient. */
  readonly recipient?: GuardLimit;
  /** Messages to phone numbers that differ in their last four digits only. */
  readonly prefix?: GuardLimit;
  /** Different numbers of one hundred that follow each other, as pumping of traffic uses them. */
  readonly range?: GuardLimit;
  /**
   * Messages of an hour: more than `factor` times those of the busiest hour of the last 14 days, and
   * more than `from`. Needs `store.outcomes: true`.
   */
  readonly growth?: {
    readonly factor: number;
    readonly from: number;
    /** @default 'deny' */
    readonly action?: GuardAction;
  };
}

/** Something over a limit. It has no address. */
export interface GuardFinding {
  readonly tenant: string;
  readonly channel: string;
  readonly rule: GuardRule;
  readonly action: GuardAction;
  /** A sentence for operators. */
  readonly reason: string;
  readonly at: Date;
}

/** Rows of windows are kept for so long, in milliseconds. */
const LONGEST = 7 * 86_400_000;

const action = withDefault(oneOf(...ACTIONS), 'deny');

const window: OptionReader<ReturnType<typeof rateLimit>, RateLimit | string> = (name, value) => {
  const read = rateLimit(name, value);
  if (read.per <= LONGEST) return read;
  throw new MessagingConfigError(`${name}: must have a window of at most 7d`);
};

const LIMIT = { limit: window, action } satisfies ReadersOf<GuardLimit>;

const factor: OptionReader<number> = (name, value) => {
  if (typeof value === 'number' && value >= 1 && value <= 1_000) return value;
  throw new MessagingConfigError(`${name}: must be a number from 1 to 1000`);
};

const countryCodes = list(textLike(/^[A-Z]{2}$/, 'two capital letters, such as NG'));

const readCountries = group({
  only: optional(countryCodes),
  except: optional(countryCodes),
  action,
} satisfies ReadersOf<NonNullable<GuardRules['countries']>>);

const countries: OptionReader<ReturnType<typeof readCountries>, GuardRules['countries']> = (
  name,
  value,
) => {
  const read = readCountries(name, value);
  if ((read.only === undefined) !== (read.except === undefined)) return read;
  throw new MessagingConfigError(`${name}: must have either only or except, such as only: ['NG']`);
};

const RULES = {
  countries: optional(countries),
  recipient: optional(group(LIMIT)),
  prefix: optional(group(LIMIT)),
  range: optional(group(LIMIT)),
  growth: optional(group({ factor, from: wholeNumber, action })),
} satisfies ReadersOf<GuardRules>;

export const readGuardRules = group(RULES);

/** @throws MessagingConfigError naming the rule and the remedy */
export function checkGuardRules(name: string, rules: unknown): void {
  readGuardRules(name, rules);
}

/** Windows in milliseconds. */
export type GuardSettings = ReturnType<typeof readGuardRules>;
