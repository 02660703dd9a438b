import { readSecrets } from '../../callbacks/verifiers/secret.js';
import { MessagingConfigError } from '../../message/errors.js';
import {
  group,
  oneOf,
  optional,
  type OptionReader,
  type OptionsOf,
  text,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import { httpAddress, providerName } from '../provider-options.js';

const address: OptionReader<string> = (option, value) => {
  const { origin, pathname } = httpAddress(option, value);
  return origin + (pathname === '/' ? '/cgi-bin/sendsms' : pathname);
};

/** The value becomes a header, and Kannel trims the spaces around it. */
const headerText: OptionReader<string> = (option, value) => {
  if (typeof value !== 'string' || value === '')
    throw new MessagingConfigError(`${option}: is missing; it is in Kannel's sendsms-user group`);
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw new MessagingConfigError(
      `${option}: must be printable ASCII without a space or a newline at either end; a file read with a trailing newline is a usual cause`,
    );
  return value;
};

const secret: OptionReader<string> = (option, value) => {
  const [given = ''] = readSecrets(option, text(option, value));
  return given;
};

const KANNEL = {
  /** Address of smsbox's sendsms; without a path, `/cgi-bin/sendsms` is added. */
  url: address,
  /** `username` of the `sendsms-user` group. */
  username: headerText,
  /** Password of that user. Sent in a header, never in an address. */
  password: headerText,
  /** Address of this app's callbacks, as Kannel reaches it. Without it, messages stay `sent`. */
  callbackUrl: optional(httpAddress),
  /** Signs the callback address; {@link kannelSignature} verifies it. At least 16 characters. */
  callbackSecret: optional(secret),
  /** `'message'`: only for messages that ask for them. Kannel has no polling. @default 'always' */
  reports: withDefault(oneOf('always', 'message'), 'always'),
  /** `smsc-id` to route through. @default Kannel's own routing */
  smsc: optional(headerText),
  /** Most connections, and requests in flight; smsbox accepts 500 from all clients. @default 64 */
  connections: withDefault(wholeNumber, 64),
  /** Tells transports apart, also in stored submissions: do not change it. @default 'kannel' */
  name: withDefault(providerName, 'kannel'),
};

/** Options of {@link kannel}. */
export type KannelOptions = OptionsOf<typeof KANNEL>;

const read = group(KANNEL);

export type KannelSettings = ReturnType<typeof read>;

/** @throws MessagingConfigError naming the option and the remedy; the error omits secret values */
export function kannelSettings(options: KannelOptions): KannelSettings {
  const settings = read('', options);
  const { callbackUrl, callbackSecret } = settings;
  if (callbackSecret !== undefined && callbackUrl === undefined)
    throw new MessagingConfigError(
      'callbackUrl: is missing; callbackSecret signs what Kannel is to call, so pass its address too',
    );
  if (callbackUrl !== undefined && callbackSecret === undefined)
    throw new MessagingConfigError(
      'callbackSecret: is missing; without it any client could report deliveries to callbackUrl',
    );
  return settings;
}
