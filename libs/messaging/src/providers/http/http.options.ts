import { MessagingConfigError } from '../../message/errors.js';
import {
  duration,
  group,
  flag,
  oneOf,
  optional,
  type OptionReader,
  type ReadersOf,
  wholeNumber,
  withDefault,
  type Duration,
} from '../../ports/option-schema.js';
import { httpAddress, providerName } from '../provider-options.js';

export type Credential = 'apiToken' | 'apiKey';

const baseUrl: OptionReader<string> = (option, value) => {
  const { origin, pathname } = httpAddress(option, value);
  if (/\/ng\/v1\b/.test(pathname))
    throw new MessagingConfigError(
      `${option}: holds the path of an operation; give the address before /ng/v1`,
    );
  return origin + pathname.replace(/\/+$/, '');
};

/** Detects at boot what would be a 401; errors never contain the value. */
function credential(kind: Credential): OptionReader<string> {
  const where =
    kind === 'apiToken'
      ? 'the settings of the account at the service (the gateway: its portal, or dundun token rotate)'
      : 'the settings of the account at the service (the gateway: its portal, or dundun key create)';
  return (option, value) => {
    const reject = (cause: string): never => {
      throw new MessagingConfigError(`${option}: ${cause}`);
    };
    if (typeof value !== 'string' || value === '')
      return reject(`is missing; copy it from ${where}`);
    if (/^\s*bearer\b/i.test(value))
      return reject(
        'starts with the word Bearer; pass the credential alone, the word is added for you',
      );
    if (/\s/.test(value))
      return reject(
        'white space or a newline was copied with it; remove it (a file read with a trailing newline is a usual cause)',
      );
    if (!/^[\x21-\x7e]+$/.test(value))
      return reject(`has characters no credential has; copy it again from ${where}`);
    if (value.startsWith('svk_') !== (kind === 'apiKey'))
      return reject(
        kind === 'apiKey'
          ? `does not start with svk_; copy one from ${where} (the API token goes into apiToken)`
          : `is an svk_ key, which SMS does not take; pass it as apiKey, and the token of ${where} as apiToken`,
      );
    return value;
  };
}

const apiToken = credential('apiToken');

/** Options of {@link http}. */
export interface HttpTransportOptions {
  /** Address of the service, without `/ng/v1`. */
  readonly baseUrl: string;
  /** API token of the account at the service, without the word Bearer, for SMS and calls. */
  readonly apiToken?: string;
  /** `svk_` key for WhatsApp and email. One of the two credentials is required. */
  readonly apiKey?: string;
  /**
   * Field with the text of an SMS and of a WhatsApp message; a Dundun gateway takes each of the names.
   * @default { sms: 'body', whatsapp: 'text' }
   */
  readonly textField?: {
    readonly sms?: 'body' | 'content';
    readonly whatsapp?: 'text' | 'body' | 'content';
  };
  /** Most recipients of one request. @default 1000 */
  readonly maxRecipients?: number;
  /** How long the service honours an `Idempotency-Key`; 0: it ignores keys. @default '20h' */
  readonly idempotencyWindow?: Duration;
  /** Whether to ask for callbacks, regardless of the message. @default the message's setting */
  readonly deliveryReport?: boolean;
  /** Most connections to the service, and most requests of this process in flight. @default 128 */
  readonly connections?: number;
  /** Tells transports apart, also in stored submissions: do not change it. @default 'http' */
  readonly name?: string;
}

const HTTP = {
  baseUrl,
  apiToken: optional(apiToken),
  apiKey: optional(credential('apiKey')),
  textField: group({
    sms: withDefault(oneOf('body', 'content'), 'body'),
    whatsapp: withDefault(oneOf('text', 'body', 'content'), 'text'),
  }),
  maxRecipients: withDefault(wholeNumber, 1_000),
  idempotencyWindow: withDefault(duration(), '20h'),
  deliveryReport: optional(flag),
  connections: withDefault(wholeNumber, 128),
  name: withDefault(providerName, 'http'),
} satisfies ReadersOf<HttpTransportOptions>;

const readHttp = group(HTTP);

/** The checked options with their defaults; durations in milliseconds. */
export type HttpSettings = ReturnType<typeof readHttp>;

/** @throws MessagingConfigError naming the option and the remedy */
export function httpSettings(options: HttpTransportOptions): HttpSettings {
  const settings = readHttp('http', options);
  // Without any credential the message is that of the first one.
  if (settings.apiKey === undefined) apiToken('http.apiToken', settings.apiToken);
  return settings;
}
