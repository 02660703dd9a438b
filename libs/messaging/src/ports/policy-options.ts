import type { MessageCategory } from '../message/category.js';
import type { MessageContent } from '../message/message.js';
import type { Duration } from './duration.js';
import type { PolicyItem } from './messaging-policy.js';

/** When messages wait, in the recipient's own time. */
export interface QuietHoursOptions {
  /** `'21:00'`, the first quiet minute. */
  readonly from: string;
  /** `'08:00'`, the first minute to send again. */
  readonly to: string;
  /**
   * IANA time zones a phone number may be in; it is quiet where it is quiet in any of them. Other addresses
   * have no quiet hours.
   * @default all zones of the number's country
   */
  readonly timeZones?: (phone: string) => readonly string[];
}

export interface ServiceWindowOptions {
  /** The window counts as closed this long before its 24 hours are over. @default '1m' */
  readonly margin?: Duration;
  /** Content that goes out where the window is closed; `undefined`: the message is denied. */
  readonly substitute?: (item: PolicyItem) => MessageContent | undefined;
}

/** A channel without price categories, such as `sms`, or a price category of a channel, such as `marketing`. */
export type CappedCategory = 'sms' | MessageCategory | (string & {});

/** By {@link CappedCategory}: at most `max` messages of a category and channel to one recipient in any window of `per`. */
export type FrequencyCapOptions = Readonly<
  Record<string, { readonly max: number; readonly per: Duration }>
>;

/** Which policies run, in which order, and how the built-in ones decide. */
export interface PolicyOptions {
  /** Names of policies that do not run. */
  readonly remove?: readonly string[];
  /** Names in the order they are asked; those not named follow in their usual order. */
  readonly order?: readonly string[];
  /** @default off */
  readonly quietHours?: QuietHoursOptions;
  readonly serviceWindow?: ServiceWindowOptions;
  /**
   * Needs the index that `FREQUENCY_CAP_MIGRATIONS` makes (by itself with `migrate`), which every
   * message pays for.
   * @default off
   */
  readonly frequencyCap?: FrequencyCapOptions;
}
