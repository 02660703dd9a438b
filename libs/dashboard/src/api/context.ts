// GET api/context

/** Never fails for a caller that the guard lets in. */
export interface ContextAnswer {
  /** Name of the product in the page's title. */
  readonly title: string;
  /** Text of the badge, such as `production`; `null`: no badge. */
  readonly environment: string | null;
  /** The caller may send, cancel, reschedule, resend and answer as a simulated customer. */
  readonly act: boolean;
  /** The caller may see whole addresses and content. */
  readonly reveal: boolean;
  /** The caller may see lanes and providers, and with `act` resume lanes. */
  readonly operate: boolean;
  readonly tenants: readonly string[] | 'all';
  readonly channels: readonly ChannelInfo[];
  /** A provider is the simulator: `api/phones` answers where the caller may act. */
  readonly simulator: boolean;
  /** `api/live` streams changes (server-sent events); else the pages poll `api/changes`. */
  readonly live: boolean;
  /** Milliseconds between two polls of `api/changes`. */
  readonly pollInterval: number;
}

export interface ChannelInfo {
  /** Such as `sms`. */
  readonly name: string;
  /** Such as `WhatsApp`. */
  readonly title: string;
  /** Every status of the channel's messages, by rank. */
  readonly statuses: readonly StatusInfo[];
  /** Events that change no status, such as `delayed`. */
  readonly events: readonly string[];
  readonly addressKinds: readonly ('phone' | 'email' | 'platform')[];
  /** Kinds of `content`, such as `text` and `template`. */
  readonly contentKinds: readonly string[];
  /** Most recipients of a send. */
  readonly maxRecipients: number;
  /** Group ids may be among the recipients. */
  readonly groups: boolean;
  /** Free text needs an inbound message within 24 hours. */
  readonly serviceWindow: boolean;
  /** `POST api/messages` takes its messages, and they can be sent again. */
  readonly sendable: boolean;
}

export interface StatusInfo {
  readonly name: string;
  /** The highest reported rank is the status of a message. */
  readonly rank: number;
  readonly terminal: boolean;
  /** The message did not reach its recipient. */
  readonly failed: boolean;
  /** Reports may have it. */
  readonly reported: boolean;
}
