import { MessagingConfigError } from '../../message/errors.js';
import { type Duration, milliseconds } from '../../ports/duration.js';
import { checkBaseUrl, checkCredential } from './credential.js';
import type { WhatsAppTextField } from './whatsapp-wire.js';

/** Name of the field with the text, by channel. */
export interface TextFields {
  /** @default 'body' */
  readonly sms?: 'body' | 'content';
  /** @default 'text' */
  readonly whatsapp?: WhatsAppTextField;
}

/** Options of {@link http}. */
export interface HttpTransportOptions {
  /** Address of the service, without `/ng/v1`. */
  readonly baseUrl: string;
  /** API token (dashboard: Settings, Security), without the word Bearer. */
  readonly apiToken: string;
  /** `svk_` key for WhatsApp and email. */
  readonly apiKey?: string;
  /**
   * Field with the text of an SMS (the interface's schema says `body`, its samples `content`) and of a WhatsApp
   * message (the interface defines none), or one name for both.
   * @default { sms: 'body', whatsapp: 'text' }
   */
  readonly textField?: 'body' | 'content' | TextFields;
  /** Most recipients of one request. @default 1000 */
  readonly maxRecipients?: number;
  /** How long the service honours an `Idempotency-Key`; 0: it ignores keys. @default '20h' */
  readonly idempotencyWindow?: Duration;
  /**
   * Whether to ask the service for callbacks, regardless of the message's own setting. @default the message's setting
   */
  readonly deliveryReport?: 'none' | 'yes';
  /** Most connections to the service, and most requests of this process in flight. @default 128 */
  readonly connections?: number;
  /**
   * Distinguishes several transports. It is stored with every submission and report, so do not change it.
   * @default 'http'
   */
  readonly name?: string;
}

/** The checked options with their defaults. */
export interface HttpSettings {
  readonly name: string;
  /** Address without a trailing slash. */
  readonly baseUrl: string;
  readonly apiToken: string;
  readonly apiKey: string | undefined;
  readonly textField: Required<TextFields>;
  readonly maxRecipients: number;
  /** Duration in milliseconds. */
  readonly idempotencyWindow: number;
  readonly deliveryReport: 'none' | 'yes' | undefined;
  readonly connections: number;
}

/** @throws MessagingConfigError naming the option and the remedy */
export function httpSettings(options: HttpTransportOptions): HttpSettings {
  const name = options.name ?? 'http';
  if (!/^[a-z0-9][a-z0-9._-]{0,31}$/.test(name))
    throw new MessagingConfigError(
      'name: must be 1 to 32 lower-case letters, digits, dots, dashes or underscores',
    );
  return {
    name,
    baseUrl: checkBaseUrl(options.baseUrl),
    apiToken: checkCredential('apiToken', options.apiToken),
    apiKey: options.apiKey === undefined ? undefined : checkCredential('apiKey', options.apiKey),
    textField: textFields(options.textField ?? {}),
    maxRecipients: positiveInteger('maxRecipients', options.maxRecipients ?? 1000),
    idempotencyWindow: milliseconds('idempotencyWindow', options.idempotencyWindow ?? '20h'),
    deliveryReport: options.deliveryReport,
    connections: positiveInteger('connections', options.connections ?? 128),
  };
}

function textFields(given: NonNullable<HttpTransportOptions['textField']>): Required<TextFields> {
  const { sms = 'body', whatsapp = 'text' } =
    typeof given === 'string' ? { sms: given, whatsapp: given } : given;
  if (sms !== 'body' && sms !== 'content')
    throw new MessagingConfigError(`textField: must be 'body' or 'content'`);
  if (whatsapp !== 'text' && whatsapp !== 'body' && whatsapp !== 'content')
    throw new MessagingConfigError(`textField.whatsapp: must be 'text', 'body' or 'content'`);
  return { sms, whatsapp };
}

function positiveInteger(option: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new MessagingConfigError(`${option}: must be a whole number from 1`);
  return value;
}
