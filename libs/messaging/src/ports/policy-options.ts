import type { MessageContent } from '../message/message.js';
import type { Duration } from './duration.js';
import type { PolicyItem } from './messaging-policy.js';

/** When nobody is to be disturbed, in the recipient's own time. */
export interface QuietHoursOptions {
  /** `'21:00'`, the first quiet minute. */
  readonly from: string;
  /** `'08:00'`, the first minute to send again. */
  readonly to: string;
  /**
   * IANA time zones a number may be in; it is quiet where it is quiet in any of them.
   * @default all zones of the number's country
   */
  readonly timeZones?: (phone: string) => readonly string[];
}

export interface ServiceWindowOptions {
  /** The window counts as closed this long before its 24 hours are over. @default '1m' */
  readonly margin?: Duration;
  /** What goes out instead where the window is closed; `undefined`: nothing, it is denied. */
  readonly substitute?: (item: PolicyItem) => MessageContent | undefined;
}

/** Which policies run, in which order, and how the built-in ones decide. */
export interface PolicyOptions {
  /** Names of policies that do not run. */
  readonly remove?: readonly string[];
  /** Names in the order they are asked; those not named follow in their usual order. */
  readonly order?: readonly string[];
  /** @default off */
  readonly quietHours?: QuietHoursOptions;
  readonly serviceWindow?: ServiceWindowOptions;
}
