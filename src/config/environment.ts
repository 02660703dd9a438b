import { CARRIER_VARIABLES } from './carrier.variables.js';
import { parseDatabaseUrl } from './database-url.js';
import { EnvironmentError } from './environment-error.js';
import { LIMIT_VARIABLES } from './limit.variables.js';
import { POLICY_VARIABLES } from './policy.variables.js';
import {
  credential,
  duration,
  flag,
  host,
  oneOf,
  optional,
  prices,
  rate,
  redisUrl,
  required,
  type RequiredVariable,
  type Variable,
  wholeNumber,
} from './variable.js';

/**
 * Every setting of the gateway and its command line. These tables are the only place that knows their
 * names, defaults and forms; `docs/configuration.md` is held to it by a spec.
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
      'How processes learn of work that another accepted: `database` looks for it there every two seconds; `bullmq` is told at once, through `REDIS_URL`.',
  }),
  REDIS_URL: optional({
    parse: redisUrl,
    description:
      'Redis or Valkey, for `ENGINE=bullmq`: `redis://user:password@host:6379/0` or `rediss://…`. Gateways with different databases need different numbers at its end.',
    secret: true,
  }),
  ...CARRIER_VARIABLES,
  LEASE: required({
    default: '30s',
    parse: duration(1_000, 600_000),
    description:
      'How long a lane stays with a process that fell silent. Forms `30s`, `2m`; `1s` to `10m`.',
  }),
  RATE_LIMIT: required({
    default: '50/s',
    parse: rate,
    description: 'Messages per account and channel. Forms `400/s`, `600/m`, `10000/h`.',
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
      'What the simulated carrier charges for a WhatsApp message: a currency, then a price by category. Other carriers tell their own prices.',
  }),
  ...POLICY_VARIABLES,
  ...LIMIT_VARIABLES,
  LANE_STUCK_AFTER: required({
    default: '5m',
    parse: duration(1_000, 86_400_000),
    description:
      'Due messages of a lane that is not paused and that nobody works on turn readiness red (503) after so long.',
  }),
  METRICS_TOKEN: optional({
    parse: credential,
    description:
      'What `GET /metrics` asks for as `Authorization: Bearer` where `HOST` is not a loopback address; without one nobody may read it there.',
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

type Variables = typeof VARIABLES;

/** The settings, read and checked. */
export type Environment = {
  readonly [Name in keyof Variables]: Variables[Name] extends RequiredVariable<infer T>
    ? T
    : Variables[Name] extends Variable<infer T>
      ? T | undefined
      : never;
};

/** Settings a carrier cannot do without. */
const NEEDED_BY: Readonly<Record<Environment['CARRIER'], readonly (keyof Variables)[]>> = {
  simulator: [],
  http: ['CARRIER_URL', 'CARRIER_TOKEN'],
  kannel: [
    'KANNEL_URL',
    'KANNEL_USERNAME',
    'KANNEL_PASSWORD',
    'KANNEL_CALLBACK_URL',
    'KANNEL_CALLBACK_SECRET',
  ],
};

/** Injection token of the {@link Environment}. */
export const ENVIRONMENT = Symbol('ENVIRONMENT');

/**
 * Reads every setting; an empty variable counts as unset.
 * @throws EnvironmentError with all problems at once.
 */
export function readEnvironment(source: Readonly<Record<string, string | undefined>>): Environment {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries<Variable<unknown>>(VARIABLES)) {
    const written = source[name] || variable.default;
    if (written === undefined) continue;
    try {
      values[name] = variable.parse(written);
    } catch (error) {
      const shown = variable.secret ? '' : ` ${JSON.stringify(written)}`;
      problems.push(`${name}${shown}: ${(error as Error).message}`);
    }
  }
  const carrier = values.CARRIER as Environment['CARRIER'] | undefined;
  for (const name of carrier ? NEEDED_BY[carrier] : [])
    if (!source[name])
      problems.push(`${name}: is missing; CARRIER=${carrier} needs it, or set CARRIER=simulator`);
  if (values.ENGINE === 'bullmq' && !source.REDIS_URL)
    problems.push('REDIS_URL: is missing; ENGINE=bullmq needs it, or set ENGINE=database');
  if (problems.length > 0) throw new EnvironmentError(problems);
  return values as Environment;
}
