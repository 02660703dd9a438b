import { ContactsService } from '@dundun/messaging';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type Answered, TestGateway } from './test-gateway.js';

const PDF = Buffer.from('%PDF-1.7 \u0000', 'latin1');

describeOneDatabase('WhatsApp through the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  let numbers = 0;
  const number = (last = '0000'): string => `23481${String(++numbers).padStart(4, '0')}${last}`;
  const ask = (method: string, path: string, body?: object, headers = {}): Promise<Answered> =>
    gateway.call(method, `/whatsapp/ng/v1${path}`, {
      token: account.apiKey,
      ...(body && { body }),
      headers,
    });
  const optedIn = async (phone = number()): Promise<string> => {
    const made = await ask('POST', '/contacts', { phone, opt_in: true });
    expect(made).toMatchObject({ status: 200, body: { phone, opt_in: { status: 'opted_in' } } });
    return phone;
  };
  const template = (to: string, more: object = {}): object => ({
    to,
    message_type: 'template',
    template_name: 'order_update',
    language: 'en',
    params: ['Ada', '1001'],
    ...more,
  });
  const text = (to: string, more: object = { text: 'Hello' }): object => ({
    to,
    message_type: 'text',
    ...more,
  });
  const send = (body: object, headers: object = {}): Promise<Answered> =>
    ask('POST', '/sendwhatsapp', body, headers);
  const upload = async (
    content: Buffer,
    contentType: string,
    query = '',
    token = account.apiKey,
  ) => {
    const answer = await fetch(`${gateway.url}/whatsapp/ng/v1/media${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
      body: new Uint8Array(content),
    });
    return { status: answer.status, body: (await answer.json()) as object };
  };
  const refused = (code: string, path?: string): object => ({
    status: 422,
    body: { error: { code, ...(path !== undefined && { details: [{ path }] }) } },
  });

  it('a new account has a WhatsApp number and an approved template of each category', async () => {
    const { status, body } = await ask('GET', '/templates');
    expect([status, body['next_cursor']]).toEqual([200, null]);
    expect(body['data']).toEqual([
      row('login_code', 'authentication', 1),
      row('order_update', 'utility', 2),
      row('special_offer', 'marketing', 1),
    ]);
    const first = await ask('GET', '/templates?limit=2');
    const next = await ask('GET', `/templates?limit=2&cursor=${String(first.body['next_cursor'])}`);
    expect([...(first.body['data'] as object[]), ...(next.body['data'] as object[])]).toEqual(
      body['data'],
    );
    expect(next.body['next_cursor']).toBeNull();
  });

  it('a template send answers its outcome, and reading it back shows the later reports', async () => {
    const to = await optedIn();
    const sent = await send(template(to));
    expect(sent).toMatchObject({ status: 200 });
    expect(sent.body).toEqual({
      message_id: expect.any(String),
      status: 'sent',
      cost: 0.01,
      currency: 'USD',
      category: 'utility',
      sender: expect.stringMatching(/^2340\d{9}$/),
    });
    const id = String(sent.body['message_id']);
    await eventually(async () => {
      expect((await ask('GET', `/messages/${id}`)).body['status']).toBe('read');
    });
    const { body } = await ask('GET', `/messages/${id}`);
    expect(body).toEqual({
      ...sent.body,
      status: 'read',
      reference_id: expect.stringMatching(/-0$/),
      to,
      message_type: 'template',
      template_name: 'order_update',
      language: 'en',
      params: ['Ada', '1001'],
      components: null,
      text: null,
      media: null,
      error_code: null,
      created_at: expect.any(String),
      smsc_timestamp: expect.any(String),
    });
    // By either of its ids.
    expect((await ask('GET', `/messages/${String(body['reference_id'])}`)).body).toEqual(body);
  });

  it('each category is charged its own price', async () => {
    const to = await optedIn();
    for (const [name, category, cost] of [
      ['special_offer', 'marketing', 0.05],
      ['login_code', 'authentication', 0.015],
    ])
      expect(await send(template(to, { template_name: name, params: ['1'] }))).toMatchObject({
        status: 200,
        body: { category, cost, currency: 'USD' },
      });
  });

  it('a text is accepted after the recipient wrote, under each of its field names', async () => {
    const to = await optedIn();
    expect(await send(text(to))).toMatchObject(refused('window_closed'));
    expect((await ask('GET', `/contacts/${to}`)).body['window_expires_at']).toBeNull();
    const { body } = await send(template(to));
    await gateway.running.app
      .get(ContactsService, { strict: false })
      .recordInbound(to, { sender: String(body['sender']) }, { tenant: account.accountId });
    const opened = await ask('GET', `/contacts/${to}`);
    const left = Date.parse(String(opened.body['window_expires_at'])) - Date.now();
    expect(left).toBeGreaterThan(23 * 3_600_000);
    expect(left).toBeLessThanOrEqual(24 * 3_600_000);
    for (const more of [{ text: 'a' }, { body: 'b' }, { content: 'c' }, { text: 'd', body: 'd' }])
      expect(await send(text(to, more))).toMatchObject({
        status: 200,
        body: { status: 'sent', category: 'service', cost: 0 },
      });
    expect(await send(text(to, { text: 'a', content: 'b' }))).toMatchObject(
      refused('conflicting_fields'),
    );
  });

  it('a template carries values of its header and buttons', async () => {
    const to = await optedIn();
    const components = {
      header: { type: 'document', link: 'https://cdn.example.com/a.pdf', filename: 'a.pdf' },
      buttons: [
        { index: 0, type: 'url', value: 'orders/1001' },
        { index: 1, type: 'quick_reply', value: 'late' },
        { index: 2, type: 'copy_code', value: 'SAVE5' },
      ],
    };
    const { status, body } = await send(template(to, { components }));
    expect([status, body['status']]).toEqual([200, 'sent']);
    const read = await ask('GET', `/messages/${String(body['message_id'])}`);
    expect(read.body).toMatchObject({ message_type: 'template', components, media: null });
  });

  it.each([
    [{ header: { type: 'image' } }, 'components.header.link'],
    [{ header: { type: 'image', link: 'a.png' } }, 'components.header.link'],
    [
      { header: { type: 'image', link: 'https://a.example/', media_id: '1' } },
      'components.header.link',
    ],
    [{ header: { type: 'image', media_id: '../1' } }, 'components.header.media_id'],
    [{ header: { type: 'image', media_id: '1', text: 'a' } }, 'components.header.text'],
    [{ header: { type: 'text', text: 'a', link: 'https://a.example/' } }, 'components.header.link'],
    [{ header: { type: 'text' } }, 'components.header.text'],
    [{ header: { type: 'gif', media_id: '1' } }, 'components.header.type'],
    [
      { buttons: [{ index: 0, type: 'copy_code', value: 'with space' }] },
      'components.buttons[0].value',
    ],
    [{ buttons: [{ index: 10, type: 'url', value: 'a' }] }, 'components.buttons[0].index'],
    [{ buttons: 'a' }, 'components.buttons'],
    [{ footer: {} }, 'components.footer'],
  ])('components %j are refused at the field', async (components, path) => {
    expect(await send(template(number(), { components }))).toMatchObject(
      refused('invalid_field', path),
    );
  });

  it('a file leaves inside the window, by its link or as an upload', async () => {
    const to = await optedIn();
    const media = { type: 'image', link: 'https://cdn.example.com/map.png', caption: 'Here' };
    const request = { to, message_type: 'media', media };
    expect(await send(request)).toMatchObject(refused('window_closed'));
    const { body } = await send(template(to));
    await gateway.running.app
      .get(ContactsService, { strict: false })
      .recordInbound(to, { sender: String(body['sender']) }, { tenant: account.accountId });
    const uploaded = await upload(PDF, 'application/pdf', '?filename=invoice.pdf');
    expect(uploaded).toEqual({ status: 200, body: { media_id: expect.stringMatching(/^\d+$/) } });
    const document = {
      type: 'document',
      media_id: (uploaded.body as { media_id: string }).media_id,
      filename: 'invoice.pdf',
    };
    for (const one of [media, document]) {
      const sent = await send({ ...request, media: one });
      expect(sent).toMatchObject({ status: 200, body: { status: 'sent', category: 'service' } });
      const read = await ask('GET', `/messages/${String(sent.body['message_id'])}`);
      expect(read.body).toMatchObject({ message_type: 'media', media: one, text: null });
    }
    for (const [wrong, path] of [
      [{ type: 'image' }, 'media.link'],
      [{ type: 'gif', media_id: '1' }, 'media.type'],
      [{ type: 'audio', media_id: '1', caption: 'Here' }, 'media.caption'],
      [{ type: 'image', media_id: '1', filename: 'a.png' }, 'media.filename'],
      [undefined, 'media'],
    ] as const)
      expect(await send({ ...request, media: wrong })).toMatchObject(
        refused('invalid_field', path),
      );
  });

  it('an upload that the platform does not take is refused by its type, size and form', async () => {
    const code = (error: string, path?: string) => ({
      error: { code: error, ...(path !== undefined && { details: [{ path }] }) },
    });
    expect((await upload(PDF, 'image/gif')).body).toMatchObject(
      code('invalid_field', 'Content-Type'),
    );
    expect((await upload(PDF, 'application/pdf', '?filename=a/b.pdf')).body).toMatchObject(
      code('invalid_field', 'filename'),
    );
    const large = await upload(Buffer.alloc(5 * 1_048_576 + 1), 'image/png');
    expect(large).toMatchObject({ status: 422, body: code('invalid_field') });
    const larger = await upload(Buffer.alloc(16 * 1_048_576 + 1), 'video/mp4');
    expect(larger).toMatchObject({ status: 413, body: code('payload_too_large') });
    expect(await upload(Buffer.alloc(0), 'image/png')).toMatchObject({ status: 415 });
    expect(await upload(Buffer.from('{}'), 'application/json')).toMatchObject({ status: 415 });
    expect(await upload(PDF, 'multipart/form-data; boundary=a')).toMatchObject({ status: 415 });
    expect(await upload(Buffer.from('a'), 'text/plain')).toMatchObject({ status: 200 });
    expect(await upload(PDF, 'application/pdf', '', account.apiToken)).toMatchObject({
      status: 401,
    });
    const elsewhere = await fetch(`${gateway.url}/ng/v1/sendsms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiToken}`, 'content-type': 'image/png' },
      body: new Uint8Array(PDF),
    });
    expect(elsewhere.status).toBe(415);
  });

  it('a reply opens the window of its sender', async () => {
    const to = await optedIn(number('9910'));
    await send(template(to));
    await eventually(async () => {
      const { body } = await ask('GET', `/contacts/${to}`);
      expect(body['window_expires_at']).toEqual(expect.any(String));
    });
    expect((await send(text(to))).status).toBe(200);
  });

  it('a recipient who has not opted in, or has opted out, gets no message', async () => {
    const to = number();
    // Also where the window is closed: consent is asked for first.
    for (const body of [template(to), text(to)])
      expect(await send(body)).toMatchObject(refused('opt_in_required'));
    await optedIn(to);
    expect((await send(template(to))).status).toBe(200);
    const out = await ask('POST', `/contacts/${to}/opt-out`, { source: 'call', evidence: 'no' });
    expect(out.body['opt_in']).toMatchObject({ status: 'opted_out', source: 'call' });
    const denied = await send(template(to));
    expect(denied.status).toBe(422);
    expect(denied.body['error']).toMatchObject({ type: 'policy_error' });
    const back = await ask('POST', `/contacts/${to}/opt-in`);
    expect(back.body['opt_in']).toMatchObject({ status: 'opted_in', source: 'api' });
    expect((await send(template(to))).status).toBe(200);
  });

  it('an unapproved template or wrong params are refused by name', async () => {
    const to = await optedIn();
    const pending = { ...APPROVED, name: 'pending_one', status: 'pending' } as const;
    await gateway.accounts.putTemplate(account.accountId, pending);
    for (const more of [
      { template_name: 'nothing' },
      { template_name: 'pending_one' },
      { language: 'fr' },
    ])
      expect(await send(template(to, more))).toMatchObject(
        refused('template_not_approved', 'template_name'),
      );
    for (const params of [[], ['1'], ['1', '2', '3']])
      expect(await send(template(to, { params }))).toMatchObject(
        refused('template_params_mismatch', 'params'),
      );
  });

  it('params that WhatsApp refuses are refused by name, and nothing is stored', async () => {
    const to = await optedIn();
    for (const value of ['line\nbreak', 'a\ttab', 'five     spaces', '', ' '])
      expect(await send(template(to, { params: ['Ada', value] }))).toMatchObject(
        refused('invalid_field', 'params[1]'),
      );
    expect(await send(template(to, { params: ['Ada', 'x'.repeat(1_022)] }))).toMatchObject(
      refused('template_params_mismatch', 'params[1]'),
    );
    expect((await send(template(to, { params: ['Ada', 'four    spaces'] }))).status).toBe(200);
  });

  it('every wrong field of a WhatsApp send is named', async () => {
    const details = async (body: object): Promise<unknown[]> => {
      const { status, body: answer } = await send(body);
      expect(status).toBe(422);
      const error = answer['error'] as { details: { path: string }[] };
      return error.details.map(({ path }) => path);
    };
    expect(await details({})).toEqual(['to', 'message_type']);
    expect(await details({ to: '2348012345678', message_type: 'template' })).toEqual([
      'template_name',
      'language',
      'params',
    ]);
    expect(await details(template('+2348012345678', { params: ['a', 1], from: 'x' }))).toEqual([
      'from',
      'to',
      'params[1]',
    ]);
    expect(await details(template('2348012345678', { text: 'x', params: undefined }))).toEqual([
      'text',
      'params',
    ]);
    expect(await details(text('2348012345678', { language: 'en', body: '' }))).toEqual([
      'language',
      'body',
    ]);
    expect(await details(text('2348012345678', { body: 'x'.repeat(4_097) }))).toEqual(['body']);
    expect(
      await details(template('2348012345678', { template_name: 'a b', language: '?' })),
    ).toEqual(['template_name', 'language']);
  });

  it('concurrent sends with one idempotency key are sent once, and the key refuses another message', async () => {
    const to = await optedIn();
    const headers = { 'idempotency-key': `wa-${db.kind}` };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(template(to), headers)),
    );
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const replayed = answers.filter((one) => one.headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(9);
    expect(await send(template(to, { params: ['Ada', '2'] }), headers)).toMatchObject(
      refused('idempotency_key_reused'),
    );
  });

  it('a message that the platform refuses is answered as rejected', async () => {
    const rejected = await send(template(await optedIn(number('9903'))));
    expect(rejected).toMatchObject({ status: 200, body: { status: 'rejected', cost: null } });
    const { body } = await ask('GET', `/messages/${String(rejected.body['message_id'])}`);
    expect(body).toMatchObject({ status: 'rejected', error_code: 'destination_refused' });
  });

  it('contacts are created, changed, found, listed and erased', async () => {
    const phone = number();
    const at = '2026-01-31T09:00:00.000Z';
    const group = await gateway.call('POST', '/ng/v1/groups', {
      token: account.apiToken,
      body: { name: 'Friends' },
    });
    const groups = [String(group.body['id'])];
    const made = await ask('POST', '/contacts', {
      phone,
      bsuid: `NG.${phone}`,
      name: 'Ada',
      opt_in: { status: 'opted_in', source: 'web form', at, evidence: 'yes' },
      groups,
    });
    expect(made).toMatchObject({ status: 200 });
    expect(made.body).toEqual({
      id: expect.any(String),
      phone,
      bsuid: `NG.${phone}`,
      name: 'Ada',
      opt_in: { status: 'opted_in', at, source: 'web form' },
      window_expires_at: null,
      groups,
    });
    const id = String(made.body['id']);
    const renamed = await ask('POST', '/contacts', { bsuid: `NG.${phone}`, name: 'Ada L.' });
    expect(renamed.body).toEqual({ ...made.body, name: 'Ada L.' });
    expect((await ask('POST', '/contacts', { phone, groups: [] })).body['groups']).toEqual([]);
    for (const path of [`/contacts/${id}`, `/contacts/${phone}`])
      expect((await ask('GET', path)).body).toMatchObject({ id, name: 'Ada L.' });
    for (const [query, count] of [
      [`phone=${phone}`, 1],
      [`bsuid=NG.${phone}`, 1],
      [`phone=${phone}&bsuid=other`, 0],
    ])
      expect((await ask('GET', `/contacts?${query}`)).body['data']).toHaveLength(Number(count));
    expect((await ask('DELETE', `/contacts/${id}`)).body).toEqual({ messages: 0, remaining: 0 });
    expect((await ask('GET', `/contacts/${id}`)).status).toBe(404);
    expect((await ask('DELETE', `/contacts/${phone}`)).status).toBe(200);
  });

  it('a wrong contact request stores nothing and names the field', async () => {
    const phone = number();
    const wrong = await ask('POST', '/contacts', { phone, groups: ['grp_0000000000'] });
    expect(wrong).toMatchObject(refused('invalid_field', 'groups[0]'));
    expect((await ask('GET', `/contacts/${phone}`)).status).toBe(404);
    for (const [body, path] of [
      [{}, 'phone'],
      [{ phone: '+2348012345678' }, 'phone'],
      [{ phone, bsuid: 'a b' }, 'bsuid'],
      [{ phone, name: 'x'.repeat(256) }, 'name'],
      [{ phone, opt_in: 'yes' }, 'opt_in'],
      [{ phone, opt_in: { status: 'maybe' } }, 'opt_in.status'],
      [{ phone, opt_in: { status: 'opted_in', at: '2026-01-31' } }, 'opt_in.at'],
      [{ phone, opt_in: { status: 'opted_in', when: 1 } }, 'opt_in.when'],
      [{ phone, groups: 'x' }, 'groups'],
      [{ phone, tags: [] }, 'tags'],
    ] as const)
      expect(await ask('POST', '/contacts', body)).toMatchObject(refused('invalid_field', path));
  });

  it('concurrent requests for one number make one contact', async () => {
    const phone = number();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        ask('POST', '/contacts', { phone, opt_in: true, name: `Ada ${n}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
  });
});

describe('a WhatsApp send whose outcome is not known in time', () => {
  const gateway = new TestGateway({ WHATSAPP_WAIT: '50ms' });
  beforeAll(async () => void (await gateway.start()));
  afterAll(() => gateway.destroy());

  it('a send whose outcome is late answers the known status and continues', async () => {
    const { apiKey: token } = await gateway.account();
    const to = '2348012349909';
    await gateway.call('POST', '/whatsapp/ng/v1/contacts', {
      token,
      body: { phone: to, opt_in: true },
    });
    const sent = await gateway.call('POST', '/whatsapp/ng/v1/sendwhatsapp', {
      token,
      body: {
        to,
        message_type: 'template',
        template_name: 'login_code',
        language: 'en',
        params: ['1234'],
      },
    });
    expect(sent).toMatchObject({
      status: 200,
      body: {
        status: expect.stringMatching(/^(queued|unknown)$/),
        cost: null,
        currency: null,
        category: 'authentication',
        sender: expect.stringMatching(/^2340/),
      },
    });
    const id = String(sent.body['message_id']);
    const read = await gateway.call('GET', `/whatsapp/ng/v1/messages/${id}`, { token });
    expect(read).toMatchObject({ status: 200, body: { message_id: id, reference_id: id, to } });
  });
});

const APPROVED = {
  name: 'x',
  language: 'en',
  category: 'utility',
  status: 'approved',
  params_count: 0,
} as const;

function row(name: string, category: string, count: number): object {
  return { name, language: 'en', category, status: 'approved', params_count: count };
}
