import { parseDatabaseUrl } from './database-url.js';
import {
  apiKey,
  apiToken,
  callPrice,
  cloudToken,
  countries,
  credential,
  dnsServers,
  duration,
  encryptionKey,
  flag,
  frequencyCap,
  host,
  hostName,
  httpUrl,
  listenAddress,
  MAKE_KEY,
  MAX_PORT,
  networks,
  oneOf,
  type Parse,
  ports,
  prices,
  quietHours,
  rate,
  redisUrl,
  requestRate,
  retention,
  secretText,
  serviceUrl,
  signingSecret,
  size,
  smtpUrl,
  spf,
  text,
  twilioAccount,
  visible,
  wholeNumber,
} from './parsers.js';
import { smppBinds, smppUrl, timeZone } from './smpp-settings.js';

type Choice = `${string}=${string}`;

export interface Variable<T> {
  /** The default as written in the environment; without one the variable may stay unset. */
  readonly default?: string;
  readonly parse: Parse<T>;
  /** The value is never shown, not even in errors; `part`: an address that may hold a password. */
  readonly secret?: 'whole' | 'part';
  /** The choices that need this variable, such as `CARRIER=http`. */
  readonly neededBy?: readonly Choice[];
  /** Remedy for a missing value. @default to take back the choice */
  readonly remedy?: string;
}

/** Fewest bytes of a secret in production. */
const MIN_SECRET = 24;

/** Defect of a secret in production; `undefined`: none. */
export function weaknessOf(
  written: string,
  secret: Variable<unknown>['secret'],
): string | undefined {
  const bytes = Buffer.from(written.replace(/^whsec_/, ''), 'base64');
  // The samples of docs/environments say so.
  if (`${written} ${bytes.toString('latin1')}`.includes('change-me'))
    return 'is the sample of docs/environments; set a secret of your own';
  const size = written.startsWith('whsec_') ? bytes.length : Buffer.byteLength(written);
  return secret === 'whole' && size < MIN_SECRET
    ? `is shorter than ${MIN_SECRET} bytes; openssl rand -hex 32 makes one that is long enough`
    : undefined;
}

/** `docs/configuration.md` describes each setting; a spec compares names and defaults. */
export const VARIABLES = {
  NODE_ENV: { default: 'development', parse: oneOf('development', 'test', 'production') },
  HOST: { default: '127.0.0.1', parse: host },
  PORT: { default: '3000', parse: wholeNumber(0, MAX_PORT) },
  DATABASE_URL: { default: 'sqlite:data/dundun.sqlite', parse: parseDatabaseUrl, secret: 'part' },
  PREPARED_STATEMENTS: { default: 'true', parse: flag },
  SECRETS_KEY: {
    parse: encryptionKey,
    secret: 'whole',
    neededBy: ['NODE_ENV=production'],
    remedy: MAKE_KEY,
  },
  SECRETS_KEY_PREVIOUS: { parse: encryptionKey, secret: 'whole' },
  ROLE: { default: 'all', parse: oneOf('all', 'api', 'worker') },
  ENGINE: { default: 'database', parse: oneOf('database', 'bullmq') },
  REDIS_URL: { parse: redisUrl, secret: 'part', neededBy: ['ENGINE=bullmq'] },
  CARRIER: { default: 'simulator', parse: oneOf('simulator', 'http', 'kannel', 'smpp') },
  CARRIERS_FILE: { parse: (path: string) => path },
  CARRIER_URL: {
    parse: serviceUrl,
    neededBy: ['CARRIER=http', 'EMAIL_CARRIER=http', 'VOICE_CARRIER=http', 'VAS_CARRIER=http'],
  },
  CARRIER_TOKEN: {
    parse: apiToken,
    secret: 'whole',
    neededBy: ['CARRIER=http', 'VOICE_CARRIER=http', 'VAS_CARRIER=http'],
  },
  CARRIER_KEY: { parse: apiKey, secret: 'whole', neededBy: ['EMAIL_CARRIER=http'] },
  CARRIER_CALLBACK_SECRET: { parse: signingSecret, secret: 'whole' },
  EMAIL_CARRIER: { parse: oneOf('simulator', 'smtp', 'http') },
  VOICE_CARRIER: { parse: oneOf('simulator', 'http', 'twilio') },
  TWILIO_ACCOUNT_SID: { parse: twilioAccount, neededBy: ['VOICE_CARRIER=twilio'] },
  TWILIO_AUTH_TOKEN: { parse: secretText, secret: 'whole', neededBy: ['VOICE_CARRIER=twilio'] },
  TWILIO_CALLBACK_URL: { parse: httpUrl, neededBy: ['VOICE_CARRIER=twilio'] },
  TWILIO_URL: { default: 'https://api.twilio.com', parse: httpUrl },
  VOICE_PRICE: { default: 'USD 0.0300 60/60', parse: callPrice },
  VERIFY_COUNTRIES: { parse: countries },
  WHATSAPP_CARRIER: { parse: oneOf('whatsapp-cloud') },
  WHATSAPP_CLOUD_TOKEN: {
    parse: cloudToken,
    secret: 'whole',
    neededBy: ['WHATSAPP_CARRIER=whatsapp-cloud'],
  },
  WHATSAPP_CLOUD_APP_SECRET: {
    parse: secretText,
    secret: 'whole',
    neededBy: ['WHATSAPP_CARRIER=whatsapp-cloud'],
  },
  WHATSAPP_CLOUD_VERIFY_TOKEN: {
    parse: secretText,
    secret: 'whole',
    neededBy: ['WHATSAPP_CARRIER=whatsapp-cloud'],
    remedy: 'openssl rand -hex 32 makes one; enter it at Meta beside the address of the webhook',
  },
  WHATSAPP_CLOUD_URL: { default: 'https://graph.facebook.com', parse: httpUrl },
  VAS_CARRIER: { parse: oneOf('simulator', 'http', 'reloadly') },
  RELOADLY_CLIENT_ID: { parse: visible, neededBy: ['VAS_CARRIER=reloadly'] },
  RELOADLY_CLIENT_SECRET: { parse: visible, secret: 'whole', neededBy: ['VAS_CARRIER=reloadly'] },
  RELOADLY_COUNTRIES: { parse: countries, neededBy: ['VAS_CARRIER=reloadly'] },
  RELOADLY_URL: { default: 'https://topups.reloadly.com', parse: httpUrl },
  RELOADLY_AUTH_URL: { default: 'https://auth.reloadly.com', parse: httpUrl },
  SMTP_URL: {
    parse: smtpUrl,
    secret: 'part',
    neededBy: ['EMAIL_CARRIER=smtp'],
    remedy: 'write smtp://user:password@relay.example.com:587',
  },
  SMTP_TLS: { default: 'required', parse: oneOf('required', 'opportunistic', 'off') },
  // A wrong value may contain the password.
  KANNEL_URL: { parse: httpUrl, secret: 'part', neededBy: ['CARRIER=kannel'] },
  KANNEL_USERNAME: { parse: visible, neededBy: ['CARRIER=kannel'] },
  KANNEL_PASSWORD: { parse: visible, secret: 'whole', neededBy: ['CARRIER=kannel'] },
  KANNEL_CALLBACK_URL: { parse: httpUrl, neededBy: ['CARRIER=kannel'] },
  KANNEL_CALLBACK_SECRET: { parse: secretText, secret: 'whole', neededBy: ['CARRIER=kannel'] },
  SMPP_URL: {
    parse: smppUrl,
    secret: 'part',
    neededBy: ['CARRIER=smpp'],
    remedy: 'write smpp://system_id:password@smsc.example.com:2775',
  },
  SMPP_BINDS: { default: '1', parse: smppBinds },
  SMPP_MAX_BINDS: { parse: wholeNumber(1, 1_000) },
  SMPP_WINDOW: { default: '10', parse: wholeNumber(1, 1_000) },
  SMPP_SYSTEM_TYPE: {
    parse: text([/^[\x20-\x7e]{0,12}$/, 'must be at most 12 ASCII characters']),
  },
  SMPP_LONG: { default: 'udh', parse: oneOf('udh', 'sar', 'payload') },
  SMPP_ID_FORMAT: { default: 'text', parse: oneOf('text', 'hex', 'decimal') },
  SMPP_TIME_ZONE: { default: 'UTC', parse: timeZone },
  SMPP_LISTEN: { parse: listenAddress },
  SMPP_TLS_CERT: { parse: (path: string) => path },
  SMPP_TLS_KEY: { parse: (path: string) => path },
  SMPP_LISTEN_WINDOW: { default: '50', parse: wholeNumber(1, 1_000) },
  SMPP_LISTEN_ENQUIRE: { default: '30s', parse: duration(1_000, 600_000) },
  LEASE: { default: '30s', parse: duration(1_000, 600_000) },
  RATE_LIMIT: { default: '50/s', parse: rate },
  CARRIER_RATE_LIMIT: { parse: rate },
  WHATSAPP_WAIT: { default: '10s', parse: duration(0, 60_000) },
  WHATSAPP_PRICES: {
    default: 'USD utility=0.0100 marketing=0.0500 authentication=0.0150 service=0',
    parse: prices,
  },
  PUBLIC_URL: { default: 'http://localhost:3000', parse: httpUrl },
  EMAIL_LISTEN: { parse: listenAddress },
  EMAIL_RETURN_HOST: { parse: hostName },
  EMAIL_SPF: { default: 'v=spf1 a mx ~all', parse: spf },
  EMAIL_DNS_SERVERS: { parse: dnsServers },
  QUIET_HOURS: { parse: quietHours },
  FREQUENCY_CAP: { parse: frequencyCap },
  SENDER_APPROVAL: { parse: oneOf('auto', 'operator') },
  RETENTION_CONTENT: { default: '30d', parse: retention },
  RETENTION_MESSAGES: { default: '365d', parse: retention },
  MAX_RECIPIENTS: { default: '100000', parse: wholeNumber(1, 1_000_000) },
  MAX_PARTS: { default: '10', parse: wholeNumber(1, 255) },
  BODY_LIMIT: { default: '4MiB', parse: size(1 << 10, 64 << 20) },
  BODY_BUDGET: { default: '128MiB', parse: size(1 << 10, 1_024 << 20) },
  CREDENTIAL_BODY_BUDGET: { default: '32MiB', parse: size(1 << 10, 1_024 << 20) },
  REQUEST_LIMIT: { default: '10000/s', parse: requestRate },
  MAX_PENDING_SENDS: { default: '5000', parse: wholeNumber(1, 1_000_000) },
  REQUEST_TIMEOUT: { default: '30s', parse: duration(1_000, 600_000) },
  TRUSTED_PROXIES: { parse: networks },
  MAX_CONNECTIONS: { default: '10000', parse: wholeNumber(1, 1_000_000) },
  AUTH_FAILURE_LIMIT: { default: '60/m', parse: requestRate },
  LANE_STUCK_AFTER: { default: '5m', parse: duration(1_000, 86_400_000) },
  METRICS_TOKEN: { parse: credential, secret: 'whole' },
  DOCS: { parse: flag },
  WEBHOOK_ALLOW_PRIVATE: { default: 'false', parse: flag },
  WEBHOOK_PORTS: { default: '80,443,1024-65535', parse: ports },
  LOG_LEVEL: {
    default: 'info',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
} as const satisfies Readonly<Record<string, Variable<unknown>>>;
