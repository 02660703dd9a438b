import { CARRIER_CHOOSERS, CARRIER_KEYS } from '../carriers/carrier-variables.js';
import {
  callPrice,
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
  mailbox,
  MAKE_KEY,
  MAX_PORT,
  networks,
  oneOf,
  phoneNumbers,
  ports,
  prefixPrices,
  prices,
  quietHours,
  rate,
  redisUrl,
  relayUrl,
  requestRate,
  retention,
  signingSecret,
  size,
  spf,
  visible,
  wholeNumber,
} from '../settings/parsers.js';
import type { Setting } from '../settings/setting.js';
import { parseDatabaseUrl } from './database-url.js';

type Choice = `${string}=${string}`;

export interface Variable<T> extends Setting<T> {
  /** The choices that need this variable, such as `ENGINE=bullmq`. */
  readonly neededBy?: readonly Choice[];
  /** Remedy for a missing value. @default to take back the choice */
  readonly remedy?: string;
}

const PROCESS = {
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
} as const satisfies Readonly<Record<string, Variable<unknown>>>;

const MESSAGING = {
  SMS_PRICES: { parse: prefixPrices },
  VOICE_PRICE: { default: 'USD 0.0300 60/60', parse: callPrice },
  VERIFY_COUNTRIES: { parse: countries },
  SMPP_LISTEN: { parse: listenAddress },
  SMPP_TLS_CERT: { parse: (path: string) => path },
  SMPP_TLS_KEY: { parse: (path: string) => path },
  SMPP_LISTEN_WINDOW: { default: '50', parse: wholeNumber(1, 1_000) },
  SMPP_LISTEN_ENQUIRE: { default: '30s', parse: duration(1_000, 600_000) },
  SMPP_LISTEN_MAX_UNBOUND: { default: '20', parse: wholeNumber(1, 1_000) },
  SMPP_LISTEN_MAX_BOUND: { default: '50', parse: wholeNumber(1, 1_000) },
  LEASE: { default: '30s', parse: duration(1_000, 600_000) },
  RATE_LIMIT: { default: '50/s', parse: rate },
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
  BILLING_EMAIL_FROM: { parse: mailbox },
  QUIET_HOURS: { parse: quietHours },
  FREQUENCY_CAP: { parse: frequencyCap },
  PORTAL_OPERATOR_SECOND_FACTOR: { default: 'optional', parse: oneOf('optional', 'required') },
  SENDER_APPROVAL: { parse: oneOf('auto', 'operator') },
  RETENTION_CONTENT: { default: '30d', parse: retention },
  RETENTION_MESSAGES: { default: '365d', parse: retention },
  RETENTION_OUTCOMES: { default: '800d', parse: retention },
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
  ALERTS_EVERY: { default: '1m', parse: duration(1_000, 3_600_000) },
  ALERTS_SMTP: { parse: relayUrl, secret: 'part' },
  ALERTS_SMTP_TLS: { default: 'required', parse: oneOf('required', 'opportunistic', 'off') },
  ALERTS_FROM: { parse: mailbox },
  PROBE_NUMBERS: { parse: phoneNumbers(20) },
  PROBE_SECRET: { parse: signingSecret, secret: 'whole' },
  PROBE_FROM: { default: 'Dundun', parse: visible },
  PROBE_WAIT: { default: '5m', parse: duration(1_000, 3_600_000) },
  PROBE_EVERY: { parse: duration(300_000, 604_800_000) },
  WEBHOOK_ALLOW_PRIVATE: { default: 'false', parse: flag },
  WEBHOOK_PORTS: { default: '80,443,1024-65535', parse: ports },
  LOG_LEVEL: {
    default: 'info',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
} as const satisfies Readonly<Record<string, Variable<unknown>>>;

/** The variables of the gateway beside those of its carriers. */
export const GATEWAY_VARIABLES = { ...PROCESS, ...MESSAGING };

/** `docs/configuration.md` describes each variable; a spec compares names and defaults. */
export const VARIABLES: Readonly<Record<string, Variable<unknown>>> = {
  ...PROCESS,
  CARRIERS_FILE: { parse: (path: string) => path },
  ...CARRIER_CHOOSERS,
  ...Object.fromEntries(Object.entries(CARRIER_KEYS).map(([name, { setting }]) => [name, setting])),
  ...MESSAGING,
};
