import { MessagingConfigError } from '../../message/errors.js';
import { ReportLink } from './report-link.js';

/** Options of {@link kannel}. */
export interface KannelOptions {
  /** Address of smsbox's sendsms; without a path, `/cgi-bin/sendsms` is added. */
  readonly url: string;
  /** `username` of the `sendsms-user` group. */
  readonly username: string;
  /** Password of that user. Sent in a header, never in an address. */
  readonly password: string;
  /** Address of this app's delivery-report controller, as Kannel reaches it. Without it, messages stay `sent`. */
  readonly callbackUrl?: string;
  /** Signs the callback address for Kannel; {@link KannelCallbackVerifier} verifies it. At least 16 characters. */
  readonly callbackSecret?: string;
  /** `'message'`: reports only for messages that ask for them. Kannel offers no polling. @default 'always' */
  readonly reports?: 'always' | 'message';
  /** `smsc-id` to route through. @default Kannel's own routing */
  readonly smsc?: string;
  /**
   * Most connections to smsbox, and most requests of this process in flight; smsbox accepts 500 from all clients.
   * @default 64
   */
  readonly connections?: number;
  /**
   * Distinguishes several transports. It is stored with every submission and report, so do not change it.
   * @default 'kannel'
   */
  readonly name?: string;
}

/** The checked options with their defaults. */
export interface KannelSettings {
  readonly name: string;
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly reportLink: ReportLink | undefined;
  readonly reports: 'always' | 'message';
  readonly smsc: string | undefined;
  readonly connections: number;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;
const HEADER_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const SENDSMS = '/cgi-bin/sendsms';

/** @throws MessagingConfigError naming the option and the remedy; the error omits secret values */
export function kannelSettings(options: KannelOptions): KannelSettings {
  const { name = 'kannel', reports = 'always', connections = 64, smsc } = options;
  if (!NAME.test(name))
    throw new MessagingConfigError(
      'name: must be 1 to 32 lower-case letters, digits, dots, dashes or underscores',
    );
  if (reports !== 'always' && reports !== 'message')
    throw new MessagingConfigError(`reports: must be 'always' or 'message'`);
  if (!Number.isSafeInteger(connections) || connections < 1)
    throw new MessagingConfigError('connections: must be a whole number from 1');
  return {
    name,
    url: addressOf(options.url),
    username: headerText('username', options.username),
    password: headerText('password', options.password),
    reportLink: reportLinkOf(options),
    reports,
    smsc: smsc === undefined ? undefined : headerText('smsc', smsc),
    connections,
  };
}

function reportLinkOf({ callbackUrl, callbackSecret }: KannelOptions): ReportLink | undefined {
  if (callbackUrl === undefined && callbackSecret === undefined) return undefined;
  if (callbackUrl === undefined)
    throw new MessagingConfigError(
      'callbackUrl: is missing; callbackSecret signs what Kannel is to call, so pass its address too',
    );
  if (callbackSecret === undefined)
    throw new MessagingConfigError(
      'callbackSecret: is missing; without it any client could report deliveries to callbackUrl',
    );
  const url = httpAddress('callbackUrl', callbackUrl);
  return new ReportLink(url.href, checkCallbackSecret(callbackSecret));
}

/** @throws MessagingConfigError where the secret is too short to be safe */
export function checkCallbackSecret(secret: string): string {
  if (typeof secret !== 'string' || secret.length < 16 || /\s/.test(secret))
    throw new MessagingConfigError(
      'callbackSecret: must be at least 16 characters without white space; openssl rand -hex 32 makes a good one',
    );
  return secret;
}

function addressOf(value: string): string {
  const url = httpAddress('url', value);
  return url.origin + (url.pathname === '/' ? SENDSMS : url.pathname);
}

/** Errors omit the value, which may contain a password. */
function httpAddress(option: string, value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new MessagingConfigError(
      `${option}: must be an address, such as http://127.0.0.1:13013${SENDSMS}`,
    );
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new MessagingConfigError(
      `${option}: must be an address without user, password, query or fragment`,
    );
  return url;
}

/** The value becomes a header, and Kannel trims the spaces around it. */
function headerText(option: string, value: string): string {
  if (typeof value !== 'string' || value === '')
    throw new MessagingConfigError(`${option}: is missing; it is in Kannel's sendsms-user group`);
  if (!HEADER_TEXT.test(value))
    throw new MessagingConfigError(
      `${option}: must be printable ASCII without a space or a newline at either end; a file read with a trailing newline is a usual cause`,
    );
  return value;
}
