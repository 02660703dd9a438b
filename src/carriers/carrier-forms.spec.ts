import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { OnApplicationShutdown } from '@nestjs/common';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transportContext } from '../../test/support/transport-context.js';
import { type EnvironmentError, readEnvironment } from '../config/environment.js';
import type { CarrierType } from './carrier-type.js';
import { CARRIER_TYPES, type CarrierTypeName } from './carrier-types.js';
import { CARRIER_CHOOSERS, CARRIER_KEYS } from './carrier-variables.js';
import { transportOf } from './carriers.js';

/** A carrier with every key of its type, and the variables that mean the same. */
interface Form {
  readonly settings: Readonly<Record<string, string>>;
  /** The choice, then a variable for each key. */
  readonly variables?: Readonly<Record<string, string>>;
}

const SECRET = 'a-secret-of-a-carrier-1234';
const CALLBACK = 'https://sms.example.com';
const PEM = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;

const HTTP = {
  url: 'https://other.example.com',
  token: `tok_${'x'.repeat(49)}`,
  key: `svk_${'x'.repeat(49)}`,
  callback_secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
};

const TWILIO = {
  account_sid: `AC${'a1'.repeat(16)}`,
  auth_token: 'f'.repeat(32),
  callback_url: CALLBACK,
  url: 'http://127.0.0.1:4010',
};

const FORMS: Readonly<Record<CarrierTypeName, Form>> = {
  simulator: { settings: {}, variables: { CARRIER: 'simulator' } },
  http: {
    settings: HTTP,
    variables: {
      CARRIER: 'http',
      CARRIER_URL: HTTP.url,
      CARRIER_TOKEN: HTTP.token,
      CARRIER_KEY: HTTP.key,
      CARRIER_CALLBACK_SECRET: HTTP.callback_secret,
    },
  },
  kannel: {
    settings: {
      url: 'http://127.0.0.1:13013',
      username: 'tester',
      password: SECRET,
      callback_url: CALLBACK,
      callback_secret: `${SECRET}-of-callbacks`,
    },
    variables: {
      CARRIER: 'kannel',
      KANNEL_URL: 'http://127.0.0.1:13013',
      KANNEL_USERNAME: 'tester',
      KANNEL_PASSWORD: SECRET,
      KANNEL_CALLBACK_URL: CALLBACK,
      KANNEL_CALLBACK_SECRET: `${SECRET}-of-callbacks`,
    },
  },
  smpp: {
    settings: {
      url: 'smpp://tester:secret@smsc.example.com:2775',
      binds: 'tx:2,rx:1',
      max_binds: '6',
      window: '20',
      system_type: 'VMA',
      long: 'sar',
      id_format: 'hex',
      time_zone: 'Africa/Lagos',
    },
    variables: {
      CARRIER: 'smpp',
      SMPP_URL: 'smpp://tester:secret@smsc.example.com:2775',
      SMPP_BINDS: 'tx:2,rx:1',
      SMPP_MAX_BINDS: '6',
      SMPP_WINDOW: '20',
      SMPP_SYSTEM_TYPE: 'VMA',
      SMPP_LONG: 'sar',
      SMPP_ID_FORMAT: 'hex',
      SMPP_TIME_ZONE: 'Africa/Lagos',
    },
  },
  smtp: {
    settings: { url: 'smtp://relay.example.com:2525', tls: 'off' },
    variables: {
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: 'smtp://relay.example.com:2525',
      SMTP_TLS: 'off',
    },
  },
  twilio: {
    settings: {
      ...TWILIO,
      messaging_service_sid: `MG${'b2'.repeat(16)}`,
      content_sids: `order_update=HX${'c3'.repeat(16)}`,
    },
  },
  'twilio-voice': {
    settings: TWILIO,
    variables: {
      VOICE_CARRIER: 'twilio',
      TWILIO_ACCOUNT_SID: TWILIO.account_sid,
      TWILIO_AUTH_TOKEN: TWILIO.auth_token,
      TWILIO_CALLBACK_URL: TWILIO.callback_url,
      TWILIO_URL: TWILIO.url,
    },
  },
  'voice-simulator': { settings: {}, variables: { VOICE_CARRIER: 'simulator' } },
  vonage: {
    settings: {
      api_key: 'abcd1234',
      api_secret: SECRET,
      application_id: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      private_key: PEM,
      signature_secret: `${SECRET}-of-signatures`,
      callback_url: CALLBACK,
      url: 'http://127.0.0.1:4010',
    },
  },
  infobip: {
    settings: {
      url: 'https://account.example.com',
      api_key: 'key-4711-of-the-account',
      callback_url: CALLBACK,
      callback_secret: SECRET,
    },
  },
  'africas-talking': {
    settings: {
      username: 'acme',
      api_key: 'key-4711-of-the-account',
      callback_secret: SECRET,
      url: 'http://127.0.0.1:4010',
    },
  },
  termii: {
    settings: {
      url: 'https://account.example.com',
      api_key: 'key-4711-of-the-account',
      secret_key: SECRET,
      route: 'dnd',
    },
  },
  plivo: {
    settings: {
      auth_id: 'MA'.padEnd(20, 'X'),
      auth_token: SECRET,
      callback_url: CALLBACK,
      url: 'http://127.0.0.1:4010',
    },
  },
  clickatell: {
    settings: {
      api_key: 'key-4711-of-the-account',
      callback_secret: SECRET,
      url: 'http://127.0.0.1:4010',
    },
  },
  'whatsapp-cloud': {
    settings: {
      token: 'EAAG-token-of-a-system-user',
      app_secret: SECRET,
      verify_token: `${SECRET}-to-verify`,
      url: 'http://127.0.0.1:4010',
    },
    variables: {
      WHATSAPP_CARRIER: 'whatsapp-cloud',
      WHATSAPP_CLOUD_TOKEN: 'EAAG-token-of-a-system-user',
      WHATSAPP_CLOUD_APP_SECRET: SECRET,
      WHATSAPP_CLOUD_VERIFY_TOKEN: `${SECRET}-to-verify`,
      WHATSAPP_CLOUD_URL: 'http://127.0.0.1:4010',
    },
  },
  reloadly: {
    settings: {
      client_id: 'id-4711',
      client_secret: SECRET,
      countries: 'NG,GH',
      url: 'http://127.0.0.1:4010',
      auth_url: 'http://127.0.0.1:4011',
    },
    variables: {
      VAS_CARRIER: 'reloadly',
      RELOADLY_CLIENT_ID: 'id-4711',
      RELOADLY_CLIENT_SECRET: SECRET,
      RELOADLY_COUNTRIES: 'NG,GH',
      RELOADLY_URL: 'http://127.0.0.1:4010',
      RELOADLY_AUTH_URL: 'http://127.0.0.1:4011',
    },
  },
};

const types = Object.entries(CARRIER_TYPES) as [CarrierTypeName, CarrierType][];

/** The settings that the type makes its carrier of, and whether callbacks come to it. */
function madeOf(type: CarrierTypeName, source: Readonly<Record<string, string>>) {
  const make = jest.spyOn(CARRIER_TYPES[type] as CarrierType, 'make');
  try {
    const { all } = readEnvironment(source).carriers;
    const [settings] = make.mock.lastCall ?? [];
    const { channels, shown, callbacks } = all.find((one) => one.type === type) ?? {};
    return {
      settings: settings as unknown,
      channels,
      shown,
      hasCallbacks: callbacks !== undefined,
    };
  } finally {
    make.mockRestore();
  }
}

describe('types of carriers', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-forms-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function fileOf(type: string, settings: Form['settings']) {
    const path = join(directory, `${type}.json`);
    const carriers = { one: { type, ...settings } };
    await writeFile(path, JSON.stringify({ carriers, routes: [{ use: 'one' }] }));
    return { CARRIERS_FILE: path };
  }

  it.each(types)(
    'a file reaches %s with every key, and the transport carries the channels of the type',
    async (type, { settings: keys, channels }) => {
      const { settings } = FORMS[type];
      expect(Object.keys(settings).toSorted()).toEqual(Object.keys(keys).toSorted());
      const [carrier, ...others] = readEnvironment(await fileOf(type, settings)).carriers.all;
      expect([carrier?.type, carrier?.channels, others]).toEqual([type, channels, []]);
      const make = await transportOf(carrier!, {
        phoneNumberIdOf: () => undefined,
        mail: async () => ({ helo: 'mail.test' }),
      });
      const transport = make(transportContext());
      const carried = transport.capabilities.channels;
      await (transport as Partial<OnApplicationShutdown>).onApplicationShutdown?.();
      // The simulator has those with a simulation.
      expect(channels === undefined || carried).toEqual(channels ?? true);
    },
  );

  it.each(types.filter(([type]) => FORMS[type].variables))(
    'variables make %s of the same settings as the file',
    async (type) => {
      const { settings, variables = {} } = FORMS[type];
      const ofFile = madeOf(type, await fileOf(type, settings));
      expect(madeOf(type, variables)).toEqual(ofFile);
      expect(Object.keys(ofFile.settings as object)).toEqual(
        expect.arrayContaining(Object.keys(settings)),
      );
    },
  );

  it('every variable of a carrier is in the table above, except those of all types', () => {
    const there = types.flatMap(([type]) => Object.keys(FORMS[type].variables ?? {}));
    expect([...there, 'CARRIER_RATE_LIMIT']).toEqual(
      expect.arrayContaining([...Object.keys(CARRIER_KEYS), ...Object.keys(CARRIER_CHOOSERS)]),
    );
  });

  it('the file and the variables name a wrong value, each in its own words', async () => {
    const settings = { ...HTTP, token: HTTP.key };
    const problemOf = (source: Record<string, string>) => {
      try {
        readEnvironment(source);
        return [];
      } catch (error) {
        return (error as EnvironmentError).problems;
      }
    };
    const rule = 'is an svk_ key, which SMS does not take; write it as';
    expect(problemOf(await fileOf('http', settings))).toEqual([
      `CARRIERS_FILE carriers.one.token: ${rule} key`,
    ]);
    expect(problemOf({ CARRIER: 'http', CARRIER_URL: HTTP.url, CARRIER_TOKEN: HTTP.key })).toEqual([
      `CARRIER_TOKEN: ${rule} CARRIER_KEY`,
    ]);
    expect(problemOf(await fileOf('http', { url: HTTP.url }))).toEqual([
      'CARRIERS_FILE carriers.one.token: is missing; key alone is for WhatsApp and email',
    ]);
    const binds = { url: 'smpp://tester:secret@smsc.example.com', binds: '3', max_binds: '2' };
    expect(problemOf(await fileOf('smpp', binds))).toEqual([
      'CARRIERS_FILE carriers.one.max_binds: must be at least 3, the binds of one process',
    ]);
  });
});

describe('rules of the variables', () => {
  const wayOf = (source: Record<string, string>, channel: string) =>
    readEnvironment(source)
      .carriers.of(channel)
      .map(({ name, type }) => [name, type]);
  const variables = (type: CarrierTypeName) => FORMS[type].variables as Record<string, string>;

  it('a channel has the carrier of its variable, else that of CARRIER where it carries it', () => {
    const source = {
      ...variables('kannel'),
      ...variables('smtp'),
      ...variables('twilio-voice'),
    };
    expect(wayOf(source, 'sms')).toEqual([['kannel', 'kannel']]);
    expect(wayOf(source, 'email')).toEqual([['smtp', 'smtp']]);
    expect(wayOf(source, 'voice')).toEqual([['twilio', 'twilio-voice']]);
    expect(wayOf(source, 'whatsapp')).toEqual([]);
    expect(wayOf({ CARRIER: 'simulator' }, 'voice')).toEqual([
      ['voice-simulator', 'voice-simulator'],
    ]);
    expect(wayOf({ CARRIER: 'simulator' }, 'whatsapp')).toEqual([['simulator', 'simulator']]);
  });

  it('http without a key carries neither WhatsApp nor email', () => {
    const { CARRIER_KEY: _none, ...source } = variables('http');
    const { all } = readEnvironment(source).carriers;
    expect(all.map(({ channels }) => channels)).toEqual([['sms', 'voice', 'vas']]);
    expect(wayOf(source, 'email')).toEqual([]);
    expect(wayOf(variables('http'), 'email')).toEqual([['http', 'http']]);
  });

  it('one carrier http serves CARRIER, EMAIL_CARRIER and VAS_CARRIER', () => {
    const beside = { EMAIL_CARRIER: 'http', VAS_CARRIER: 'http', VOICE_CARRIER: 'simulator' };
    const { carriers } = readEnvironment({ ...variables('http'), ...beside });
    expect(carriers.all.map(({ name, role }) => [name, role])).toEqual([
      ['http', 'main'],
      ['voice-simulator', 'beside'],
    ]);
    expect(carriers.callbacks()).toMatchObject({ provider: 'http' });
    const { carriers: others } = readEnvironment({
      ...variables('kannel'),
      ...variables('http'),
      CARRIER: 'kannel',
      ...beside,
    });
    expect(Object.keys(others.callbacks()?.providers ?? {})).toEqual(['http']);
    expect(others.callbacks()).toMatchObject({ provider: 'kannel' });
  });

  it("CARRIER_RATE_LIMIT is the rate of CARRIER, and Meta's limit is that of WhatsApp", () => {
    const source = {
      ...variables('http'),
      ...variables('whatsapp-cloud'),
      CARRIER_RATE_LIMIT: '20/s',
    };
    const { carriers } = readEnvironment(source);
    expect(carriers.all.map(({ name, rateLimit }) => [name, rateLimit])).toEqual([
      ['http', { max: 20, per: 1_000 }],
      ['whatsapp-cloud', undefined],
    ]);
    expect(carriers.accountRates).toEqual({ whatsapp: { max: 80, per: 1_000 } });
    expect(readEnvironment(variables('http')).carriers.accountRates).toEqual({});
  });
});

describe('mail of a file of carriers', () => {
  let path: string;
  beforeAll(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'dundun-mail-')), 'carriers.json');
  });
  afterAll(() => rm(dirname(path), { recursive: true }));

  const RELAY = { type: 'smtp', url: 'smtp://relay.example.com' };
  async function problemsOf(
    carriers: Record<string, object>,
    routes: readonly object[],
    more: Record<string, string>,
  ) {
    await writeFile(path, JSON.stringify({ carriers, routes }));
    try {
      readEnvironment({ CARRIERS_FILE: path, ...more });
    } catch (error) {
      return (error as EnvironmentError).problems;
    }
    return [];
  }

  it('EMAIL_LISTEN needs one carrier smtp', async () => {
    const EMAIL_LISTEN = '127.0.0.1:2525';
    const sms = { sms: { type: 'simulator' } };
    expect(await problemsOf(sms, [{ use: 'sms' }], { EMAIL_LISTEN })).toEqual([
      expect.stringContaining('EMAIL_LISTEN: is for'),
    ]);
    const one = { relay: RELAY };
    const routes = [{ channel: 'email', use: 'relay' }];
    expect(await problemsOf(one, routes, { EMAIL_LISTEN })).toEqual([]);
    expect(await problemsOf({ ...one, other: RELAY }, routes, { EMAIL_LISTEN })).toEqual([
      'EMAIL_LISTEN: takes the returned mail of one carrier; there are relay, other',
    ]);
  });

  it('production needs PUBLIC_URL where email leaves by a carrier that is not simulated', async () => {
    const production = {
      NODE_ENV: 'production',
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const carriers = { relay: RELAY, sim: { type: 'simulator' } };
    const missing = [
      expect.stringMatching(/^PUBLIC_URL: is missing; CARRIERS_FILE carriers.relay needs it in/),
    ];
    expect(await problemsOf(carriers, [{ channel: 'email', use: 'relay' }], production)).toEqual(
      missing,
    );
    const failing = [{ use: { failover: ['sim', 'relay'] } }];
    expect(await problemsOf(carriers, failing, production)).toEqual(missing);
    const simulated = [{ channel: 'email', use: 'sim' }, { use: 'relay' }];
    expect(await problemsOf(carriers, simulated, production)).toEqual([]);
  });
});
