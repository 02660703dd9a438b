import { parseDatabaseUrl } from './database-url.js';
import {
  apiKey,
  apiToken,
  credential,
  duration,
  flag,
  frequencyCap,
  host,
  httpUrl,
  oneOf,
  optional,
  prices,
  quietHours,
  rate,
  rateOrOff,
  redisUrl,
  required,
  retention,
  secretText,
  serviceUrl,
  signingSecret,
  size,
  visible,
  wholeNumber,
} from './variable.js';

/**
 * Every setting of the gateway and its command line: its name, default, form and description.
 * `docs/configuration.md` has the same table; a spec compares both.
 */
export const VARIABLES = {
  NODE_ENV: required({
    default: 'development',
    parse: oneOf('development', 'test', 'production'),
    description:
      '`production` never changes tables at start and makes no demo account. `development`, `test` or `production`.',
  }),
  HOST: required({
    default: '127.0.0.1',
    parse: host,
    description: 'Address to listen on; `0.0.0.0` for all.',
  }),
  PORT: required({
    default: '3000',
    parse: wholeNumber(0, 65_535),
    description: 'Port to listen on; `0` takes a free one.',
  }),
  DATABASE_URL: required({
    default: 'sqlite:data/dundun.sqlite',
    parse: parseDatabaseUrl,
    description:
      '`sqlite:PATH` (a file, relative to the working directory), `postgres://user:password@host:5432/name`, `mysql://user:password@host:3306/name` or `mariadb://…`.',
    secret: true,
  }),
  PREPARED_STATEMENTS: required({
    default: 'true',
    parse: flag,
    description:
      '`false` where PostgreSQL is behind a pooler that keeps no prepared statements (PgBouncer before 1.21, or with `max_prepared_statements = 0`, in transaction mode); until it is set, the gateway finds out by statements that fail and are made again. See [scaling](scaling.md).',
  }),
  ROLE: required({
    default: 'all',
    parse: oneOf('all', 'api', 'worker'),
    description:
      '`api` accepts and leaves dispatch to workers; `worker` dispatches, and serves nothing but health and metrics; `all` does both. See [scaling](scaling.md).',
  }),
  ENGINE: required({
    default: 'database',
    parse: oneOf('database', 'bullmq'),
    description:
      'How processes find work that another process accepted: `database` polls every two seconds; `bullmq` sends wakes at once, through `REDIS_URL`.',
  }),
  REDIS_URL: optional({
    parse: redisUrl,
    description:
      'Redis or Valkey, for `ENGINE=bullmq`: `redis://user:password@host:6379/0` or `rediss://…`. Gateways with different databases need different numbers at its end.',
    secret: true,
  }),
  CARRIER: required({
    default: 'simulator',
    parse: oneOf('simulator', 'http', 'kannel'),
    description:
      'The way out: `simulator` delivers nothing and reports like a network; `http` is another service that speaks this interface; `kannel` is a Kannel SMS gateway. See [carriers](carriers.md).',
  }),
  CARRIER_URL: optional({
    parse: serviceUrl,
    description: 'Address of the carrier, for `CARRIER=http`.',
  }),
  CARRIER_TOKEN: optional({
    parse: apiToken,
    description: 'API token at the carrier, for `CARRIER=http`.',
    secret: true,
  }),
  CARRIER_KEY: optional({
    parse: apiKey,
    description:
      'The `svk_…` key at the carrier, for WhatsApp with `CARRIER=http`. Without it a WhatsApp send is answered 503.',
    secret: true,
  }),
  CARRIER_CALLBACK_SECRET: optional({
    parse: signingSecret,
    description:
      'The `whsec_…` secret the carrier signs its delivery reports with. Without it no callback is taken and reports are only fetched.',
    secret: true,
  }),
  KANNEL_URL: optional({
    parse: httpUrl,
    description:
      "Address of Kannel's smsbox, for `CARRIER=kannel`; without a path, `/cgi-bin/sendsms` is added.",
    // Not shown in errors: a wrong value may contain the password.
    secret: true,
  }),
  KANNEL_USERNAME: optional({
    parse: visible,
    description: 'User of its `sendsms-user` group, for `CARRIER=kannel`.',
  }),
  KANNEL_PASSWORD: optional({
    parse: visible,
    description: 'Password of that user.',
    secret: true,
  }),
  KANNEL_CALLBACK_URL: optional({
    parse: httpUrl,
    description:
      'Address of this gateway as Kannel reaches it, for `CARRIER=kannel`; `/messaging/delivery-reports` is added.',
  }),
  KANNEL_CALLBACK_SECRET: optional({
    parse: secretText,
    description:
      'Signs the addresses Kannel calls with its reports. At least 16 characters; `openssl rand -hex 32` makes one.',
    secret: true,
  }),
  LEASE: required({
    default: '30s',
    parse: duration(1_000, 600_000),
    description:
      'How long a lane stays with a process that fell silent. Forms `30s`, `2m`; `1s` to `10m`.',
  }),
  RATE_LIMIT: required({
    default: '50/s',
    parse: rate,
    description:
      'Messages per account and channel; `dundun account rate` sets one for an account. Forms `400/s`, `600/m`, `10000/h`.',
  }),
  CARRIER_RATE_LIMIT: optional({
    parse: rate,
    description: 'Messages to the carrier over all accounts and replicas, in the same forms.',
  }),
  WHATSAPP_WAIT: required({
    default: '10s',
    parse: duration(0, 60_000),
    description:
      'How long the answer to a WhatsApp send waits for the outcome of the submit; what is not known by then is answered as `queued`. Forms `10s`, `500ms`; `0s` to `60s`.',
  }),
  WHATSAPP_PRICES: required({
    default: 'USD utility=0.0100 marketing=0.0500 authentication=0.0150 service=0',
    parse: prices,
    description:
      'Prices of WhatsApp messages on the simulated carrier: a currency, then a price by category. Other carriers report their own prices.',
  }),
  QUIET_HOURS: optional({
    parse: quietHours,
    description:
      'When nothing leaves, by the recipient’s own clock: `21:00-08:00`. What is due then waits, recipient by recipient; a WhatsApp send is answered `queued` after `WHATSAPP_WAIT`. See [policy](policy.md#in-the-gateway).',
  }),
  FREQUENCY_CAP: optional({
    parse: frequencyCap,
    description:
      'Most messages an account may send to one recipient, by category, in any window of so long: `marketing=2/7d sms=5/24h`. More are refused with `frequency_capped`. Setting it adds an index to the tables (`npm run migration:run` in production).',
  }),
  RETENTION_CONTENT: required({
    default: '30d',
    parse: retention,
    description:
      'How long texts and phone numbers are kept after their batch has ended; the counts stay. Forms `30d`, `12h`; at least `1m`, or `off`: unlimited. Not shorter than a window of `FREQUENCY_CAP`.',
  }),
  RETENTION_MESSAGES: required({
    default: '365d',
    parse: retention,
    description: 'How long batches are kept after their end, in the same forms.',
  }),
  MAX_RECIPIENTS: required({
    default: '100000',
    parse: wholeNumber(1, 1_000_000),
    description: 'Recipients one request may name.',
  }),
  MAX_PARTS: required({
    default: '10',
    parse: wholeNumber(1, 255),
    description: 'Parts one text may take.',
  }),
  BODY_LIMIT: required({
    default: '4MiB',
    parse: size(1 << 10, 64 << 20),
    description:
      'Size of one request’s body; without a credential in use 64 KiB, at the carrier’s callbacks 1 MiB at most. Forms `512KiB`, `4MiB`; `1KiB` to `64MiB`.',
  }),
  REQUEST_LIMIT: required({
    default: '10000/s',
    parse: rateOrOff,
    description:
      'Requests per credential and process, counted in fixed windows. Forms `400/s`, `600/m`, `10000/h`, or `off`.',
  }),
  MAX_PENDING_SENDS: required({
    default: '5000',
    parse: wholeNumber(1, 1_000_000),
    description:
      'Sends one process may hold that its database has not taken yet, a thousand recipients counted as one more; others are answered 503.',
  }),
  REQUEST_TIMEOUT: required({
    default: '30s',
    parse: duration(1_000, 600_000),
    description:
      'Most time a whole request may take to arrive; its headers a third of it. A connection on which nothing moves for four times as long is closed.',
  }),
  MAX_CONNECTIONS: required({
    default: '10000',
    parse: wholeNumber(1, 1_000_000),
    description: 'Connections one process holds; more are closed at once.',
  }),
  AUTH_FAILURE_LIMIT: required({
    default: '60/m',
    parse: rateOrOff,
    description:
      'Requests without a valid credential per address and process, in the same forms; more are answered 429. A valid credential always passes.',
  }),
  LANE_STUCK_AFTER: required({
    default: '5m',
    parse: duration(1_000, 86_400_000),
    description:
      'Time after which due messages of a lane that is not paused and has no holder turn readiness red (503).',
  }),
  METRICS_TOKEN: optional({
    parse: credential,
    description:
      'Token that `GET /metrics` requires as `Authorization: Bearer` where `HOST` is not a loopback address; without a token it refuses all requests there.',
    secret: true,
  }),
  WEBHOOK_ALLOW_PRIVATE: required({
    default: 'false',
    parse: flag,
    description:
      '`true` lets webhooks reach loopback and private addresses. For development; never where strangers set webhook URLs.',
  }),
  LOG_LEVEL: required({
    default: 'info',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    description:
      'Least severe line to log: `fatal`, `error`, `warn`, `info`, `debug` (a line per request), `trace` or `silent`. The command line logs from `warn` unless it is set.',
  }),
} as const;
