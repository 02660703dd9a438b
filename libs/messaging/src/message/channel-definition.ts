import type { AddressKind } from './address.js';

/** One status of a channel's messages. */
export interface StatusDefinition {
  /**
   * Orders the statuses: the highest rank reported is the status. 1 to 127; the store keeps it, so it never
   * changes, and one name has the same rank in every channel.
   */
  readonly rank: number;
  /** Nothing but a higher terminal status follows. @default false */
  readonly terminal?: boolean;
  /** A provider's report may carry it. @default false */
  readonly reported?: boolean;
}

/** Everything the library and the gateway need to know of a channel; nothing else decides by a channel's name. */
export interface ChannelDefinition {
  /** At most 16 small letters, digits and dashes, such as `sms`. */
  readonly name: string;
  /** Kinds of address a recipient may have; the first is meant where a text names none. */
  readonly addressKinds: readonly [AddressKind, ...AddressKind[]];
  /** The channel's own statuses, beside `queued`, `sending`, `unknown` and `cancelled`, which every channel has. */
  readonly statuses: Readonly<Record<string, StatusDefinition>>;
  /** The status of a message that the provider has accepted, such as `sent`. */
  readonly accepted: string;
}
