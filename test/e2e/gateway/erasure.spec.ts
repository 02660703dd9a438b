import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ContactsService } from '@dundun/messaging';
import type { InboundMessage } from '@dundun/messaging/ports';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { AccountSenders } from '../../../src/senders/account-senders.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { answer, Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { type Answered, TestGateway } from './test-gateway.js';

const FUTURE = '2150-01-01T00:00:00.000Z';
const NAME = 'Ngozi Okafor-Eze';
const BSUID = 'NG.1042337718';
const CODE = 'X4711-zebra';
const OTHERS = ['2348031110000', '2348032220000'];

describeEachDatabase('erasure through the gateway', (db) => {
  const secret = Buffer.alloc(32, 7).toString('base64');
  let gateway: TestGateway;
  let account: CreatedAccount;
  /** Repeats the request in its response. */
  let receiver: Receiver;
  let failing: Receiver;

  beforeAll(async () => {
    const settings = { WEBHOOK_ALLOW_PRIVATE: 'true', SECRETS_KEY: secret };
    gateway = await new TestGateway({ ...settings, DATABASE_URL: db.url }).start();
    account = await gateway.account();
    receiver = await Receiver.start(
      (response, { body }) => void response.writeHead(200).end(body.slice(0, 900)),
    );
    failing = await Receiver.start(answer(503));
    for (const { url } of [receiver, failing]) {
      const made = { token: account.apiToken, body: { url } };
      await gateway.call('POST', '/ng/v1/webhooks', made);
    }
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
    await failing.close();
  });

  const call = (method: string, path: string, body?: object, headers = {}): Promise<Answered> => {
    const token = path.startsWith('/whatsapp') ? account.apiKey : account.apiToken;
    return gateway.call(method, path, { token, headers, ...(body && { body }) });
  };
  const send = async (body: object, headers = {}): Promise<string> => {
    const message = { from: 'ACME', delivery_report: 'yes', ...body };
    const sent = await call('POST', '/ng/v1/sendsms', message, headers);
    expect(sent).toMatchObject({ status: 200 });
    return String(sent.body['reference_id']);
  };
  const batch = async (id: string) => (await call('GET', `/ng/v1/sms/${id}`)).body;
  const ended = (id: string, counts: object) =>
    eventually(async () => expect((await batch(id))['counts']).toEqual(counts));
  const contacts = () => gateway.running.app.get(ContactsService, { strict: false });

  /** The tables of library and gateway that have one of the words in any column of any row. */
  async function tablesWith(...words: readonly string[]): Promise<string[]> {
    const source = gateway.running.app.get(DataSource, { strict: false });
    if (db.kind === 'sqlite') await source.query('PRAGMA wal_checkpoint(TRUNCATE)');
    const tables = await source.query<{ name: string }[]>(
      {
        sqlite: `SELECT name FROM sqlite_master WHERE type = 'table'`,
        postgres: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
        mariadb: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database()`,
      }[db.kind],
    );
    const own = tables.map(({ name }) => name).filter((name) => /^(messaging|gateway)_/.test(name));
    expect(own.length).toBeGreaterThan(20);
    const found: string[] = [];
    for (const name of own.toSorted()) {
      const rows = JSON.stringify(await source.query(`SELECT * FROM ${name}`));
      if (words.some((word) => rows.includes(word))) found.push(name);
    }
    return found;
  }

  async function wrote(from: string, text: string): Promise<void> {
    const { app } = gateway.running;
    const to = String(
      await app.get(AccountSenders, { strict: false }).firstOf(account.accountId, 'whatsapp'),
    );
    const of = { channel: 'whatsapp', bsuid: BSUID, sentAt: new Date(), messageId: randomUUID() };
    const raw = { order: { note: text } };
    const content = { kind: 'other', type: 'order', raw } as const;
    const message: InboundMessage = { ...of, from, to, text, content, profileName: NAME };
    await app.get(InboundRecorder, { strict: false }).record([message], { transport: 'simulator' });
  }

  it('no table names an erased person, and no content that was sent to this person alone is left', async () => {
    const phone = '2348033330000';
    const whatsapp = '/whatsapp/ng/v1';
    const group = await call('POST', '/ng/v1/groups', { name: 'Friends' });
    const made = await call('POST', `${whatsapp}/contacts`, {
      phone,
      bsuid: BSUID,
      name: NAME,
      opt_in: { status: 'opted_in', evidence: `${NAME} ticked the box` },
      groups: [group.body['id']],
    });
    await wrote(phone, `I am ${NAME}, call ${phone}`);
    const key = { 'idempotency-key': `code-${phone}` };
    const alone = { to: [phone], body: `${NAME}, your code is ${CODE}` };
    const many = [OTHERS[0], phone, OTHERS[1]];
    const own = await send(alone, key);
    const shared = await send({ to: many, body: 'To three' });
    const grouped = await send({ to: [group.body['id'], ...OTHERS], body: 'To a group' });
    const later = await send({ ...alone, send_at: FUTURE });
    const laterShared = await send({ to: many, body: 'Later', send_at: FUTURE });
    const template = await call('POST', `${whatsapp}/sendwhatsapp`, {
      to: phone,
      message_type: 'template',
      template_name: 'order_update',
      language: 'en',
      params: [NAME, phone],
    });
    expect(template.status).toBe(200);
    await ended(own, { delivered: 1 });
    await ended(shared, { delivered: 3 });
    await ended(grouped, { delivered: 3 });
    await wrote(phone, 'STOP');
    await contacts().suppress(phone, {
      tenant: account.accountId,
      channel: 'sms',
      reason: 'complaint',
    });
    const read = () => call('GET', `${whatsapp}/messages/${String(template.body['message_id'])}`);
    await eventually(async () => expect((await read()).body['status']).toBe('read'));
    const named = [NAME, phone, BSUID, CODE];
    expect(await tablesWith(...named)).toEqual([
      'gateway_webhook_attempt',
      'gateway_webhook_delivery',
      'messaging_batch',
      'messaging_batch_chunk',
      'messaging_consent_history',
      'messaging_contact',
      'messaging_contact_address',
      'messaging_inbound_text',
      'messaging_message',
      'messaging_report',
      'messaging_suppression',
    ]);

    const erased = await call('DELETE', `${whatsapp}/contacts/${String(made.body['id'])}`);
    expect(erased).toMatchObject({ status: 200, body: { messages: 6 } });
    // Deliveries under way may still record the response of their receiver.
    await eventually(async () => expect(await tablesWith(...named)).toEqual([]));

    expect(await batch(own)).toMatchObject({ to: [''], body: null, counts: { delivered: 1 } });
    expect(await batch(shared)).toMatchObject({
      to: [OTHERS[0], '', OTHERS[1]],
      body: 'To three',
      counts: { delivered: 3 },
    });
    expect(await batch(later)).toMatchObject({
      status: 'cancelled',
      body: null,
      counts: { cancelled: 1 },
    });
    await call('PATCH', `/ng/v1/sms/${laterShared}`, { send_at: new Date().toISOString() });
    await ended(laterShared, { delivered: 2, cancelled: 1 });
    const { body: reports } = await call('GET', `/ng/v1/sms/${shared}/reports`);
    expect(JSON.stringify(reports)).toContain(OTHERS[1]);

    // The same request again is not sent again, and another one under its key is refused.
    expect(await send(alone, key)).toBe(own);
    const reused = { from: 'ACME', ...alone, body: 'Another', delivery_report: 'yes' };
    expect(await call('POST', '/ng/v1/sendsms', reused, key)).toMatchObject({
      status: 422,
      body: { error: { code: 'idempotency_key_reused' } },
    });

    // The refusals hold, also after the person was imported again.
    await contacts().importCsv([`phone,name,whatsapp\n${phone},Again,opted_in\n`], {
      tenant: account.accountId,
    });
    for (const [path, body, code] of [
      ['/ng/v1/sendsms', { from: 'ACME', to: [phone], body: 'Hello' }, 'opted_out'],
      [
        `${whatsapp}/sendwhatsapp`,
        {
          to: phone,
          message_type: 'template',
          template_name: 'login_code',
          language: 'en',
          params: ['1'],
        },
        // The imported consent has no time, so it does not count.
        'opt_in_required',
      ],
    ] as const)
      expect(await call('POST', path, body)).toMatchObject({
        status: 422,
        body: { error: { type: 'policy_error', code } },
      });
  });

  it('callbacks of an erased person that are due are sent without the number', async () => {
    const phone = '2348034440000';
    const id = await send({ to: [phone], body: 'Hello' });
    await ended(id, { delivered: 1 });
    await contacts().erase(phone, { tenant: account.accountId });
    const source = gateway.running.app.get(DataSource, { strict: false });
    const payloads = await source.query<{ payload: string; due_at: unknown }[]>(
      `SELECT payload, due_at FROM gateway_webhook_delivery WHERE message_id = '${id}-0'`,
    );
    const due = payloads.filter(({ due_at }) => due_at !== null);
    expect(due.length).toBeGreaterThan(0);
    for (const { payload } of due)
      expect(JSON.parse(payload)).toMatchObject({ data: { to: '', reference_id: id } });
  });

  it('a message in flight keeps its number until it has ended', async () => {
    // A poll finds it delivered.
    const phone = '2348035559906';
    const id = await send({ to: [OTHERS[0], phone], body: 'Hello' });
    await ended(id, { delivered: 1, sent: 1 });
    const erasure = await call('DELETE', `/whatsapp/ng/v1/contacts/${phone}`);
    expect(erasure.body).toEqual({ messages: 0, remaining: 1 });
    expect((await batch(id))['to']).toEqual([OTHERS[0], phone]);
    const source = gateway.running.app.get(DataSource, { strict: false });
    await eventually(async () => {
      await source.query('UPDATE messaging_erasure SET due_at = 0');
      expect(await tablesWith(phone)).toEqual([]);
      // The first poll for a missing report, and a run of the job.
    }, 50_000);
    expect(await batch(id)).toMatchObject({ to: [OTHERS[0], ''], counts: { delivered: 2 } });
  });

  it.each([
    ['2348036660000', '+234 0803 666 0000'],
    ['5215587650000', '+52 55 8765 0000'],
  ])('an operator erases %s, written as %s, which is no contact', async (phone, written) => {
    const id = await send({ to: [phone], body: 'Hello' });
    await ended(id, { delivered: 1 });
    const settings = { DATABASE_URL: db.url, SECRETS_KEY: secret };
    const dundun = (...args: string[]) =>
      commandLine(['contact', 'erase', ...args, '--json'], settings, process.cwd());
    const { code, stdout } = await dundun('--account', account.accountId, '--phone', written);
    expect([code, JSON.parse(stdout)]).toEqual([0, { messages: 1, remaining: 0 }]);
    expect(await tablesWith(phone)).toEqual([]);
    const wrong = await dundun('--account', account.accountId);
    expect(JSON.parse(wrong.stderr)).toMatchObject({ error: { code: 'invalid_field' } });
  });

  it('a refusal of an erased person outlives a change of SECRETS_KEY', async () => {
    const phone = '2348037770000';
    const of = { tenant: account.accountId };
    await contacts().optOut(phone, { ...of, channel: 'sms', source: 'call' });
    await contacts().erase(phone, of);
    await gateway.stop();
    const DATABASE_URL = db.url;
    const changed = { SECRETS_KEY: Buffer.alloc(32, 8).toString('base64') };
    const both = { ...changed, SECRETS_KEY_PREVIOUS: secret, DATABASE_URL };
    const rotated = await commandLine(['secrets', 'rotate', '--json'], both, process.cwd());
    expect(rotated).toMatchObject({ code: 0 });
    gateway = await new TestGateway({ ...changed, DATABASE_URL }).start();
    const message = { from: 'ACME', to: [phone], body: 'Hello' };
    expect(await call('POST', '/ng/v1/sendsms', message)).toMatchObject({
      status: 422,
      body: { error: { code: 'opted_out' } },
    });
  });
});
