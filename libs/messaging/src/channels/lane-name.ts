import { MessagingConfigError } from '../message/errors.js';
import type { DispatchOptions, LaneOf } from '../ports/messaging-options.js';

/** As the store can hold it and logs can show it. */
const LANE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/**
 * The lane of a tenant's channel: from the option `dispatch.lane`, or `{tenant}:{channel}`.
 * @throws MessagingConfigError where the function returns no lane name; nothing was stored
 */
export function laneName(option: DispatchOptions['lane'], of: LaneOf): string {
  if (!option) return `${of.tenant}:${of.channel}`;
  const name: unknown = option(of);
  if (typeof name === 'string' && LANE.test(name)) return name;
  throw new MessagingConfigError(
    `dispatch.lane: gave no name for tenant '${of.tenant}' and channel ${of.channel}; return 1 to 255 characters, without control characters`,
  );
}
