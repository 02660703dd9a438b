import type { MessageContent } from '../message/message.js';
import type { PolicyItem } from './messaging-policy.js';
import {
  callback,
  DURATION,
  group,
  list,
  type OptionsOf,
  optional,
  readRate,
  record,
  text,
  withDefault,
} from './option-schema.js';

const QUIET_HOURS = {
  /** First quiet minute, such as `'21:00'`. */
  from: text,
  /** First minute after the quiet hours, such as `'08:00'`. */
  to: text,
  /**
   * IANA time zones that a number may be in: quiet in one is quiet. Other addresses have no quiet
   * hours. @default all zones of the number's country
   */
  timeZones: optional(callback<(phone: string) => readonly string[]>()),
};

/** Hours in which messages wait, in the recipient's local time. */
export type QuietHoursOptions = OptionsOf<typeof QUIET_HOURS>;

export const POLICY = {
  /** Names of policies that do not run. @default none */
  remove: withDefault(list(text), []),
  /** Policies to ask first, in this order; the others follow in their usual order. */
  order: withDefault(list(text), []),
  /** @default off */
  quietHours: optional(group(QUIET_HOURS)),
  serviceWindow: group({
    /** Time before the end of the 24-hour window at which it counts as closed. @default '1m' */
    margin: withDefault(DURATION, '1m'),
    /** Content that replaces the message outside the window; `undefined`: the message is denied. */
    substitute: optional(callback<(item: PolicyItem) => MessageContent | undefined>()),
  }),
  /**
   * By channel (`sms`) or price category (`marketing`): at most `max` messages of it to a recipient
   * in any window of `per`. Its index, of `FREQUENCY_CAP_MIGRATIONS` (automatic with `migrate`),
   * slows every message down. @default off
   */
  frequencyCap: optional(record(readRate)),
};

/** The policies that run, their order, and the settings of the built-in ones. */
export type PolicyOptions = OptionsOf<typeof POLICY>;
