import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { OnApplicationShutdown } from '@nestjs/common';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Form, FORMS, HTTP } from '../../test/support/carrier-forms.js';
import { transportContext } from '../../test/support/transport-context.js';
import { type EnvironmentError, readEnvironment } from '../config/environment.js';
import type { CarrierType } from './carrier-type.js';
import { CARRIER_TYPES, type CarrierTypeName } from './carrier-types.js';
import { CARRIER_CHOOSERS, CARRIER_KEYS } from './carrier-variables.js';
import { transportOf } from './carriers.js';

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
      const { settings, excluded = [] } = FORMS[type];
      expect([...Object.keys(settings), ...excluded].toSorted()).toEqual(
        Object.keys(keys).toSorted(),
      );
      const { carriers } = readEnvironment(await fileOf(type, settings));
      const [carrier, ...others] = carriers.all;
      expect([carrier?.type, carrier?.channels, others]).toEqual([type, channels, []]);
      const { providers = {} } = await carriers.callbacks();
      expect(Object.keys(providers)).toEqual(carrier?.callbacks ? ['one'] : []);
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

  it('one carrier http serves CARRIER, EMAIL_CARRIER and VAS_CARRIER', async () => {
    const beside = { EMAIL_CARRIER: 'http', VAS_CARRIER: 'http', VOICE_CARRIER: 'simulator' };
    const { carriers } = readEnvironment({ ...variables('http'), ...beside });
    expect(carriers.all.map(({ name, role }) => [name, role])).toEqual([
      ['http', 'main'],
      ['voice-simulator', 'beside'],
    ]);
    expect(await carriers.callbacks()).toMatchObject({ provider: 'http' });
    const { carriers: others } = readEnvironment({
      ...variables('kannel'),
      ...variables('http'),
      CARRIER: 'kannel',
      ...beside,
    });
    const { providers = {}, provider } = await others.callbacks();
    expect([Object.keys(providers), provider]).toEqual([['http'], 'kannel']);
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
