import { MessagingConfigError } from '../../message/errors.js';
import { type Duration, milliseconds } from '../../ports/duration.js';
import { checkBaseUrl, checkCredential } from './credential.js';
import type { WhatsAppTextField } from './whatsapp-wire.js';

/** Which field carries the text, by channel. */
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
   * Field that carries the text of an SMS (the schema of the interface says `body`, its samples
   * `content`) and of a WhatsApp message (it says none), or one name for both.
   * @default { sms: 'body', whatsapp: 'text' }
   */
  readonly textField?: 'body' | 'content' | TextFields;
  /** Recipients one request may carry. @default 1000 */
  readonly maxRecipients?: number;
  /** How long the service honours an `Idempotency-Key`; 0: it does not. @default '20h' */
  readonly idempotencyWindow?: Duration;
  /** Asks the service for callbacks, or not, whatever a message says. @default as the message says */
  readonly deliveryReport?: 'none' | 'yes';
  /** Connections kept to the service at most, and requests of this process in flight. @default 128 */
  readonly connections?: number;
  /** Tells several apart; stored with every submission and report, so never change it. @default 'http' */
  readonly name?: string;
}

/** The options checked, defaults filled in. */
export interface HttpSettings {
  readonly name: string;
  /** No trailing slash. */
  readonly baseUrl: string;
  readonly apiToken: string;
  readonly apiKey: string | undefined;
  readonly textField: Required<TextFields>;
  readonly maxRecipients: number;
  /** Milliseconds. */
  readonly idempotencyWindow: number;
  readonly deliveryReport: 'none' | 'yes' | undefined;
  readonly connections: number;
}

/** @throws MessagingConfigError naming the option and the remedy. */
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
