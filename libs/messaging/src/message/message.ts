import type { EmailContent } from './content/email-content.js';
import type { VoiceContent } from './content/voice-content.js';
import type { MediaContent, TemplateButton, TemplateHeader } from './content/whatsapp-content.js';

/** Name of a channel of the library. */
export type BuiltInChannel = 'sms' | 'whatsapp' | 'email' | 'voice' | 'vas';

/** Name of a channel: a built-in one, or one of the `channels` option. */
export type Channel = BuiltInChannel | (string & {});

export const CONSENT_CATEGORIES = ['transactional', 'marketing'] as const;

/** Consent category of a message: one of every channel, or one that its channel adds. */
export type ConsentCategory = (typeof CONSENT_CATEGORIES)[number] | (string & {});

/** `high` goes first in a lane, so that a one-time password does not wait behind a campaign. */
export type MessageClass = 'high' | 'normal';

/** Content of a message. The store keeps it as JSON, so that a new kind needs no migration. */
export type MessageContent =
  | TextContent
  | TemplateContent
  | MediaContent
  | EmailContent
  | VoiceContent
  | ChannelContent;

/** Content of one channel only. */
export interface ChannelContent {
  /** `{channel}.{kind}`, such as `telegram.photo`. */
  readonly kind: `${string}.${string}`;
  readonly [field: string]: unknown;
}

/** Content that only transports see: views and lists show none. */
export interface SecretContent {
  readonly secret?: true;
}

export interface TextContent extends SecretContent {
  readonly kind: 'text';
  readonly text: string;
  /** Marks the confirmation of a STOP, which bypasses the opt-out; only the library sets it. */
  readonly confirms?: 'opted_out';
}

export interface TemplateContent {
  readonly kind: 'template';
  readonly template: string;
  readonly language: string;
  /** Values by position. */
  readonly params: readonly string[];
  readonly category?: MessageCategory;
  /** Names of `params` at the platform, where its template has variables by name. @default none */
  readonly paramNames?: readonly string[];
  /** Variable or media of the header. @default none */
  readonly header?: TemplateHeader;
  /** Variables of the buttons, by their places. @default none */
  readonly buttons?: readonly TemplateButton[];
}

export const MESSAGE_CATEGORIES = ['utility', 'marketing', 'authentication', 'service'] as const;

/** Billing category of a WhatsApp message; a text is `service`. */
export type MessageCategory = (typeof MESSAGE_CATEGORIES)[number];

export function isMessageCategory(value: unknown): value is MessageCategory {
  return (MESSAGE_CATEGORIES as readonly unknown[]).includes(value);
}
