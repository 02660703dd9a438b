import { HoldsService, MessageHistory } from '@dundun/messaging/operations';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { HoldWatch } from '../../../libs/messaging/src/dispatch/hold-watch.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { type DatabaseKind, describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { InterfaceServer } from '../../support/interface-server.js';
import { columnsWith, filesWith } from '../../support/stored-text.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const OLD = Buffer.alloc(32, 1).toString('base64');
const NEW = Buffer.alloc(32, 2).toString('base64');
const HOLD = { lanes: '*', reason: 'test' };
/** Of them `dundun backup` copies SQLite alone. */
const SQLITE: readonly DatabaseKind[] = ['sqlite'];

interface Started {
  readonly id: string;
  readonly to: string;
  readonly code: string;
}

/** A gateway whose carrier records the messages, and the codes of one account. */
class Codes {
  readonly gateway: TestGateway;
  #numbers = 0;

  constructor(
    readonly carrier: InterfaceServer,
    databaseUrl: string,
    readonly settings: Readonly<Record<string, string>>,
  ) {
    this.gateway = new TestGateway({
      DATABASE_URL: databaseUrl,
      CARRIER: 'http',
      CARRIER_URL: carrier.url,
      CARRIER_TOKEN: carrier.apiToken,
      CARRIER_KEY: carrier.apiKey,
      VOICE_CARRIER: 'http',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...settings,
    });
  }

  /** Adds what each channel needs. */
  async prepare(account: CreatedAccount): Promise<void> {
    const { accounts, senders } = this.gateway;
    await senders.addNumber(account.accountId, '2348000000001');
    await accounts.putTemplate(account.accountId, {
      name: 'login_code',
      language: 'en',
      category: 'authentication',
      status: 'approved',
      params_count: 1,
    });
  }

  async hold(): Promise<void> {
    const { app } = this.gateway.running;
    await app.get(HoldsService, { strict: false }).hold(HOLD);
    await app.get(HoldWatch, { strict: false }).refresh();
  }

  release(): Promise<boolean> {
    return this.gateway.running.app.get(HoldsService, { strict: false }).release(HOLD);
  }

  /** Starts a code of eight digits that a hold keeps, and reads it as a simulated phone does. */
  async start(account: CreatedAccount, channel: string): Promise<Started> {
    const { gateway } = this;
    const to =
      channel === 'email'
        ? 'ada@example.com'
        : `23480${String(++this.#numbers).padStart(4, '0')}1234`;
    if (channel === 'whatsapp')
      await gateway.call('POST', '/whatsapp/ng/v1/contacts', {
        token: account.apiKey,
        body: { phone: to, opt_in: true },
      });
    const { body } = await gateway.call('POST', '/ng/v1/vas/verifications', {
      token: account.apiToken,
      body: { to, channel, length: 8, ttl: '1h' },
    });
    const id = String(body['id']);
    return { id, to, code: await this.#codeTo(account, to) };
  }

  async #codeTo({ accountId }: CreatedAccount, to: string): Promise<string> {
    const history = this.gateway.running.app.get(MessageHistory, { strict: false });
    const { data } = await history.messages({ tenants: [accountId] });
    const message = data.find(({ recipient }) => recipient.endsWith(to));
    const contents = await history.contents([message?.id ?? ''], { codes: true });
    const [code = ''] = /\b\d{8}\b/.exec(JSON.stringify([...contents.values()])) ?? [];
    if (code === '') throw new Error(`no code to ${to}`);
    return code;
  }

  async check({ apiToken: token }: CreatedAccount, { id, code }: Started): Promise<unknown> {
    const path = `/ng/v1/vas/verifications/${id}/check`;
    return (await this.gateway.call('POST', path, { token, body: { code } })).body['status'];
  }

  /** Waits until the carrier has the message with the code. */
  async expectSent({ to, code }: Started): Promise<void> {
    const { accepted, acceptedWhatsApp, acceptedEmails, acceptedCalls } = this.carrier;
    const sent = () =>
      [accepted, acceptedWhatsApp, acceptedEmails, acceptedCalls]
        .flatMap((requests) => [...requests.values()].map(({ body }) => body))
        .filter((body) => body.includes(`"${to}"`));
    await eventually(async () => {
      const bodies = sent();
      if (bodies.length !== 1 || !bodies[0]?.includes(code))
        throw new Error(`${bodies.length} messages to ${to}, none or one with another code`);
    });
  }
}

describeEachDatabase('codes in the database of a gateway with SECRETS_KEY', (db) => {
  let carrier: InterfaceServer;
  let customer: Receiver;
  let source: DataSource;
  let codes: Codes;
  let account: CreatedAccount;

  beforeAll(async () => {
    carrier = await InterfaceServer.start();
    customer = await Receiver.start();
    source = await db.open();
    codes = new Codes(carrier, db.url, { SECRETS_KEY: OLD });
    await codes.gateway.start();
    account = codes.gateway.running.demo as CreatedAccount;
    await codes.prepare(account);
  });
  afterAll(async () => {
    await codes.gateway.destroy();
    await customer.close();
    await carrier.close();
  });

  const placesOf = async (started: readonly Started[]) => {
    const found = started.map(({ code }) => code);
    return [...(await columnsWith(source, found)), ...(await filesWith(db, found))];
  };

  it('no table has a pending code of any channel, nor has one after its delivery', async () => {
    await codes.gateway.call('POST', '/ng/v1/webhooks', {
      token: account.apiToken,
      body: { url: customer.url },
    });
    await codes.hold();
    const started: Started[] = [];
    for (const channel of ['sms', 'whatsapp', 'voice', 'email'])
      started.push(await codes.start(account, channel));
    expect(await placesOf(started)).toEqual([]);
    await codes.release();
    for (const one of started) await codes.expectSent(one);
    expect(await placesOf(started)).toEqual([]);
    for (const one of started) expect(await codes.check(account, one)).toBe('verified');
  });

  it('after `dundun secrets rotate` the new key alone sends a pending code', async () => {
    await codes.hold();
    const one = await codes.start(account, 'sms');
    await codes.gateway.stop();
    const both = { SECRETS_KEY: NEW, SECRETS_KEY_PREVIOUS: OLD };
    const { stdout } = await commandLine(
      ['secrets', 'rotate', '--json'],
      { DATABASE_URL: db.url, ...both },
      import.meta.dirname,
    );
    const { key_id: id } = JSON.parse(stdout) as { key_id: string };
    const [row] = await source.query<{ content: string }[]>(
      'SELECT content FROM messaging_batch ORDER BY id DESC LIMIT 1',
    );
    expect(row?.content).toContain(`enc1.${id}.`);
    codes = new Codes(carrier, db.url, { SECRETS_KEY: NEW });
    await codes.gateway.start();
    await codes.release();
    await codes.expectSent(one);
    expect(await codes.check(account, one)).toBe('verified');
  });
});

describeEachDatabase(
  'codes in a backup',
  (db) => {
    let carrier: InterfaceServer;
    let directory: string;
    beforeAll(async () => {
      carrier = await InterfaceServer.start();
      directory = await mkdtemp(join(tmpdir(), 'dundun-backup-'));
    });
    afterAll(async () => {
      await carrier.close();
      await rm(directory, { recursive: true });
    });

    it('`dundun backup` copies no code in clear, and its copy sends the right code', async () => {
      const settings = { SECRETS_KEY: OLD };
      const before = new Codes(carrier, db.url, settings);
      await before.gateway.start();
      const account = before.gateway.running.demo as CreatedAccount;
      await before.hold();
      const one = await before.start(account, 'sms');
      const file = join(directory, 'backup.sqlite');
      const backup = ['backup', file, '--json'];
      await commandLine(backup, { DATABASE_URL: db.url, ...settings }, directory);
      await before.gateway.destroy();
      const copy = { kind: db.kind, url: `sqlite:${file}` };
      expect(await filesWith(copy, [account.accountId])).toEqual(['backup.sqlite']);
      expect(await filesWith(copy, [one.code])).toEqual([]);

      const restored = new Codes(carrier, copy.url, settings);
      await restored.gateway.start();
      const send = ['lanes', 'release', '--send', '--json'];
      const ended = await commandLine(send, { DATABASE_URL: copy.url, ...settings }, directory);
      expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'released' });
      await restored.release();
      await restored.expectSent(one);
      expect(await restored.check(account, one)).toBe('verified');
      await restored.gateway.destroy();
    });
  },
  SQLITE,
);
