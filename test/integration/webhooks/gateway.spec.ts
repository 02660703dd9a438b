import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { VasService } from '@dundun/messaging';
import { Webhook } from 'standardwebhooks';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { SendersService } from '../../../src/senders/senders.service.js';
import { TestGateway } from '../../e2e/gateway/test-gateway.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { answer, Receiver } from './receiver.js';

const CALLER = '2348000000001';

describeEachDatabase('webhooks of a running gateway', (db) => {
  let gateway: TestGateway;
  let customer: Receiver;
  let account: CreatedAccount;
  let token: string;

  beforeAll(async () => {
    gateway = await new TestGateway({
      DATABASE_URL: db.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }).start();
  });
  afterAll(() => gateway.destroy());
  beforeEach(async () => {
    customer = await Receiver.start();
    account = await gateway.account();
    token = account.apiToken;
  });
  afterEach(() => customer.close());

  const call = (method: string, path: string, body?: unknown) =>
    gateway.call(method, `/ng/v1${path}`, { token, body });
  const send = async (more: object = {}) => {
    const sent = await call('POST', '/sendsms', {
      from: 'ACME',
      to: ['2348012345678'],
      body: 'The text of the message',
      delivery_report: 'yes',
      ...more,
    });
    expect(sent.status).toBe(200);
    return String(sent.body['reference_id']);
  };
  const hook = async (url = customer.url) => {
    const made = await call('POST', '/webhooks', { url });
    expect(made).toMatchObject({ status: 201, body: { url, status: 'enabled' } });
    return { id: String(made.body['webhook_id']), secret: String(made.body['secret']) };
  };

  it('callbacks of every channel give back the tags and metadata of the send', async () => {
    await hook();
    const { app } = gateway.running;
    const caller = { accountId: account.accountId, channel: 'voice', sender: CALLER } as const;
    await app.get(SendersService, { strict: false }).add(caller);
    await app
      .get(VasService, { strict: false })
      .allow({ currency: 'NGN', daily: '5000', perNumber: '500' }, { tenant: account.accountId });
    const labels = { tags: ['order'], metadata: { order: '1001' } };
    const more = { delivery_report: 'yes', ...labels };
    const [to, product] = ['2348012345678', 'airtime-ng'];
    const order = { to, product, amount: '100', client_reference: `r-${db.kind}` };
    const answers = [
      await call('POST', '/voice/calls', { from: CALLER, to: [to], code: '4821', ...more }),
      await call('POST', '/vas/orders', { ...order, ...more }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const sms = await send(labels);
    const plain = await send();
    type Event = { type: string; data: { reference_id: string } };
    const events = () => customer.received.map(({ body }) => JSON.parse(body) as Event);
    const types = ['sms.delivery_report', 'voice.call_status', 'vas.order_status'];
    await eventually(async () => {
      expect(new Set(events().map(({ type }) => type))).toEqual(new Set(types));
      for (const id of [sms, plain])
        expect(events().filter(({ data }) => data.reference_id === id)).toHaveLength(2);
    });
    const isPlain = ({ data }: Event) => data.reference_id === plain;
    for (const { data } of events().filter(isPlain))
      expect(Object.keys(data)).not.toContain('tags');
    for (const { data } of events().filter((one) => !isPlain(one)))
      expect(data).toMatchObject(labels);
  });

  it('one signed callback per status change, in order, without the text', async () => {
    const { secret } = await hook();
    const reference = await send({ to: ['2348012345678', '2348012345679', '2348012349901'] });
    const got = await customer.first(6);
    await eventually(async () => {
      const batch = await call('GET', `/sms/${reference}`);
      expect(batch.body['counts']).toEqual({ delivered: 2, undelivered: 1 });
    });
    expect(got).toHaveLength(6);
    for (const { body, headers } of got) {
      const event = new Webhook(secret).verify(body, headers);
      expect(event).toMatchObject({
        type: 'sms.delivery_report',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        data: {
          reference_id: reference,
          from: 'ACME',
          smsc_timestamp: expect.stringMatching(/Z$/),
        },
      });
      expect(body).not.toContain('The text');
    }
    for (const position of [0, 1, 2]) {
      const own = got.filter(({ data }) => data.message_id === `${reference}-${position}`);
      expect(own.map(({ data }) => [data.sequence, data.status])).toEqual([
        [1, 'sent'],
        [2, position === 2 ? 'undelivered' : 'delivered'],
      ]);
    }
  });

  it('no callback is sent where delivery_report is none', async () => {
    await hook();
    const silent = await send({ delivery_report: 'none' });
    await send();
    await customer.first(2);
    await eventually(async () => {
      const batch = await call('GET', `/sms/${silent}`);
      expect(batch.body['counts']).toEqual({ delivered: 1 });
    });
    for (const { body } of customer.received) expect(body).not.toContain(silent);
  });

  it('attempts are listed, page by page, newest first', async () => {
    customer.respond = answer(200, {}, 'thank you');
    const { id } = await hook();
    await send({ to: ['2348012345678', '2348012345679'] });
    await customer.first(4);
    const seen: unknown[] = [];
    await eventually(async () => {
      seen.length = 0;
      for (let cursor: unknown = ''; cursor !== null;) {
        const query = cursor === '' ? '' : `&cursor=${String(cursor)}`;
        const page = await call('GET', `/webhooks/${id}/attempts?limit=3${query}`);
        expect(page.status).toBe(200);
        seen.push(...(page.body['data'] as unknown[]));
        cursor = page.body['next_cursor'];
      }
      expect(seen).toHaveLength(4);
    });
    expect(seen[0]).toEqual({
      delivery_id: expect.any(String),
      message_id: expect.any(String),
      attempt: 1,
      attempted_at: expect.any(String),
      duration_ms: expect.any(Number),
      status_code: 200,
      error: null,
      response: 'thank you',
    });
    const ids = seen.map((attempt) => (attempt as { delivery_id: string }).delivery_id);
    expect(new Set(ids)).toEqual(new Set(customer.received.map((one) => one.id)));
    expect(await call('GET', `/webhooks/${id}/attempts?cursor=nonsense`)).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_field', details: [{ path: 'cursor' }] } },
    });
  });

  it('redelivery of one event, of events since a time, or of undelivered events keeps the webhook-id', async () => {
    // The sender makes no retry by itself.
    customer.respond = answer(500, { 'retry-after': '3600' });
    const { id } = await hook();
    const since = new Date().toISOString();
    await send();
    await customer.first(2);
    const ids = new Set(customer.received.map((one) => one.id));
    await eventually(async () => {
      const page = await call('GET', `/webhooks/${id}/attempts`);
      expect(page.body['data']).toHaveLength(2);
    });
    customer.respond = answer(200);
    const redeliver = (body?: unknown) => call('POST', `/webhooks/${id}/redeliver`, body);
    const arrived = async (count: number) => {
      await customer.first(count);
      await eventually(async () => {
        const page = await call('GET', `/webhooks/${id}/attempts`);
        expect(page.body['data']).toHaveLength(count);
      });
    };
    expect(await redeliver()).toMatchObject({ status: 202, body: { redelivered: 2 } });
    await arrived(4);
    expect(await redeliver()).toMatchObject({ status: 202, body: { redelivered: 0 } });
    expect(await redeliver({ since })).toMatchObject({ status: 202, body: { redelivered: 2 } });
    await arrived(6);
    const [one] = ids;
    expect(await redeliver({ delivery_id: one })).toMatchObject({ body: { redelivered: 1 } });
    await arrived(7);
    expect(customer.received[6]!.id).toBe(one);
    expect(new Set(customer.received.map((got) => got.id))).toEqual(ids);
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await redeliver({ since: later })).toMatchObject({ body: { redelivered: 0 } });
    expect(await redeliver({ delivery_id: id })).toMatchObject({ status: 404 });
    expect(await redeliver({ since: 'yesterday' })).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'since' }] } },
    });
    expect(await redeliver([])).toMatchObject({ status: 422 });
  });

  it('endpoints are created, listed, changed, rotated and deleted', async () => {
    const first = await hook();
    const second = await hook(`${customer.url}&second`);
    expect(first.secret).toMatch(/^whsec_/);
    const listed = await call('GET', '/webhooks');
    expect(listed.body).toMatchObject({
      data: [{ webhook_id: first.id }, { webhook_id: second.id }],
      next_cursor: null,
    });
    expect(JSON.stringify(listed.body)).not.toContain('whsec_');
    const rotated = await call('POST', `/webhooks/${first.id}/rotate-secret`);
    expect(rotated).toMatchObject({
      status: 200,
      body: { secret: expect.stringMatching(/^whsec_/), previous_secret_until: expect.any(String) },
    });
    expect(rotated.body['secret']).not.toBe(first.secret);
    expect(await call('PATCH', `/webhooks/${second.id}`, { enabled: false })).toMatchObject({
      status: 200,
      body: { status: 'disabled', disabled_reason: 'account' },
    });
    await send();
    await customer.first(2);
    expect(customer.received.every(({ path }) => !path.includes('second'))).toBe(true);
    expect(await call('DELETE', `/webhooks/${first.id}`)).toMatchObject({ status: 204, body: {} });
    expect(await call('GET', `/webhooks/${first.id}`)).toMatchObject({ status: 404 });
    expect(await call('DELETE', `/webhooks/${first.id}`)).toMatchObject({ status: 404 });
    expect(await call('GET', `/webhooks/${second.id.toUpperCase()}`)).toMatchObject({
      status: 200,
    });
  });

  it('another account can neither see nor change an endpoint', async () => {
    const { id } = await hook();
    const stranger = (await gateway.account()).apiToken;
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { enabled: false }],
      ['DELETE', '', undefined],
      ['GET', '/attempts', undefined],
      ['POST', '/rotate-secret', undefined],
      ['POST', '/redeliver', {}],
    ] as const) {
      const answered = await gateway.call(method, `/ng/v1/webhooks/${id}${path}`, {
        token: stranger,
        body,
      });
      expect([method, path, answered.status]).toEqual([method, path, 404]);
    }
    expect(await call('GET', `/webhooks/${id}`)).toMatchObject({ body: { status: 'enabled' } });
    expect(await call('GET', '/webhooks/not-an-id')).toMatchObject({ status: 404 });
    expect(await gateway.call('GET', '/ng/v1/webhooks')).toMatchObject({ status: 401 });
  });

  it('bad input names its field and changes nothing', async () => {
    for (const [body, path] of [
      [{}, 'url'],
      [{ url: 7 }, 'url'],
      [{ url: 'ftp://example.com' }, 'url'],
      [{ url: 'https://me:pass@example.com' }, 'url'],
      [{ url: 'http://127.0.0.1:25/' }, 'url'],
      [{ url: customer.url, secret: 'mine' }, 'secret'],
    ] as const)
      expect(await call('POST', '/webhooks', body)).toMatchObject({
        status: 422,
        body: { error: { type: 'validation_error', details: [{ path }] } },
      });
    expect((await call('GET', '/webhooks')).body['data']).toEqual([]);
    await hook();
    expect(await call('POST', '/webhooks', { url: customer.url })).toMatchObject({ status: 422 });
    for (let n = 0; n < 9; n++) await hook(`${customer.url}&n=${n}`);
    expect(await call('POST', '/webhooks', { url: `${customer.url}&ten` })).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'url', message: expect.stringMatching(/at most 10/) }] } },
    });
  });

  it('webhook secrets, paths and numbers are not logged', async () => {
    const { secret } = await hook();
    customer.respond = answer(410);
    await send();
    await customer.first(1);
    const log = gateway.log.join('');
    await eventually(() =>
      Promise.resolve(expect(gateway.log.join('')).toContain('webhook disabled')),
    );
    expect(log).not.toContain(secret);
    expect(gateway.log.join('')).not.toContain('key=1');
    expect(gateway.log.join('')).not.toContain('2348012345678');
  });
});
