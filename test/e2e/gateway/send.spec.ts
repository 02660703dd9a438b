import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type Answered, TestGateway } from './test-gateway.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const FUTURE = '2150-01-01T00:00:00.000Z';

describeEachDatabase('a batch sent through the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const token = (): string => account.apiToken;
  const send = (body: object, headers: Record<string, string> = {}): Promise<Answered> =>
    gateway.call('POST', '/ng/v1/sendsms', { token: token(), body, headers });
  const accepted = async (body: object): Promise<string> => {
    const { status, body: answer } = await send({ from: 'ACME', body: 'Hello', ...body });
    expect(status).toBe(200);
    return String(answer['reference_id']);
  };
  const read = (id: string): Promise<Answered> =>
    gateway.call('GET', `/ng/v1/sms/${id}`, { token: token() });

  it('a batch is answered as documented, delivered, reported and read back', async () => {
    const sent = await send({
      from: 'ACME',
      to: ['2348012345678', '2348012345679', '2348012345678'],
      content: 'Hello',
      delivery_report: 'yes',
      tags: ['welcome'],
      metadata: { order: '1001' },
    });
    expect(sent.status).toBe(200);
    expect(sent.headers.get('idempotent-replayed')).toBeNull();
    expect(sent.body).toEqual({
      status_code: 200,
      message: expect.any(String),
      reference_id: expect.stringMatching(UUID),
      recipients_processed: 2,
      created_at: expect.stringMatching(RFC3339),
    });
    const id = String(sent.body['reference_id']);
    await eventually(async () => {
      expect((await read(id)).body).toMatchObject({ counts: { delivered: 2 } });
    });
    expect((await read(id)).body).toEqual({
      reference_id: id,
      from: 'ACME',
      to: ['2348012345678', '2348012345679'],
      body: 'Hello',
      delivery_report: 'yes',
      status: 'completed',
      created_at: sent.body['created_at'],
      send_at: null,
      recipients_processed: 2,
      parts: 1,
      cost: null,
      currency: null,
      counts: { delivered: 2 },
      deferred_until: null,
      reason: null,
      tags: ['welcome'],
      metadata: { order: '1001' },
    });
    const reports = await gateway.call('GET', `/ng/v1/sms/${id}/reports`, { token: token() });
    expect(reports.body['next_cursor']).toBeNull();
    const data = reports.body['data'] as Record<string, unknown>[];
    expect(data.filter(({ status }) => status === 'delivered')).toHaveLength(2);
    expect(data[0]).toEqual({
      reference_id: id,
      message_id: expect.stringMatching(new RegExp(`^${id}-[01]$`)),
      to: expect.stringMatching(/^234801234567[89]$/),
      from: 'ACME',
      status: expect.any(String),
      error_code: null,
      smsc_timestamp: expect.stringMatching(RFC3339),
      sequence: expect.any(Number),
      received_at: expect.stringMatching(RFC3339),
      cost: null,
      currency: null,
    });
  });

  it('wrong tags and metadata are refused with their paths', async () => {
    const to = ['2348012345678'];
    const wrong = { tags: ['a b'], metadata: { order: 7 } };
    expect(await send({ from: 'ACME', to, body: 'Hello', ...wrong })).toMatchObject({
      status: 422,
      body: {
        error: { details: [{ path: 'tags[0]' }, { path: 'metadata.order' }] },
      },
    });
  });

  it('one idempotency key creates one batch and refuses other content', async () => {
    const headers = { 'idempotency-key': `order-${Date.now()}` };
    const body = { from: 'ACME', to: ['2348012345678'], body: 'Once' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(body, headers)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const replayed = answers.filter((one) => one.headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(19);
    const other = await send({ ...body, body: 'Twice' }, headers);
    expect(other).toMatchObject({
      status: 422,
      body: { error: { type: 'validation_error', code: 'idempotency_key_reused' } },
    });
  });

  it('a scheduled batch waits for send_at and can be moved and cancelled repeatedly', async () => {
    const id = await accepted({ to: ['2348012345678'], send_at: '2140-01-01T01:00:00+01:00' });
    expect((await read(id)).body).toMatchObject({
      status: 'scheduled',
      send_at: '2140-01-01T00:00:00.000Z',
      counts: { queued: 1 },
    });
    const moved = await gateway.call('PATCH', `/ng/v1/sms/${id}`, {
      token: token(),
      body: { send_at: FUTURE },
    });
    expect(moved).toMatchObject({ status: 200, body: { status: 'scheduled', send_at: FUTURE } });
    for (let times = 0; times < 2; times++) {
      const cancelled = await gateway.call('DELETE', `/ng/v1/sms/${id}`, {
        token: token(),
        headers: { 'content-type': 'application/json' },
      });
      expect(cancelled).toMatchObject({
        status: 200,
        body: { status: 'cancelled', counts: { cancelled: 1 } },
      });
    }
    const late = await gateway.call('PATCH', `/ng/v1/sms/${id}`, {
      token: token(),
      body: { send_at: FUTURE },
    });
    expect(late).toMatchObject({
      status: 409,
      body: { error: { type: 'conflict_error', code: 'already_sent' } },
    });
  });

  it('a batch whose send_at is past leaves at once', async () => {
    const past = { send_at: '0001-01-01T00:00:00Z' };
    const moved = await accepted({ to: ['2348012345678'], send_at: FUTURE });
    const patch = { token: token(), body: past };
    expect((await gateway.call('PATCH', `/ng/v1/sms/${moved}`, patch)).status).toBe(200);
    for (const id of [moved, await accepted({ to: ['2348012345678'], ...past })])
      await eventually(async () => {
        expect((await read(id)).body).toMatchObject({
          status: 'completed',
          send_at: '1970-01-01T00:00:00.000Z',
        });
      });
  });

  it('a sent batch cannot be cancelled', async () => {
    const id = await accepted({ to: ['2348012345678'] });
    await eventually(async () => {
      expect((await read(id)).body['status']).toBe('completed');
    });
    const cancel = await gateway.call('DELETE', `/ng/v1/sms/${id}`, { token: token() });
    expect(cancel).toMatchObject({ status: 409, body: { error: { code: 'already_sent' } } });
  });

  it('a batch is not found by another account', async () => {
    const id = await accepted({ to: ['2348012345678'], send_at: FUTURE });
    const stranger = await gateway.account('stranger');
    for (const [method, path, body] of [
      ['GET', `/ng/v1/sms/${id}`, undefined],
      ['GET', `/ng/v1/sms/${id}/reports`, undefined],
      ['DELETE', `/ng/v1/sms/${id}`, undefined],
      ['PATCH', `/ng/v1/sms/${id}`, { send_at: FUTURE }],
    ] as const) {
      const answer = await gateway.call(method, path, { token: stranger.apiToken, body });
      expect([method, answer.status]).toEqual([method, 404]);
      expect(answer.body).toMatchObject({ error: { code: 'not_found' } });
    }
    const lists = await gateway.call('GET', '/ng/v1/sms', { token: stranger.apiToken });
    expect(lists.body).toEqual({ data: [], next_cursor: null });
    const reports = await gateway.call('GET', `/ng/v1/deliveryreports?reference_id=${id}`, {
      token: stranger.apiToken,
    });
    expect(reports.body).toEqual({ data: [], next_cursor: null });
  });

  it('batches are listed newest first in pages', async () => {
    const lister = await gateway.account('lister');
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { body } = await gateway.call('POST', '/ng/v1/sendsms', {
        token: lister.apiToken,
        body: { from: 'ACME', to: ['2348012345678'], body: `No. ${n}` },
      });
      ids.unshift(String(body['reference_id']));
    }
    const seen: unknown[] = [];
    for (let cursor: unknown = ''; cursor !== null;) {
      const path = `/ng/v1/sms?limit=2${cursor === '' ? '' : `&cursor=${String(cursor)}`}`;
      const { status, body } = await gateway.call('GET', path, { token: lister.apiToken });
      expect(status).toBe(200);
      const data = body['data'] as Record<string, unknown>[];
      expect(data.length).toBeLessThanOrEqual(2);
      seen.push(...data.map((batch) => batch['reference_id']));
      cursor = body['next_cursor'];
    }
    expect(seen).toEqual(ids);
  });

  it('reports are filtered by reference, key, recipient, status and time', async () => {
    const reporter = await gateway.account('reporter');
    const get = async (query: string): Promise<Record<string, unknown>[]> => {
      const answer = await gateway.call('GET', `/ng/v1/deliveryreports?${query}`, {
        token: reporter.apiToken,
      });
      expect(answer.status).toBe(200);
      return answer.body['data'] as Record<string, unknown>[];
    };
    const ids: string[] = [];
    for (const [key, to] of [
      ['first', '2348011111111'],
      ['second', '2348022229901'],
    ] as const) {
      const { body } = await gateway.call('POST', '/ng/v1/sendsms', {
        token: reporter.apiToken,
        headers: { 'idempotency-key': key },
        body: { from: 'ACME', to: [to], body: 'Hello' },
      });
      ids.push(String(body['reference_id']));
    }
    const [first, second] = ids;
    await eventually(async () => {
      const all = await get(
        `reference_id=${first}&reference_id=${second}&reference_id=unknown-one`,
      );
      expect(all.filter(({ status }) => status === 'delivered')).toHaveLength(1);
      expect(all.filter(({ status }) => status === 'undelivered')).toHaveLength(1);
    });
    const referencesOf = (rows: Record<string, unknown>[]): unknown[] => [
      ...new Set(rows.map((row) => row['reference_id'])),
    ];
    expect(referencesOf(await get('idempotency_key=second'))).toEqual([second]);
    expect(referencesOf(await get('to=2348011111111'))).toEqual([first]);
    expect(referencesOf(await get('status=undelivered'))).toEqual([second]);
    expect(await get('reference_id=unknown-one')).toEqual([]);
    expect(await get(`since=${encodeURIComponent('2150-01-01T00:00:00Z')}`)).toEqual([]);
    const all = await get('');
    expect(new Set(referencesOf(all))).toEqual(new Set(ids));
    const paged: unknown[] = [];
    for (let cursor: unknown = ''; cursor !== null;) {
      const more = cursor === '' ? '' : `&cursor=${String(cursor)}`;
      const { body } = await gateway.call('GET', `/ng/v1/deliveryreports?limit=1${more}`, {
        token: reporter.apiToken,
      });
      paged.push(...(body['data'] as unknown[]));
      cursor = body['next_cursor'];
    }
    expect(paged).toEqual(all);
  });
});
