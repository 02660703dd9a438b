import type { MessageContent } from '../message/message.js';
import type { GuardFinding, GuardRules } from './guard-options.js';
import type { PolicyItem } from './messaging-policy.js';
import {
  callback,
  DURATION,
  type Duration,
  group,
  list,
  type ReadersOf,
  optional,
  type RateLimit,
  readRate,
  record,
  text,
  withDefault,
} from './option-schema.js';

/**
 * Hours in which messages to phone numbers wait, in the recipient's local time: every SMS and WhatsApp
 * message, and calls of the category `marketing`. One-time codes, orders and emails do not wait.
 */
export interface QuietHoursOptions {
  /** First quiet minute, such as `'21:00'`. */
  readonly from: string;
  /** First minute after the quiet hours, such as `'08:00'`. */
  readonly to: string;
  /**
   * IANA time zones that a number may be in: quiet in one is quiet. Other addresses have no quiet
   * hours. @default all zones of the number's country
   */
  readonly timeZones?: (phone: string) => readonly string[];
}

const QUIET_HOURS = {
  from: text,
  to: text,
  timeZones: optional(callback<(phone: string) => readonly string[]>()),
} satisfies ReadersOf<QuietHoursOptions>;

/** The policies that run, their order, and the settings of the built-in ones. */
export interface PolicyOptions {
  /** Names of policies that do not run. @default none */
  readonly remove?: readonly string[];
  /** Policies to ask first, in this order; the others follow in their usual order. */
  readonly order?: readonly string[];
  /**
   * Channels that need an opt-in, such as `sms`, beside those that always do: WhatsApp, and email of the
   * category `marketing`. @default no others
   */
  readonly optIn?: readonly string[];
  /** @default off */
  readonly quietHours?: QuietHoursOptions;
  readonly serviceWindow?: {
    /** Time before the end of the 24-hour window at which it counts as closed. @default '1m' */
    readonly margin?: Duration;
    /** Content that replaces the message outside the window; `undefined`: the message is denied. */
    readonly substitute?: (item: PolicyItem) => MessageContent | undefined;
  };
  /**
   * By channel (`sms`) or price category (`marketing`): at most `max` messages of it to a recipient
   * in any window of `per`. Its index, of `FREQUENCY_CAP_MIGRATIONS` (automatic with `migrate`),
   * slows every message down. @default off
   */
  readonly frequencyCap?: Readonly<Record<string, RateLimit>>;
  /**
   * Limits of a tenant against abuse of its credentials. Called for each send: it answers from memory,
   * with the same object while the rules are the same. @default no limits
   */
  readonly guard?: (tenant: string) => GuardRules | undefined;
  /** Hears of what is over a limit of `guard`. It must not throw. @default a warning in the log */
  readonly onFinding?: (finding: GuardFinding) => void;
}

export const POLICY = {
  remove: withDefault(list(text), []),
  order: withDefault(list(text), []),
  optIn: withDefault(list(text), []),
  quietHours: optional(group(QUIET_HOURS)),
  serviceWindow: group({
    margin: withDefault(DURATION, '1m'),
    substitute: optional(callback<(item: PolicyItem) => MessageContent | undefined>()),
  }),
  frequencyCap: optional(record(readRate)),
  guard: optional(callback<(tenant: string) => GuardRules | undefined>()),
  onFinding: optional(callback<(finding: GuardFinding) => void>()),
} satisfies ReadersOf<PolicyOptions>;
