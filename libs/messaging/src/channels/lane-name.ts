import { MessagingConfigError } from '../message/errors.js';
import type { LaneOf, MessagingOptions } from '../ports/messaging-options.js';

/** As the store can hold it and logs can show it. */
const LANE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/**
 * The lane of a tenant's channel: the `lane` option's, or one of its own.
 * @throws MessagingConfigError where the option gives what is no name; nothing was stored
 */
export function laneName(option: MessagingOptions['lane'], of: LaneOf): string {
  if (!option) return `${of.tenant}:${of.channel}`;
  const name: unknown = option(of);
  if (typeof name === 'string' && LANE.test(name)) return name;
  throw new MessagingConfigError(
    `lane: gave no name for tenant '${of.tenant}' and channel ${of.channel}; return 1 to 255 characters, without control characters`,
  );
}
