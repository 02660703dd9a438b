import type { MessageCategory } from '../message/category.js';
import type { MessageContent } from '../message/message.js';
import type { Duration } from './duration.js';
import type { PolicyItem } from './messaging-policy.js';

/** Hours in which messages wait, in the recipient's local time. */
export interface QuietHoursOptions {
  /** First quiet minute, such as `'21:00'`. */
  readonly from: string;
  /** First minute after the quiet hours, such as `'08:00'`. */
  readonly to: string;
  /**
   * IANA time zones that a phone number may be in. The hours are quiet when they are quiet in any of the zones. Other
   * addresses have no quiet hours.
   * @default all zones of the number's country
   */
  readonly timeZones?: (phone: string) => readonly string[];
}

export interface ServiceWindowOptions {
  /** Time before the end of the 24-hour window from which the window counts as closed. @default '1m' */
  readonly margin?: Duration;
  /** Content that replaces the message outside the window; `undefined`: the message is denied. */
  readonly substitute?: (item: PolicyItem) => MessageContent | undefined;
}

/** A channel without price categories, such as `sms`, or a price category of a channel, such as `marketing`. */
export type CappedCategory = 'sms' | MessageCategory | (string & {});

/**
 * By {@link CappedCategory}: at most `max` messages of a category and channel to one recipient in any window of
 * `per`.
 */
export type FrequencyCapOptions = Readonly<
  Record<string, { readonly max: number; readonly per: Duration }>
>;

/** The policies that run, their order, and the settings of the built-in ones. */
export interface PolicyOptions {
  /** Names of policies that do not run. */
  readonly remove?: readonly string[];
  /** Order in which the policies are asked; policies without a name here follow in their usual order. */
  readonly order?: readonly string[];
  /** @default off */
  readonly quietHours?: QuietHoursOptions;
  readonly serviceWindow?: ServiceWindowOptions;
  /**
   * Needs the index that `FREQUENCY_CAP_MIGRATIONS` creates (automatic with `migrate`). The index slows every message
   * down.
   * @default off
   */
  readonly frequencyCap?: FrequencyCapOptions;
}
