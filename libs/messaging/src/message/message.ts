import type { MessageCategory } from './category.js';

/** Name of a channel: a built-in one, or one of the `channels` option. */
export type Channel = 'sms' | 'whatsapp' | (string & {});

/** Order class inside a lane: `high` goes before `normal`, so that a one-time password does not wait behind a campaign. */
export type MessageClass = 'high' | 'normal';

/** Content of a message. The store keeps it as JSON, so that a new kind needs no new column. */
export type MessageContent = TextContent | TemplateContent | ChannelContent;

/** Content that one channel alone carries. */
export interface ChannelContent {
  /** `{channel}.{kind}`, such as `email.html`. */
  readonly kind: `${string}.${string}`;
  readonly [field: string]: unknown;
}

export interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  /** The one answer to a STOP, which its writer gets all the same; only the library says this. */
  readonly confirms?: 'opted_out';
}

export interface TemplateContent {
  readonly kind: 'template';
  readonly template: string;
  readonly language: string;
  /** By place. */
  readonly params: readonly string[];
  /** Where the app knows it. */
  readonly category?: MessageCategory;
}
