import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import type { Scope } from '../../../src/channel.js';
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MailServer } from '../../support/mail-server.js';
import { limitTests } from '../../support/time-limit.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { type Answered, type Call, TestGateway } from './test-gateway.js';

// Bodies of up to 40 MiB are made, sent and parsed.
limitTests(180);

const BASE = '/email/ng/v1';
const TEXT = { from: 'Shop <hello@demo.test>', subject: 'Hello', text: 'Hello' } as const;
const LATER = '2150-01-01T00:00:00.000Z';

interface Row {
  readonly message_id: string;
  readonly to: string;
  readonly status: string;
}

describeOneDatabase('the email product of the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let customer: Receiver;

  beforeAll(async () => {
    const settings = { DATABASE_URL: db.url, WEBHOOK_ALLOW_PRIVATE: 'true' };
    gateway = await new TestGateway(settings).start();
    const { demo } = gateway.running;
    if (!demo) throw new Error('the first start made no account');
    account = demo;
    customer = await Receiver.start();
  });
  afterAll(async () => {
    await customer.close();
    await gateway.destroy();
  });

  const ask = (method: string, path: string, call: Call = {}): Promise<Answered> =>
    gateway.call(method, BASE + path, { token: account.apiKey, ...call });
  const send = (body: object, headers = {}): Promise<Answered> =>
    ask('POST', '/messages', { body, headers });
  const rows = async (query: string): Promise<readonly Row[]> =>
    (await ask('GET', `/messages?${query}`)).body['data'] as readonly Row[];
  const errorOf = ({ status, body }: Answered) => {
    const { code, details } = body['error'] as { code: string; details?: { path: string }[] };
    return [status, code, details?.map(({ path }) => path)];
  };

  it('an email can have every simulated outcome, and its callbacks have tags, metadata and bounce', async () => {
    const { secret, webhook_id } = (await ask('POST', '/webhooks', { body: { url: customer.url } }))
      .body as { secret: string; webhook_id: string };
    const outcomes = ['ada', 'bounced', 'complained', 'delayed', 'rejected'];
    const metadata = { order: '1001' };
    const answer = await send({
      ...TEXT,
      recipients: outcomes.map((name) => ({
        email: `${name}@example.com`,
        variables: { x: name },
      })),
      subject: 'Hello {{x}}',
      tags: ['order', 'vip'],
      metadata,
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { status_code: 200, recipients_processed: 5 },
    });
    const id = String(answer.body['reference_id']);
    expect(answer.body['messages']).toEqual(
      outcomes.map((name, n) => ({
        message_id: `${id}-${n}`,
        to: `${name}@example.com`,
        status: 'queued',
      })),
    );
    const wanted = ['delivered', 'bounced', 'complained', 'delivered', 'rejected'];
    await eventually(async () => {
      const { body } = await ask('GET', `/messages?reference_id=${id}`);
      expect((body['data'] as Row[]).map(({ status }) => status)).toEqual(wanted);
    });
    expect(
      await rows(`reference_id=${id}&to=BOUNCED%40Example.com`.replace('BOUNCED', 'bounced')),
    ).toEqual([
      expect.objectContaining({
        message_id: `${id}-1`,
        from: 'hello@demo.test',
        subject: 'Hello {{x}}',
        status: 'bounced',
        error_code: '5.1.1',
        tags: ['order', 'vip'],
        send_at: null,
      }),
    ]);
    const message = await ask('GET', `/messages/${id}-1`);
    const bounce = { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' };
    const cost = { cost: 0.5, currency: 'NGN' };
    expect(message.body).toMatchObject({ status: 'bounced', bounce, metadata, ...cost });
    const whole = await ask('GET', `/messages/${id}`);
    expect(whole.body).toMatchObject({
      counts: { delivered: 2, bounced: 1, complained: 1, rejected: 1 },
      cost: 2,
      currency: 'NGN',
      content: { from: { email: 'hello@demo.test', name: 'Shop' }, subject: 'Hello {{x}}' },
    });
    const events = await ask('GET', `/messages/${id}-3/events`);
    expect((events.body['data'] as { event: string }[]).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['sent', 'delayed', 'delivered']),
    );
    const ofBatch = await ask('GET', `/messages/${id}/events?limit=1000`);
    expect((ofBatch.body['data'] as unknown[]).length).toBeGreaterThan(8);
    const received = () =>
      customer.received
        .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
        .filter(({ data }) => data['reference_id'] === id);
    await eventually(async () =>
      expect(received().map(({ type }) => type)).toEqual(
        expect.arrayContaining([
          'email.sent',
          'email.delivered',
          'email.bounced',
          'email.complained',
          'email.delayed',
          'email.rejected',
        ]),
      ),
    );
    expect(received().find(({ type }) => type === 'email.bounced')?.data).toEqual({
      reference_id: id,
      message_id: `${id}-1`,
      cost: 0.5,
      currency: 'NGN',
      to: 'bounced@example.com',
      from: 'hello@demo.test',
      status: 'bounced',
      error_code: '5.1.1',
      smsc_timestamp: expect.any(String),
      sequence: expect.any(Number),
      tags: ['order', 'vip'],
      metadata,
      bounce: expect.objectContaining(bounce),
    });
    expect(received().find(({ type }) => type === 'email.sent')?.data).toMatchObject({
      tags: ['order', 'vip'],
      bounce: null,
    });
    const [first] = await customer.first(1);
    expect(new Webhook(secret).verify(first?.body ?? '', first?.headers ?? {})).toBeDefined();
    const stats = await ask('GET', '/stats?tag=vip&domain=demo.test');
    const total = (name: string) =>
      (stats.body['data'] as Record<string, number>[]).reduce(
        (sum, one) => sum + (one[name] ?? 0),
        0,
      );
    expect(
      ['accepted', 'delivered', 'delayed', 'bounced', 'complained', 'rejected'].map(total),
    ).toEqual([5, 3, 1, 1, 1, 1]);
    expect((await ask('DELETE', `/webhooks/${webhook_id}`)).status).toBe(204);
  });

  it('an email whose answer is lost is unknown, and the emails after it are sent', async () => {
    const to = ['lost@example.com', 'ada@example.com'];
    const { body } = await send({ ...TEXT, recipients: to.map((email) => ({ email })) });
    const id = String(body['reference_id']);
    await eventually(async () => {
      const listed = await rows(`reference_id=${id}`);
      expect(listed.map(({ status }) => status)).toEqual(['unknown', 'delivered']);
    });
  });

  it('a webhook gets the kinds of callbacks it asked for', async () => {
    const chosen = await Receiver.start();
    try {
      const body = { url: chosen.url, events: ['email.bounced', 'email.domain_failed'] };
      const made = await ask('POST', '/webhooks', { body });
      expect([made.status, made.body['events']]).toEqual([201, body.events]);
      const wrong = await ask('PATCH', `/webhooks/${String(made.body['webhook_id'])}`, {
        body: { events: ['email.bounced', 'email.bouncing'] },
      });
      expect(errorOf(wrong)).toEqual([422, 'invalid_field', ['events[1]']]);
      const to = ['bounced@example.org', 'full@example.org', 'eve@example.org'];
      const id = String((await send({ ...TEXT, to })).body['reference_id']);
      await eventually(async () => {
        const { body: batch } = await ask('GET', `/messages/${id}`);
        expect(batch['counts']).toEqual({ bounced: 2, delivered: 1 });
      });
      await eventually(async () => expect(chosen.received).toHaveLength(2));
      const types = chosen.received.map(
        ({ body: sent }) => (JSON.parse(sent) as { type: string }).type,
      );
      expect(types).toEqual(['email.bounced', 'email.bounced']);
      const listed = await ask('GET', '/webhooks');
      expect(listed.body['data']).toHaveLength(1);
      await ask('DELETE', `/webhooks/${String(made.body['webhook_id'])}`);
    } finally {
      await chosen.close();
    }
  });

  it('a repeat under a key gets the first answer, and another body 422', async () => {
    const key = { 'idempotency-key': 'order-1' };
    const body = { ...TEXT, to: ['ada@example.com'], send_at: LATER, tags: ['a'] };
    const first = await send(body, key);
    const again = await send(body, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    for (const other of [{ tags: ['b'] }, { metadata: { a: '1' } }, { to: ['bea@example.com'] }])
      expect(errorOf(await send({ ...body, ...other }, key))).toEqual([
        422,
        'idempotency_key_reused',
        undefined,
      ]);
    const id = String(first.body['reference_id']);
    const moved = await ask('PATCH', `/messages/${id}`, {
      body: { send_at: '2151-01-01T00:00:00Z' },
    });
    expect(moved.body).toMatchObject({ status: 'scheduled', send_at: '2151-01-01T00:00:00.000Z' });
    for (let n = 0; n < 2; n++)
      expect((await ask('DELETE', `/messages/${id}`)).body).toMatchObject({
        status: 'cancelled',
        counts: { cancelled: 1 },
      });
    expect(await rows(`reference_id=${id}&status=cancelled`)).toHaveLength(1);
    expect(errorOf(await ask('PATCH', `/messages/${id}`, { body: { send_at: LATER } }))).toEqual([
      409,
      'already_sent',
      undefined,
    ]);
  });

  it('several emails under one key are accepted all or none', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const message = (to: string) => ({ ...TEXT, to: [to], send_at: LATER, tags: ['many'] });
    const messages = ['ada@example.com', 'bea@example.com'].map(message);
    const all = (list: unknown) =>
      ask('POST', '/messages/batch', { body: { messages: list }, headers });
    const wrong = { ...message('nobody'), reply_to: ['x'], subject: 7 };
    expect(errorOf(await all([...messages, wrong]))).toEqual([
      422,
      'invalid_field',
      expect.arrayContaining([
        'messages[2].to[0]',
        'messages[2].reply_to[0]',
        'messages[2].subject',
      ]),
    ]);
    expect(
      errorOf(await all([...messages, { ...message('a@b.cd'), from: 'x@other.test' }])),
    ).toEqual([422, 'domain_not_verified', ['messages[2].from']]);
    expect(await rows('tag=many')).toEqual([]);
    const first = await all(messages);
    expect(first).toMatchObject({ status: 200, body: { recipients_processed: 2 } });
    const again = await all(messages);
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
    expect(errorOf(await all(messages.slice(0, 1)))[1]).toBe('idempotency_key_reused');
    expect(await rows('tag=many&limit=1')).toHaveLength(1);
    expect(await rows('tag=many')).toHaveLength(2);
    for (const list of [[], Array.from({ length: 1_001 }, () => message('a@b.cd')), 'x', [7]])
      expect(errorOf(await all(list)).slice(0, 2)).toEqual([422, 'invalid_field']);
  });

  it('each wrong field of a send is named, and nothing is stored', async () => {
    const cases: [object, string][] = [
      [{ from: 'nobody' }, 'from'],
      [{ from: { email: 'hello@demo.test', phone: '1' } }, 'from.phone'],
      [{ from: undefined }, 'from'],
      [{ to: 'ada@example.com' }, 'to'],
      [{ to: ['ada@example.com', { email: 'x' }] }, 'to[1].email'],
      [{ to: [{ email: 'ada@example.com', age: 7 }] }, 'to[0].age'],
      [{ cc: ['"a b"@example.com'] }, 'cc[0]'],
      [{ recipients: ['a@example.com'] }, 'to'],
      [{ to: undefined }, 'to'],
      [{ reply_to: ['x'] }, 'reply_to[0]'],
      [{ subject: 'a\r\nBcc: x@example.com' }, 'subject'],
      [{ text: '' }, 'text'],
      [{ html: 7 }, 'html'],
      [
        { attachments: [{ filename: 'a', content_type: 'x', content: 'AAAA' }] },
        'attachments[0].content_type',
      ],
      [
        { attachments: [{ filename: 'a', content_type: 'a/b', content: '!' }] },
        'attachments[0].content',
      ],
      [
        {
          attachments: ['a', 'b'].map((filename) => {
            return { filename, content_type: 'a/b', content: 'AAAA', content_id: 'a' };
          }),
        },
        'attachments[1].content_id',
      ],
      [{ attachments: [{ url: 'https://x.test' }] }, 'attachments[0].url'],
      [{ headers: { 'X-SMTPAPI': '{}' } }, 'headers.X-SMTPAPI'],
      [{ category: 'spam' }, 'category'],
      [{ unsubscribe_url: 'https://x.test/u' }, 'unsubscribe_url'],
      [{ tags: ['a b'] }, 'tags[0]'],
      [{ metadata: { a: 1 } }, 'metadata.a'],
      [{ send_at: '2030-01-01T00:00:00' }, 'send_at'],
      [{ body: 'x' }, 'body'],
    ];
    const before = (await rows('limit=200')).length;
    for (const [change, path] of cases) {
      const body = { ...TEXT, to: ['ada@example.com'], ...change };
      expect([path, ...errorOf(await send(body))]).toEqual([path, 422, 'invalid_field', [path]]);
    }
    for (const from of ['hello@other.test', 'hello@sub.demo.test'])
      expect(errorOf(await send({ ...TEXT, from, to: ['ada@example.com'] }))).toEqual([
        422,
        'domain_not_verified',
        ['from'],
      ]);
    const { apiKey } = await gateway.account('other');
    expect(
      errorOf(
        await ask('POST', '/messages', { token: apiKey, body: { ...TEXT, to: ['a@b.cd'] } }),
      )[1],
    ).toBe('domain_not_verified');
    for (const query of ['to=x', 'status=gone', 'tag=a%20b', 'since=x', 'cursor=x', 'limit=201'])
      expect(errorOf(await ask('GET', `/messages?${query}`))).toEqual([
        422,
        'invalid_field',
        [query.split('=')[0]],
      ]);
    for (const [query, path] of [
      ['since=1970-01-01T00:00:00Z', 'since'],
      ['until=2000-01-01T00:00:00Z&since=2001-01-01T00:00:00Z', 'until'],
      ['interval=week', 'interval'],
    ])
      expect(errorOf(await ask('GET', `/stats?${query}`))).toEqual([422, 'invalid_field', [path]]);
    expect((await rows('limit=200')).length).toBe(before);
  });

  it('an address without consent to marketing, and a suppressed one, get nothing', async () => {
    const marketing = { ...TEXT, to: ['fay@example.com'], category: 'marketing', send_at: LATER };
    expect(errorOf(await send(marketing))[1]).toBe('opt_in_required');
    const contact = await ask('POST', '/contacts', {
      body: {
        email: 'fay@Example.com',
        phone: '2348012345678',
        name: 'Fay',
        consents: [{ channel: 'email', category: 'marketing', status: 'opted_in' }],
      },
    });
    expect(contact.body).toMatchObject({
      emails: ['fay@example.com'],
      phones: ['2348012345678'],
      consents: [{ channel: 'email', category: 'marketing', status: 'opted_in', source: 'api' }],
    });
    expect((await send(marketing)).status).toBe(200);
    const id = String((await send({ ...TEXT, to: ['bounced@example.net'] })).body['reference_id']);
    await eventually(async () =>
      expect(await rows(`reference_id=${id}&status=bounced`)).toHaveLength(1),
    );
    const again = await send({ ...TEXT, to: ['bounced@example.net'] });
    expect(errorOf(again)).toEqual([422, 'suppressed', undefined]);
    const some = await send({ ...TEXT, to: ['gus@example.com', 'bounced@example.net'] });
    expect((some.body['messages'] as Row[]).map(({ to, status }) => [to, status])).toEqual([
      ['bounced@example.net', 'rejected'],
      ['gus@example.com', 'queued'],
    ]);
  });

  it('an API key reads and changes only what its scopes allow', async () => {
    const keyOf = async (...scopes: Scope[]) =>
      (await gateway.accounts.createKey(account.accountId, scopes)).apiKey;
    await ask('POST', '/contacts', { body: { email: 'hal@example.com', phone: '2348099999999' } });
    const reader = await keyOf('email:read');
    const seen = await ask('GET', '/contacts?email=hal@example.com', { token: reader });
    expect(Object.keys((seen.body['data'] as object[])[0] ?? {})).toEqual([
      'id',
      'name',
      'emails',
      'created_at',
    ]);
    const whole = await ask('GET', '/contacts/hal@example.com', {
      token: await keyOf('email:read', 'contacts:read'),
    });
    expect(whole.body).toMatchObject({ phones: ['2348099999999'], platform_ids: [], groups: [] });
    const refused = await ask('POST', '/messages', {
      token: reader,
      body: { ...TEXT, to: ['a@b.cd'] },
    });
    expect(errorOf(refused)).toEqual([403, 'insufficient_scope', undefined]);
    for (const [path, field] of [
      [{ channel: 'fax', status: 'opted_in' }, 'consents[0].channel'],
      [{ channel: 'email', category: 'none', status: 'opted_in' }, 'consents[0].category'],
      [{ channel: 'email', status: 'maybe' }, 'consents[0].status'],
    ] as const)
      expect(
        errorOf(
          await ask('POST', '/contacts', { body: { email: 'ian@example.com', consents: [path] } }),
        ),
      ).toEqual([422, 'invalid_field', [field]]);
    expect(errorOf(await ask('POST', '/contacts', { body: { name: 'x' } }))[2]).toEqual(['email']);
    expect((await ask('GET', '/contacts?email=ian@example.com')).body['data']).toEqual([]);
    const erased = await ask('DELETE', '/contacts/hal@example.com');
    expect(erased).toMatchObject({ status: 200, body: { remaining: 0 } });
    expect((await ask('GET', '/contacts/hal@example.com')).status).toBe(404);
  });
});

describeEachDatabase(
  'large emails at the gateway',
  (db) => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    });
    afterAll(() => gateway.destroy());

    const MIB = 1_048_576;
    const post = (path: string, raw: string, token = gateway.running.demo?.apiKey ?? '') =>
      gateway.call('POST', `${BASE}${path}`, { token, raw });
    const attached = (bytes: number): string =>
      JSON.stringify({
        ...TEXT,
        to: ['ada@example.com'],
        send_at: LATER,
        attachments: [
          {
            filename: 'a.bin',
            content_type: 'application/octet-stream',
            content: Buffer.alloc(bytes, 7).toString('base64'),
          },
        ],
      });

    it('a message of up to 25 MiB is taken, a larger one and a larger body get 413', async () => {
      const taken = await post('/messages', attached(24 * MIB));
      expect(taken.status).toBe(200);
      const { body } = await gateway.call(
        'GET',
        `${BASE}/messages/${String(taken.body['reference_id'])}`,
        {
          token: gateway.running.demo?.apiKey ?? '',
        },
      );
      expect(body).toMatchObject({ content: { attachments: [{ size: 24 * MIB }] } });
      for (const [path, raw] of [
        ['/messages', attached(25 * MIB)],
        ['/messages', `"${'x'.repeat(36 * MIB)}"`],
        ['/messages/batch', `"${'x'.repeat(40 * MIB)}"`],
        ['/contacts', `"${'x'.repeat(4 * MIB)}"`],
      ] as const)
        expect([path, (await post(path, raw)).body]).toEqual([
          path,
          { error: expect.objectContaining({ code: 'payload_too_large' }) },
        ]);
    });

    it('20,000 recipients with variables are taken, and no body without a valid credential', async () => {
      const recipients = Array.from({ length: 20_000 }, (_, n) => ({
        email: `p${n}@example.com`,
        variables: { first: `P${n}` },
      }));
      const raw = JSON.stringify({ ...TEXT, subject: '{{first}}', recipients, send_at: LATER });
      const taken = await post('/messages', raw);
      expect(taken.body).toMatchObject({ recipients_processed: 20_000 });
      expect(taken.body).not.toHaveProperty('messages');
      expect((await post('/messages', raw, 'svk_x')).status).toBe(401);
    });
  },
  ['sqlite'],
);

describe('an email through an SMTP relay', () => {
  it('a message reaches the relay with the signature of its domain, and a refusal is a bounce', async () => {
    const relay = await MailServer.start();
    relay.answer = (verb, address) =>
      verb === 'rcpt' && address.startsWith('nobody@') ? '550 5.1.1 No such user' : undefined;
    const gateway = await new TestGateway({
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: relay.url,
      SMTP_TLS: 'off',
    }).start();
    try {
      const token = gateway.running.demo?.apiKey ?? '';
      const to = ['ada@example.com', 'nobody@example.com'];
      const sent = await gateway.call('POST', `${BASE}/messages`, {
        token,
        body: { ...TEXT, to },
      });
      const id = String(sent.body['reference_id']);
      await eventually(async () => {
        const { body } = await gateway.call('GET', `${BASE}/messages/${id}`, { token });
        expect(body['counts']).toEqual({ sent: 1, bounced: 1 });
      });
      expect(relay.accepted.map((mail) => mail.to)).toEqual([['ada@example.com']]);
      expect(relay.accepted[0]?.message.toString()).toMatch(/^DKIM-Signature: .*d=demo\.test;/ms);
      const { body } = await gateway.call('GET', `${BASE}/messages/${id}-1`, { token });
      expect(body['bounce']).toMatchObject({ category: 'recipient', smtp_code: 550 });
      const sms = await gateway.call('POST', '/ng/v1/sendsms', {
        token: gateway.running.demo?.apiToken ?? '',
        body: { from: 'ACME', to: ['2348012345678'], body: 'Hello' },
      });
      expect(sms.status).toBe(200);
    } finally {
      await gateway.destroy();
      await relay.close();
    }
  });
});
