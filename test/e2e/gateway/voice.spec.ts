import { ContactsService } from '@dundun/messaging';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { AccountSenders } from '../../../src/senders/account-senders.js';
import { eventually } from '../../support/eventually.js';
import { RecordingServer } from '../../support/recording-server.js';
import { type Answered, TestGateway } from './test-gateway.js';

const CALLS = '/ng/v1/voice/calls';
const CALLER = '2348000000001';
const TO = '2348012345678';

describe('voice on the gateway', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  const receiver = new RecordingServer((_request, response) => {
    response.statusCode = 204;
    response.end();
  });
  let account: CreatedAccount;
  let secret: string;

  beforeAll(async () => {
    await receiver.listen();
    await gateway.start();
    account = gateway.running.demo as CreatedAccount;
    const made = await gateway.call('POST', '/ng/v1/webhooks', {
      token: account.apiToken,
      body: { url: receiver.url },
    });
    secret = String(made.body['secret']);
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
  });

  const ask = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    gateway.call(method, path, {
      token: account.apiToken,
      ...(body && { body }),
      ...(headers && { headers }),
    });
  const send = (fields: object = {}, headers?: Record<string, string>): Promise<Answered> =>
    ask('POST', CALLS, { from: CALLER, to: [TO], text: 'Hello', ...fields }, headers);
  const idOf = ({ status, body }: Answered): string => {
    expect([status, body]).toEqual([200, expect.anything()]);
    return String(body['reference_id']);
  };
  const read = async (id: string) => (await ask('GET', `${CALLS}/${id}`)).body;
  const codeOf = ({ status, body }: Answered) => [
    status,
    (body['error'] as { code?: string } | undefined)?.code,
  ];

  it('a call is accepted and reads back by both ids with its times and its price', async () => {
    const sent = await send({ language: 'en-GB', voice: 'alice', max_duration: 60 });
    expect(sent.body).toMatchObject({ status_code: 200, recipients_processed: 1 });
    const id = idOf(sent);
    await eventually(async () =>
      expect(await read(id)).toMatchObject({
        message_id: `${id}-0`,
        reference_id: id,
        from: CALLER,
        to: TO,
        status: 'completed',
        duration: 7,
        billed_seconds: 60,
        cost: 15,
        currency: 'NGN',
        answered_by: 'human',
        hangup_cause: 'normal_clearing',
        digits: null,
        attempts: 1,
        answered_at: expect.any(String),
        ended_at: expect.any(String),
        content: { text: 'Hello', language: 'en-GB', ring_timeout: 30, max_duration: 60 },
      }),
    );
    const { content: _content, ...listed } = await read(`${id}-0`);
    const list = await ask('GET', `${CALLS}?reference_id=${id}`);
    expect(list.body).toEqual({ data: [listed], next_cursor: null });
    expect((await ask('GET', `${CALLS}?status=busy&to=${TO}`)).body['data']).toEqual([]);
  });

  it('a call to several numbers reads back as one send', async () => {
    const id = idOf(await send({ to: [TO, '2348012349901'] }));
    await eventually(async () =>
      expect(await read(id)).toMatchObject({
        reference_id: id,
        status: 'completed',
        recipients_processed: 2,
        counts: { completed: 1, busy: 1 },
      }),
    );
  });

  it.each([
    ['9901', { status: 'busy', attempts: 1, cost: 0, billed_seconds: 0 }],
    ['9902', { status: 'no_answer', hangup_cause: 'no_answer' }],
    ['9903', { status: 'rejected', error_code: 'call_rejected' }],
    ['9908', { status: 'unknown', attempts: 1 }],
    ['9911', { status: 'completed', answered_by: 'machine' }],
    ['9912', { status: 'completed', digits: '1' }],
  ])('the simulated number %s ends as documented', async (digits, expected) => {
    const to = [`234801234${digits}`];
    const id = idOf(await send({ to, collect: { max_digits: 1 } }));
    await eventually(async () => expect(await read(id)).toMatchObject(expected));
  });

  it('a redial is an event with the status before it, and its callbacks are signed', async () => {
    const before = receiver.requests.length;
    const redial = { times: 1, after: 1 };
    const to = ['2348012349904'];
    const id = idOf(await send({ to, redial, delivery_report: 'yes' }));
    await eventually(async () =>
      expect(await read(id)).toMatchObject({ status: 'completed', attempts: 2 }),
    );
    const own = () =>
      receiver.requests
        .slice(before)
        .map(({ headers, body }) => {
          const event = new Webhook(secret).verify(body, headers as Record<string, string>);
          return event as { type: string; data: Record<string, unknown> };
        })
        .filter(({ data }) => data['reference_id'] === id)
        .toSorted((a, b) => Number(a.data['sequence']) - Number(b.data['sequence']));
    await eventually(async () => expect(own().at(-1)?.data['status']).toBe('completed'));
    const seen = own();
    expect(new Set(seen.map(({ type }) => type))).toEqual(new Set(['voice.call_status']));
    expect(seen.map(({ data }) => [data['event'], data['status'], data['attempts']])).toEqual([
      [null, 'initiated', 1],
      ['redial', 'initiated', 1],
      [null, 'initiated', 2],
      [null, 'ringing', 2],
      [null, 'answered', 2],
      [null, 'completed', 2],
    ]);
    expect(seen.at(-1)?.data).toMatchObject({
      message_id: `${id}-0`,
      to: to[0],
      from: CALLER,
      duration: 7,
      billed_seconds: 60,
      cost: 15,
      currency: 'NGN',
      error_code: null,
      sequence: 6,
    });
  });

  it('an idempotency key makes one call, and refuses another one', async () => {
    const headers = { 'idempotency-key': 'call-1' };
    const first = await send({}, headers);
    const again = await send({}, headers);
    expect([idOf(again), again.headers.get('idempotent-replayed')]).toEqual([idOf(first), 'true']);
    expect(codeOf(await send({ text: 'Other' }, headers))).toEqual([422, 'idempotency_key_reused']);
  });

  it('a scheduled call can be cancelled, and a dialled one cannot', async () => {
    const id = idOf(await send({ send_at: '2150-01-01T00:00:00Z' }));
    expect((await ask('DELETE', `${CALLS}/${id}`)).body).toMatchObject({
      status: 'cancelled',
      attempts: 0,
    });
    expect((await ask('DELETE', `${CALLS}/${id}`)).status).toBe(200);
    const made = idOf(await send());
    await eventually(async () => expect((await read(made))['status']).toBe('completed'));
    expect(codeOf(await ask('DELETE', `${CALLS}/${made}`))).toEqual([409, 'already_sent']);
  });

  it('an estimate names length and price', async () => {
    expect((await ask('POST', `${CALLS}/estimate`, { code: '4821', repeat: 2 })).body).toEqual({
      duration: 8,
      billed_seconds: 60,
      cost: 15,
      currency: 'NGN',
    });
    const none = await ask('POST', `${CALLS}/estimate`, {});
    expect(codeOf(none)).toEqual([422, 'invalid_field']);
  });

  it.each([
    [{ from: '2348000000009' }, 'caller_not_registered', 'from'],
    [{ from: 'ACME' }, 'invalid_field', 'from'],
    [{ to: [] }, 'invalid_field', 'to'],
    [{ to: ['+2348012345678'] }, 'invalid_field', 'to[0]'],
    [{ code: '1234' }, 'invalid_field', 'code'],
    [{ text: undefined }, 'invalid_field', 'text'],
    [{ text: undefined, audio_url: 'ftp://x' }, 'invalid_field', 'audio_url'],
    [{ text: undefined, code: '123' }, 'invalid_field', 'code'],
    [{ repeat: 4 }, 'invalid_field', 'repeat'],
    [{ ring_timeout: 14 }, 'invalid_field', 'ring_timeout'],
    [{ max_duration: 601 }, 'invalid_field', 'max_duration'],
    [{ redial: { times: 4 } }, 'invalid_field', 'redial.times'],
    [{ redial: [] }, 'invalid_field', 'redial'],
    [{ collect: { max_digits: 0 } }, 'invalid_field', 'collect.max_digits'],
    [{ machine: 'wait' }, 'invalid_field', 'machine'],
    [{ category: 'service' }, 'invalid_field', 'category'],
    [{ send_at: '2150-01-01' }, 'invalid_field', 'send_at'],
    [{ volume: 11 }, 'invalid_field', 'volume'],
  ])('a call with %j is refused', async (fields, code, path) => {
    const refused = await send(fields);
    expect(codeOf(refused)).toEqual([422, code]);
    const { details } = refused.body['error'] as { details: { path: string }[] };
    expect(details.map((one) => one.path)).toEqual([path]);
  });

  it('a call is cancelled by its message id, where the send has no other number', async () => {
    const send_at = '2150-01-01T00:00:00Z';
    const one = (await send({ send_at })).body['reference_id'];
    const cancel = (id: string) =>
      gateway.call('DELETE', `/ng/v1/voice/calls/${id}`, { token: account.apiToken });
    expect(await cancel(`${String(one)}-0`)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    });
    const two = (await send({ send_at, to: ['2348012340001', '2348012340002'] })).body;
    expect(codeOf(await cancel(`${String(two['reference_id'])}-1`))).toEqual([
      422,
      'invalid_field',
    ]);
    expect(codeOf(await cancel(`${String(one)}-1`))).toEqual([404, 'not_found']);
  });

  it.each([
    [CALLS, 'apiToken'],
    ['/email/ng/v1/messages', 'apiKey'],
  ] as const)(
    'a list at %s by the id of no send is 404, as the document says',
    async (path, key) => {
      const none = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd';
      const found = await gateway.call('GET', `${path}?reference_id=${none}`, {
        token: account[key],
      });
      expect(codeOf(found)).toEqual([404, 'not_found']);
    },
  );

  it('a marketing call to a number on the do-not-call list is refused', async () => {
    const contacts = gateway.running.app.get(ContactsService, { strict: false });
    const listed = '2348012340001';
    await contacts.suppress(listed, {
      tenant: account.accountId,
      channel: 'voice',
      category: 'marketing',
      reason: 'do_not_call',
    });
    const refused = await send({ to: [listed], category: 'marketing' });
    expect(codeOf(refused)).toEqual([422, 'do_not_call']);
    expect((refused.body['error'] as { type: string }).type).toBe('policy_error');
    expect((await send({ to: [listed] })).status).toBe(200);
  });

  it('caller ids belong to their account', async () => {
    const other = await gateway.account('other');
    const { accountId } = other;
    const caller = { accountId, channel: 'voice', sender: CALLER } as const;
    const call = { token: other.apiToken, body: { from: CALLER, to: [TO], text: 'Hello' } };
    expect(codeOf(await gateway.call('POST', CALLS, call))).toEqual([422, 'caller_not_registered']);
    await gateway.senders.add(caller);
    await gateway.senders.add(caller);
    const reader = gateway.running.app.get(AccountSenders, { strict: false });
    expect(await reader.list(accountId, 'voice')).toMatchObject([{ sender: CALLER }]);
    const sent = await gateway.call('POST', CALLS, call);
    expect(sent.status).toBe(200);
    expect((await ask('GET', `${CALLS}/${idOf(sent)}`)).status).toBe(404);
    await gateway.senders.remove(caller);
    expect(codeOf(await gateway.call('POST', CALLS, call))).toEqual([422, 'caller_not_registered']);
    await expect(gateway.senders.add({ ...caller, sender: 'ACME' })).rejects.toThrow('caller');
  });

  it('no log has digits, texts, codes or numbers', async () => {
    const id = idOf(await send({ to: ['2348012349912'], collect: { max_digits: 1 } }));
    await eventually(async () => expect((await read(id))['digits']).toBe('1'));
    const code = idOf(await send({ text: undefined, code: '48210937' }));
    await eventually(async () => expect((await read(code))['status']).toBe('completed'));
    const log = gateway.log.join('\n');
    expect(log).not.toContain('48210937');
    expect(log).not.toMatch(/digits/i);
    expect(log).not.toContain('2348012349912');
  });
});
