import { describe, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { EnvironmentError, readEnvironment } from './environment.js';
import { VARIABLES } from './variables.js';

function problemsOf(source: Record<string, string>): readonly string[] {
  try {
    readEnvironment(source);
  } catch (error) {
    if (error instanceof EnvironmentError) return error.problems;
    throw error;
  }
  return [];
}

/** Settings of the carrier of `CARRIER`. */
function shownOf(source: Record<string, string>) {
  return readEnvironment(source).carriers.all.find(({ role }) => role === 'main')?.shown;
}

/** Carriers that messages of the channel may leave by. */
function namesOf(source: Record<string, string>, channel: string) {
  return readEnvironment(source)
    .carriers.of(channel)
    .map(({ name }) => name);
}

const PRODUCTION = {
  NODE_ENV: 'production',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
};

describe('readEnvironment', () => {
  it('an empty environment is valid', () => {
    const { carriers, ...environment } = readEnvironment({});
    expect(carriers.routes).toEqual([
      { channel: 'voice', use: 'voice-simulator' },
      { use: 'simulator' },
    ]);
    expect(environment).toEqual({
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: 3000,
      DATABASE_URL: { type: 'sqlite', path: 'data/dundun.sqlite' },
      PORTAL_OPERATOR_SECOND_FACTOR: 'optional',
      PREPARED_STATEMENTS: true,
      PROBE_FROM: 'Dundun',
      PROBE_WAIT: 300_000,
      ROLE: 'all',
      SMPP_LISTEN_WINDOW: 50,
      SMPP_LISTEN_ENQUIRE: 30_000,
      SMPP_LISTEN_MAX_UNBOUND: 20,
      SMPP_LISTEN_MAX_BOUND: 50,
      ENGINE: 'database',
      LEASE: 30_000,
      RATE_LIMIT: { max: 50, per: 1_000 },
      RETENTION_CONTENT: 2_592_000_000,
      RETENTION_MESSAGES: 31_536_000_000,
      RETENTION_OUTCOMES: 69_120_000_000,
      MAX_RECIPIENTS: 100_000,
      MAX_PARTS: 10,
      BODY_LIMIT: 4 << 20,
      BODY_BUDGET: 128 << 20,
      CREDENTIAL_BODY_BUDGET: 32 << 20,
      REQUEST_LIMIT: { max: 10_000, per: 1_000 },
      MAX_PENDING_SENDS: 5_000,
      REQUEST_TIMEOUT: 30_000,
      MAX_CONNECTIONS: 10_000,
      AUTH_FAILURE_LIMIT: { max: 60, per: 60_000 },
      LANE_STUCK_AFTER: 300_000,
      PUBLIC_URL: 'http://localhost:3000',
      EMAIL_SPF: 'v=spf1 a mx ~all',
      WHATSAPP_WAIT: 10_000,
      VOICE_PRICE: { prices: { currency: 'USD', voice: '0.0300' }, billing: '60/60' },
      WHATSAPP_PRICES: {
        currency: 'USD',
        whatsapp: {
          utility: '0.0100',
          marketing: '0.0500',
          authentication: '0.0150',
          service: '0',
        },
      },
      ALERTS_EVERY: 60_000,
      ALERTS_SMTP_TLS: 'required',
      WEBHOOK_ALLOW_PRIVATE: false,
      WEBHOOK_PORTS: [
        [80, 80],
        [443, 443],
        [1_024, 65_535],
      ],
      LOG_LEVEL: 'info',
    });
  });

  it('every documented form is read', () => {
    const read = (name: string, value: string): unknown =>
      (readEnvironment({ [name]: value }) as Record<string, unknown>)[name];
    expect(read('RATE_LIMIT', '400/s')).toEqual({ max: 400, per: 1_000 });
    expect(read('RATE_LIMIT', '600/m')).toEqual({ max: 600, per: 60_000 });
    expect(read('RATE_LIMIT', '10000/h')).toEqual({ max: 10_000, per: 3_600_000 });
    expect(readEnvironment({ PORT: '4321' }).PUBLIC_URL).toBe('http://localhost:4321');
    expect(read('LEASE', '2m')).toBe(120_000);
    expect(read('LEASE', '1500ms')).toBe(1_500);
    expect(read('LEASE', '30000')).toBe(30_000);
    expect(read('RATE_LIMIT', '100/10s')).toEqual({ max: 100, per: 10_000 });
    expect(read('RETENTION_CONTENT', '7d')).toBe(604_800_000);
    expect(read('RETENTION_MESSAGES', 'off')).toBeUndefined();
    expect(read('REQUEST_LIMIT', 'off')).toBeUndefined();
    expect(read('BODY_LIMIT', '512KiB')).toBe(512 << 10);
    expect(read('PORT', '0')).toBe(0);
    expect(read('WEBHOOK_ALLOW_PRIVATE', 'true')).toBe(true);
    expect(read('HOST', '::1')).toBe('::1');
    expect(read('WEBHOOK_PORTS', '443, 8000-8999')).toEqual([
      [443, 443],
      [8_000, 8_999],
    ]);
    expect(read('QUIET_HOURS', '21:00-08:00')).toEqual({ from: '21:00', to: '08:00' });
    expect(read('FREQUENCY_CAP', 'marketing=2/7d  sms=5/24h')).toEqual({
      marketing: { max: 2, per: 604_800_000 },
      sms: { max: 5, per: 86_400_000 },
    });
  });

  it('an empty variable counts as unset', () => {
    expect(readEnvironment({ PORT: '', CARRIER: '', CARRIER_TOKEN: '' }).PORT).toBe(3000);
  });

  it.each([
    ['QUIET_HOURS', '21-8'],
    ['QUIET_HOURS', '24:00-08:00'],
    ['QUIET_HOURS', '08:00-08:00'],
    ['FREQUENCY_CAP', 'marketing=2'],
    ['FREQUENCY_CAP', 'marketing=0/7d'],
    ['FREQUENCY_CAP', 'sms=1/0h'],
    ['FREQUENCY_CAP', 'sms=1/1s'],
    ['FREQUENCY_CAP', 'voice=1/1d'],
    ['FREQUENCY_CAP', 'sms=1/1d sms=2/2d'],
    ['WEBHOOK_PORTS', '0'],
    ['WEBHOOK_PORTS', '443,'],
    ['WEBHOOK_PORTS', '2000-1000'],
    ['WEBHOOK_PORTS', '1-65536'],
    ['WEBHOOK_PORTS', 'https'],
  ])('%s=%s is refused', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name} ".*": must be .*write it as`)),
    ]);
  });

  it('keeps messages as long as a frequency cap counts them', () => {
    const FREQUENCY_CAP = 'marketing=2/60d';
    expect(readEnvironment({ FREQUENCY_CAP })).toMatchObject({ RETENTION_CONTENT: 5_184_000_000 });
    expect(problemsOf({ FREQUENCY_CAP, RETENTION_CONTENT: '30d' })).toEqual([
      'RETENTION_CONTENT: is shorter than the window of FREQUENCY_CAP marketing',
    ]);
    expect(problemsOf({ RETENTION_MESSAGES: '30' })).toEqual([
      'RETENTION_MESSAGES "30": must be a duration of at least 1m; write it as 30d or 12h, or off',
    ]);
  });

  it('batches are kept as long as reports and keys need them, and as long as their content', () => {
    expect(problemsOf({ RETENTION_MESSAGES: '71h' })).toEqual([
      'RETENTION_MESSAGES "71h": is shorter than reports and idempotency keys need; write at least 72h, or off',
    ]);
    expect(problemsOf({ RETENTION_MESSAGES: '72h' })).toEqual([]);
    expect(readEnvironment({ RETENTION_MESSAGES: '72h' })).toMatchObject({
      RETENTION_CONTENT: 259_200_000,
    });
    expect(problemsOf({ RETENTION_MESSAGES: '20d', RETENTION_CONTENT: '30d' })).toEqual([
      'RETENTION_CONTENT: is longer than RETENTION_MESSAGES, which deletes the batch with its content',
    ]);
  });

  it('all problems are reported at once with variable and remedy', () => {
    const problems = problemsOf({
      NODE_ENV: 'staging',
      PORT: '70000',
      CARRIER: 'pigeon',
      LEASE: '30',
      RATE_LIMIT: '0/s',
      WEBHOOK_ALLOW_PRIVATE: 'yes',
      REQUEST_LIMIT: 'none',
      BODY_LIMIT: '5GB',
      LOG_LEVEL: 'loud',
      HOST: 'a b',
    });
    expect(problems).toEqual([
      'NODE_ENV "staging": must be one of development, test, production',
      'HOST "a b": must be a host name or address to listen on, such as 127.0.0.1 or 0.0.0.0',
      'PORT "70000": must be a whole number from 0 to 65535',
      'CARRIER "pigeon": must be one of simulator, http, kannel, smpp',
      'LEASE "30": must be a duration from 1s to 600s; write it as 30s, 500ms or 2m',
      'RATE_LIMIT "0/s": must be messages per time; write it as 50/s, 600/m or 10000/h',
      'BODY_LIMIT "5GB": must be a size from 1KiB to 64MiB; write it as 512KiB or 4MiB',
      'REQUEST_LIMIT "none": must be requests per time; write it as 50/s, 600/m or 10000/h, or off',
      'WEBHOOK_ALLOW_PRIVATE "yes": must be one of true, false',
      'LOG_LEVEL "loud": must be one of fatal, error, warn, info, debug, trace, silent',
    ]);
  });

  it('an http carrier needs address and token', () => {
    expect(problemsOf({ CARRIER: 'http' })).toEqual([
      'CARRIER_URL: is missing; CARRIER=http needs it, or set CARRIER=simulator',
      'CARRIER_TOKEN: is missing; CARRIER=http needs it, or set CARRIER=simulator',
    ]);
    expect(
      shownOf({
        CARRIER: 'http',
        CARRIER_URL: 'https://sms.example.com',
        CARRIER_TOKEN: 'tok_x',
      }),
    ).toEqual({ url: 'https://sms.example.com', token: '(secret)' });
  });

  it('a Kannel carrier needs all its settings', () => {
    const kannel = {
      KANNEL_URL: 'http://127.0.0.1:13013',
      KANNEL_USERNAME: 'tester',
      KANNEL_PASSWORD: 'foobar',
      KANNEL_CALLBACK_URL: 'http://10.0.0.5:3000',
      KANNEL_CALLBACK_SECRET: '0123456789abcdef',
    };
    expect(shownOf({ CARRIER: 'kannel', ...kannel })).toMatchObject({ username: 'tester' });
    expect(problemsOf({ CARRIER: 'kannel' })).toEqual(
      Object.keys(kannel).map(
        (name) => `${name}: is missing; CARRIER=kannel needs it, or set CARRIER=simulator`,
      ),
    );
    const wrong = problemsOf({
      KANNEL_URL: 'http://tester:hunter2@box',
      KANNEL_PASSWORD: 'hunter2\n',
      KANNEL_CALLBACK_SECRET: 'hunter2',
    });
    expect(wrong.map((problem) => problem.split(/[: ]/, 1)[0])).toEqual([
      'KANNEL_URL',
      'KANNEL_PASSWORD',
      'KANNEL_CALLBACK_SECRET',
    ]);
    expect(wrong.join()).not.toContain('hunter2');
  });

  it('an SMPP carrier needs an address, and its settings are checked by name', () => {
    const SMPP_URL = 'smpps://tester:hunter2@smsc.example.com:3550';
    expect(shownOf({ CARRIER: 'smpp', SMPP_URL })).toEqual({
      url: '(secret)',
      binds: '1',
      window: '10',
      long: 'udh',
      id_format: 'text',
      time_zone: 'UTC',
    });
    expect(readEnvironment({ CARRIER: 'smpp', SMPP_URL }).carriers.of('vas')).toEqual([]);
    const binds = { SMPP_BINDS: 'tx:2,rx:1', SMPP_MAX_BINDS: '4' };
    expect(shownOf({ CARRIER: 'smpp', SMPP_URL, ...binds })).toMatchObject({
      binds: 'tx:2,rx:1',
      max_binds: '4',
    });
    expect(problemsOf({ SMPP_BINDS: 'tx:2,rx:1', SMPP_MAX_BINDS: '2' })).toEqual([
      'SMPP_MAX_BINDS: must be at least 3, the binds of one process',
    ]);
    expect(problemsOf({ CARRIER: 'smpp' })).toEqual([
      'SMPP_URL: is missing; CARRIER=smpp needs it; write smpp://system_id:password@smsc.example.com:2775',
    ]);
    const wrong = {
      SMPP_URL: 'smpp://tester:hunter2hunter2@smsc.example.com',
      SMPP_BINDS: 'rx:1',
      SMPP_MAX_BINDS: '0',
      SMPP_WINDOW: '0',
      SMPP_SYSTEM_TYPE: 'thirteen long',
      SMPP_LONG: 'concat',
      SMPP_ID_FORMAT: 'hexadecimal',
      SMPP_TIME_ZONE: 'Lagos',
    };
    const problems = problemsOf(wrong);
    expect(problems.map((problem) => problem.split(/[: ]/, 1)[0])).toEqual(Object.keys(wrong));
    expect(problems.join()).not.toContain('hunter2');
  });

  it('of the two files of the SMPP server neither is enough', () => {
    expect(problemsOf({ SMPP_TLS_CERT: 'cert.pem' })).toEqual([
      'SMPP_TLS_KEY: is missing; the SMPP server speaks TLS with both files',
    ]);
    expect(problemsOf({ SMPP_TLS_KEY: 'key.pem' })).toEqual([
      'SMPP_TLS_CERT: is missing; the SMPP server speaks TLS with both files',
    ]);
  });

  it.each([
    'http://tester:hunter2@smsc.example.com',
    'smpp://smsc.example.com',
    'smpp://a-system-id-of-17:hunter2@smsc.example.com',
    'smpp://tester:hunter2@smsc.example.com/path',
  ])('an SMPP address that cannot be right is named: %s', (SMPP_URL) => {
    const [problem, ...others] = problemsOf({ SMPP_URL });
    expect(problem).toMatch(/^SMPP_URL: /);
    expect(problem).not.toContain('hunter2');
    expect(others).toEqual([]);
  });

  it.each([
    ['Bearer tok_secret', /leave the word Bearer out/],
    ['tok_secret ', /a space or a line break/],
    ['tok_se\ncret', /a space or a line break/],
  ])('a damaged carrier token is named: %j', (token, remedy) => {
    const [problem] = problemsOf({ CARRIER_TOKEN: token });
    expect(problem).toMatch(remedy);
    expect(problem).not.toContain('secret');
  });

  it.each([
    ['CARRIER_TOKEN', 'svk_secret', /is an svk_ key.*CARRIER_KEY/],
    ['CARRIER_TOKEN', 'tok_\u200bsecret', /printable ASCII/],
    ['CARRIER_KEY', 'tok_secret', /must start with svk_.*CARRIER_TOKEN/],
    ['CARRIER_KEY', 'Bearer svk_secret', /leave the word Bearer out/],
    ['CARRIER_KEY', 'svk_secret\u00a0', /a space or a line break/],
    ['CARRIER_URL', 'https://sms.example.com/ng/v1/sendsms', /the address before \/ng\/v1/],
  ])('an invalid carrier setting is named: %s=%j', (name, value, remedy) => {
    const [problem] = problemsOf({ [name]: value });
    expect(problem).toMatch(new RegExp(`^${name}\\b`));
    expect(problem).toMatch(remedy);
    expect(problem).not.toContain('secret');
  });

  it('WhatsApp prices are read and a wrong form is explained', () => {
    expect(readEnvironment({ WHATSAPP_PRICES: 'NGN marketing=51.5 service=0' })).toMatchObject({
      WHATSAPP_PRICES: { currency: 'NGN', whatsapp: { marketing: '51.5', service: '0' } },
    });
    for (const wrong of ['1', 'ngn service=0', 'NGN sms=1', 'NGN service=1e3', 'NGN service'])
      expect(problemsOf({ WHATSAPP_PRICES: wrong })).toEqual([
        expect.stringMatching(/^WHATSAPP_PRICES .*write it as USD utility=/),
      ]);
  });

  it('SMS prices are read by prefix and a wrong form is explained', () => {
    expect(readEnvironment({ SMS_PRICES: 'NGN *=9.5 234=4.250001' })).toMatchObject({
      SMS_PRICES: {
        currency: 'NGN',
        prefixes: [
          ['*', '9.5'],
          ['234', '4.250001'],
        ],
      },
    });
    for (const wrong of ['NGN', '*=1', 'NGN +234=1', 'NGN 0=1', 'NGN 234=1 234=2', 'NGN *=1e3'])
      expect(problemsOf({ SMS_PRICES: wrong })).toEqual([
        expect.stringMatching(/^SMS_PRICES .*write it as USD \*=/),
      ]);
  });

  it('EMAIL_CARRIER=http needs an address and a key, and is the default beside CARRIER=http with a key', () => {
    const carrier = {
      CARRIER_URL: 'https://sms.example.com',
      CARRIER_TOKEN: 'tok_x',
      CARRIER_KEY: 'svk_x',
    };
    expect(problemsOf({ EMAIL_CARRIER: 'http' })).toEqual([
      'CARRIER_URL: is missing; EMAIL_CARRIER=http needs it, or leave EMAIL_CARRIER out',
      'CARRIER_KEY: is missing; EMAIL_CARRIER=http needs it, or leave EMAIL_CARRIER out',
    ]);
    const { CARRIER_TOKEN: _none, ...ofEmail } = carrier;
    expect(namesOf({ ...ofEmail, EMAIL_CARRIER: 'http' }, 'email')).toEqual(['http']);
    expect(namesOf({ ...carrier, CARRIER: 'http' }, 'email')).toEqual(['http']);
  });

  it('production needs PUBLIC_URL, with https, where email leaves', () => {
    const relay = {
      ...PRODUCTION,
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: 'smtp://relay.example.com',
    };
    expect(problemsOf(relay)).toEqual([
      'PUBLIC_URL: is missing; EMAIL_CARRIER=smtp needs it in production; write the address of this gateway as recipients of mail reach it, such as https://mail.example.com',
    ]);
    expect(problemsOf({ ...relay, PUBLIC_URL: 'http://mail.example.com' })).toEqual([
      expect.stringMatching(/^PUBLIC_URL "http:.*": must start with https:\/\/ in production/),
    ]);
    expect(problemsOf({ ...relay, PUBLIC_URL: 'https://mail.example.com' })).toEqual([]);
    expect(problemsOf({ ...relay, NODE_ENV: 'test' })).toEqual([]);
    expect(problemsOf(PRODUCTION)).toEqual([]);
  });

  it('EMAIL_CARRIER=smtp needs a relay, and email has no carrier beside another than the simulator', () => {
    const SMTP_URL = 'smtps://user:hunter2@relay.example.com';
    expect(namesOf({ EMAIL_CARRIER: 'smtp', SMTP_URL }, 'email')).toEqual(['smtp']);
    expect(problemsOf({ EMAIL_CARRIER: 'smtp' })).toEqual([
      'SMTP_URL: is missing; EMAIL_CARRIER=smtp needs it; write smtp://user:password@relay.example.com:587',
    ]);
    for (const wrong of ['relay', 'http://relay', 'smtp://user@relay', 'smtp://relay/x']) {
      const [problem] = problemsOf({ SMTP_URL: wrong });
      expect([wrong, problem]).toEqual([wrong, expect.stringMatching(/^SMTP_URL: /)]);
    }
    const carrier = {
      CARRIER: 'http',
      CARRIER_URL: 'https://sms.example.com',
      CARRIER_TOKEN: 'tok_x',
    };
    expect(namesOf(carrier, 'email')).toEqual([]);
  });

  it('TRUSTED_PROXIES are addresses and networks', () => {
    expect(
      readEnvironment({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,::1' }).TRUSTED_PROXIES,
    ).toEqual(['127.0.0.1', '10.0.0.0/8', '::1']);
    for (const TRUSTED_PROXIES of ['proxy.example.com', '10.0.0.0/33', '127.0.0.1,', 'true'])
      expect(problemsOf({ TRUSTED_PROXIES })).toEqual([
        expect.stringMatching(/^TRUSTED_PROXIES ".*": must be addresses or networks/),
      ]);
  });

  it('SMPP_LISTEN is an address and a port, and off by default', () => {
    expect(readEnvironment({}).SMPP_LISTEN).toBeUndefined();
    const where = { host: '127.0.0.1', port: 2775 };
    expect(readEnvironment({ SMPP_LISTEN: '127.0.0.1:2775' }).SMPP_LISTEN).toEqual(where);
    expect(
      problemsOf({ SMPP_LISTEN: '2775', SMPP_LISTEN_WINDOW: '0', SMPP_LISTEN_ENQUIRE: '1ms' }),
    ).toEqual([
      expect.stringMatching(/^SMPP_LISTEN "2775": must be an address and a port/),
      expect.stringMatching(/^SMPP_LISTEN_WINDOW "0": must be a whole number from 1 to 1000/),
      expect.stringMatching(/^SMPP_LISTEN_ENQUIRE "1ms": must be a duration/),
    ]);
  });

  it('EMAIL_LISTEN is an address and a port, beside EMAIL_CARRIER=smtp', () => {
    const relay = { EMAIL_CARRIER: 'smtp', SMTP_URL: 'smtp://relay.example.com' };
    for (const [EMAIL_LISTEN, host, port] of [
      ['127.0.0.1:2525', '127.0.0.1', 2_525],
      ['0.0.0.0:25', '0.0.0.0', 25],
      ['[::1]:25', '::1', 25],
      ['localhost:0', 'localhost', 0],
    ] as const)
      expect(readEnvironment({ ...relay, EMAIL_LISTEN }).EMAIL_LISTEN).toEqual({ host, port });
    for (const EMAIL_LISTEN of ['2525', '127.0.0.1', '127.0.0.1:', '127.0.0.1:70000', '::1:25'])
      expect(problemsOf({ ...relay, EMAIL_LISTEN })).toEqual([
        expect.stringMatching(
          /^EMAIL_LISTEN ".*": must be an address and a port .*127\.0\.0\.1:2525/,
        ),
      ]);
    expect(problemsOf({ EMAIL_LISTEN: '127.0.0.1:2525' })).toEqual([
      'EMAIL_LISTEN: is for EMAIL_CARRIER=smtp; other carriers report bounces by themselves',
    ]);
  });

  it('ENGINE=bullmq needs REDIS_URL', () => {
    expect(problemsOf({ ENGINE: 'bullmq' })).toEqual([
      'REDIS_URL: is missing; ENGINE=bullmq needs it, or set ENGINE=database',
    ]);
    const REDIS_URL = 'rediss://user:hunter2@redis:6380/3';
    expect(readEnvironment({ ENGINE: 'bullmq', REDIS_URL })).toMatchObject({ REDIS_URL });
  });

  it.each(['redis:6379', 'http://redis', 'redis://:hunter2@redis/main'])(
    'the Redis address %j is refused with an example',
    (REDIS_URL) => {
      const [problem] = problemsOf({ REDIS_URL });
      expect(problem).toMatch(/^REDIS_URL: .*redis:\/\/|^REDIS_URL: .*such as \/0/);
      expect(problem).not.toContain('hunter2');
    },
  );

  it('production refuses a sample secret and a short one by name', () => {
    const settings = {
      DATABASE_URL: 'postgres://dundun:change-me@db/dundun',
      CARRIER: 'http',
      CARRIER_URL: 'https://sms.example.com',
      CARRIER_TOKEN: 'tok_short',
      CARRIER_CALLBACK_SECRET: 'whsec_Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWU=',
      KANNEL_CALLBACK_SECRET: 'x'.repeat(23),
      METRICS_TOKEN: 'x'.repeat(24),
    };
    const sample = 'is the sample of docs/environments; set a secret of your own';
    expect(problemsOf(settings)).toEqual([]);
    expect(problemsOf({ ...settings, ...PRODUCTION })).toEqual([
      `DATABASE_URL: ${sample}`,
      expect.stringMatching(/^CARRIER_TOKEN: is shorter than 24 bytes; openssl rand/),
      `CARRIER_CALLBACK_SECRET: ${sample}`,
      expect.stringMatching(/^KANNEL_CALLBACK_SECRET: is shorter than 24 bytes/),
    ]);
  });

  it('production needs SECRETS_KEY', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toEqual([
      'SECRETS_KEY: is missing; NODE_ENV=production needs it; openssl rand -base64 32 makes one',
    ]);
    expect(readEnvironment(PRODUCTION).SECRETS_KEY).toEqual(Buffer.alloc(32, 7));
  });

  it.each(['hunter2', 'A'.repeat(43), Buffer.alloc(31).toString('base64'), `${'A'.repeat(64)}`])(
    'the encryption key %j is refused with the remedy',
    (key) => {
      for (const name of ['SECRETS_KEY', 'SECRETS_KEY_PREVIOUS'])
        expect(problemsOf({ [name]: key })).toEqual([
          `${name}: must be 32 bytes in base64; openssl rand -base64 32 makes one`,
        ]);
    },
  );

  it('a wrong secret is never shown', () => {
    const problems = problemsOf({
      DATABASE_URL: 'oracle://root:hunter2@db/x',
      CARRIER_CALLBACK_SECRET: 'hunter2',
    }).join('\n');
    expect(problems).toContain('DATABASE_URL: ');
    expect(problems).toContain('CARRIER_CALLBACK_SECRET: ');
    expect(problems).not.toContain('hunter2');
  });
});

const docs = join(import.meta.dirname, '../../docs');

/** The rows of its tables: name, default, example. */
const rowsOf = (page: string) => [
  ...page.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (`.+?`) \| .{10,} \|$/gm),
];

describe('docs/configuration.md', () => {
  it('docs/configuration.md describes every variable with its default', async () => {
    const page = await readFile(join(docs, 'configuration.md'), 'utf8');
    const written = rowsOf(page).map(([, name = '', usual = '']) => [name, usual] as const);
    const expected = Object.entries(VARIABLES).map(([name, variable]) => [
      name,
      variable.default === undefined ? '–' : `\`${variable.default}\``,
    ]) as [string, string][];
    expect(written).toHaveLength(expected.length);
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(expected));
  });

  it('the example of every variable is a value that it takes', async () => {
    const page = await readFile(join(docs, 'configuration.md'), 'utf8');
    const refused = rowsOf(page).flatMap(([, name = '', , example = '']) => {
      try {
        VARIABLES[name]?.parse(example.slice(1, -1));
        return [];
      } catch (error) {
        return [`${name}: ${String(error)}`];
      }
    });
    expect(refused).toEqual([]);
  });

  it('the variables that a production gateway sets first are enough', async () => {
    const page = await readFile(join(docs, 'configuration.md'), 'utf8');
    const [, block = ''] = /```sh\n(NODE_ENV=production[^]*?)```/.exec(page) ?? [];
    const first = parseEnv(block) as Record<string, string>;
    const directory = await mkdtemp(join(tmpdir(), 'dundun-first-'));
    const file = join(directory, 'carriers.yaml');
    await writeFile(file, 'carriers:\n  main: { type: simulator }\nroutes:\n  - use: main\n');
    const own = {
      ...PRODUCTION,
      DATABASE_URL: 'postgres://dundun:hunter2@db.internal:5432/dundun',
      CARRIERS_FILE: file,
    };
    expect(Object.keys(first)).toEqual(expect.arrayContaining(Object.keys(own)));
    expect(problemsOf({ ...first, ...own })).toEqual([]);
    await rm(directory, { recursive: true });
  });

  const exampleOf = async (name: string): Promise<Record<string, string>> => {
    const example = parseEnv(await readFile(join(docs, 'environments', `${name}.env`), 'utf8'));
    expect(Object.keys(example).filter((key) => !Object.hasOwn(VARIABLES, key))).toEqual([]);
    return example as Record<string, string>;
  };

  it.each(['development', 'test'])('the %s example environment is valid', async (name) => {
    expect(readEnvironment(await exampleOf(name)).NODE_ENV).toBe(name);
  });

  it('the production example environment is valid once its samples are replaced', async () => {
    const example = await exampleOf('production');
    const names = Object.keys(example).filter((name) =>
      Object.hasOwn(VARIABLES[name] ?? {}, 'secret'),
    );
    const problems = problemsOf(example);
    expect(problems.map((problem) => problem.split(':', 1)[0]).toSorted()).toEqual(
      names.toSorted(),
    );
    for (const problem of problems) expect(problem).toMatch(/sample of docs\/environments/);
    const own = {
      DATABASE_URL: 'postgres://dundun:hunter2@db.internal:5432/dundun',
      CARRIER_TOKEN: `tok_${'x'.repeat(49)}`,
      CARRIER_CALLBACK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      ...PRODUCTION,
    };
    expect(readEnvironment({ ...example, ...own }).NODE_ENV).toBe('production');
  });
});
