import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { HoldWatch } from '../../../libs/messaging/src/dispatch/hold-watch.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const CALLER = '2348000000007';

describe('dundun messages and lanes', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let account: CreatedAccount;
  let receiver: Receiver;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
    await gateway.senders.add({ accountId: account.accountId, channel: 'voice', sender: CALLER });
    receiver = await Receiver.start();
    const body = { url: receiver.url };
    await gateway.call('POST', '/ng/v1/webhooks', { token: account.apiToken, body });
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
  });

  const settings = () => ({ NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl });
  async function dundun(...args: string[]): Promise<Record<string, unknown>> {
    const ended = await commandLine([...args, '--json'], settings(), tmpdir());
    return JSON.parse(ended.code === 0 ? ended.stdout : ended.stderr) as Record<string, unknown>;
  }
  const rowsOf = async (...filter: string[]) =>
    (await dundun('messages', 'list', ...filter))['messages'] as Record<string, unknown>[];
  async function post(path: string, body: object): Promise<string> {
    const sent = await gateway.call('POST', path, { token: account.apiToken, body });
    expect(sent.status).toBe(200);
    return String(sent.body['reference_id']);
  }
  const send = (to: string) => post('/ng/v1/sendsms', { from: 'ACME', to: [to], body: 'Hello' });
  const statusOf = async (id: string) =>
    (await rowsOf('--account', account.accountId)).find(({ message }) => message === id)?.[
      'status'
    ];

  it('insights rebuild counts outcomes again, and refuses what is no period', async () => {
    const message = `${await send('2348012340001')}-0`;
    await eventually(async () => expect(await statusOf(message)).toBe('delivered'));
    expect(await dundun('insights', 'rebuild')).toEqual({ rebuilt: 1, kept: 0 });
    const figures = {
      messages: 1,
      delivered: 1,
      failed: 0,
      parts: 1,
      prices: [],
      messages_before: 0,
    };
    expect(await dundun('insights', 'show', '--by', 'country', '--days', '2')).toMatchObject({
      groups: [
        { name: 'NG', ...figures },
        { name: 'all', ...figures },
      ],
    });
    expect(await dundun('insights', 'show', '--country', 'GH')).toMatchObject({
      groups: [{ name: 'all', messages: 0 }],
    });
    expect(await dundun('insights', 'show', '--days', '0')).toMatchObject({
      error: {
        code: 'invalid_usage',
        message: expect.stringMatching(/must be 1 to 400/) as unknown,
      },
    });
    expect(await dundun('insights', 'rebuild', '--since', '10d', '--until', '9d')).toEqual({
      rebuilt: 0,
      kept: 0,
    });
    expect(await dundun('insights', 'rebuild', '--since', 'tomorrow')).toMatchObject({
      error: { message: expect.stringMatching(/since/) as unknown },
    });
    expect(await dundun('insights', 'rebuild', '--until', '2h', '--since', '1h')).toMatchObject({
      error: { message: expect.stringMatching(/until: must be after since/) as unknown },
    });
  });

  it('messages list shows no numbers or texts, and messages resend repeats a message once', async () => {
    const message = `${await send('2348012349901')}-0`;
    await eventually(async () => expect(await statusOf(message)).toBe('undelivered'));
    const listed = await rowsOf('--status', 'undelivered', '--younger', '1h', '--channel', 'sms');
    expect(listed).toMatchObject([
      { message, account: account.accountId, channel: 'sms', status: 'undelivered' },
    ]);
    expect(JSON.stringify(listed)).not.toMatch(/2348012349901|Hello/);
    expect(await rowsOf('--to', '+234 801 234 9901')).toEqual(listed);
    expect(await rowsOf('--to', '+234 801 234 9902')).toEqual([]);
    const shown = await dundun('messages', 'show', '--message', message);
    expect(shown).toMatchObject({
      message,
      status: 'undelivered',
      attempts: 1,
      resent_as: null,
      requests: [{ provider: 'simulator', outcome: 'accepted', error_code: null }],
      reports: [{ status: 'sent' }, { status: 'undelivered', source: 'simulator' }],
    });
    expect(JSON.stringify(shown)).not.toMatch(/2348012349901|Hello/);
    expect(await rowsOf('--older', '2020-01-01T00:00:00Z')).toEqual([]);
    const { accountId: other } = await gateway.account();
    expect(await rowsOf('--account', other)).toEqual([]);
    const resent = await dundun('messages', 'resend', '--message', message, '--by', 'ada');
    expect(resent).toMatchObject({ message, status: 'resent' });
    expect(await dundun('messages', 'resend', '--message', message)).toEqual({
      ...resent,
      status: 'resent_before',
    });
    await eventually(async () =>
      expect(await statusOf(String(resent['resent_as']))).toBe('undelivered'),
    );
    const [, table] = [listed, await commandLine(['messages', 'list'], settings(), tmpdir())];
    expect(table.stdout).toMatch(/^message +account +channel +status/m);
  });

  it('messages settle records the decision and calls the webhook of the customer', async () => {
    const id = await post('/ng/v1/voice/calls', {
      from: CALLER,
      to: ['2348012349908'],
      text: 'Hello',
      delivery_report: 'yes',
    });
    const message = `${id}-0`;
    await eventually(async () => expect(await statusOf(message)).toBe('unknown'));
    const decision = [
      '--message',
      message,
      '--as',
      'failed',
      '--by',
      'olu@example.com',
      '--note',
      'asked',
    ];
    expect(await dundun('messages', 'settle', ...decision)).toMatchObject({
      message,
      status: 'failed',
      error_code: 'settled_by_operator',
      by: 'olu@example.com',
    });
    await eventually(async () => {
      const calls = receiver.received.filter(({ data }) => data.message_id === message);
      expect(calls.map(({ data }) => data.status)).toEqual(['failed']);
      expect(JSON.stringify(calls)).not.toMatch(/olu@|asked/);
    });
    expect(await dundun('messages', 'settle', ...decision)).toMatchObject({
      error: { code: 'wrong_status', message: expect.stringContaining('is failed') },
    });
  });

  it('messages settle-all and resend-all count the messages of a filter, and change them', async () => {
    const lost = async () => {
      const call = { from: CALLER, to: ['2348012349908'], text: 'Hello' };
      const message = `${await post('/ng/v1/voice/calls', call)}-0`;
      await eventually(async () => expect(await statusOf(message)).toBe('unknown'));
      return message;
    };
    const message = await lost();
    const all = ['--channel', 'voice', '--account', account.accountId, '--by', 'ada'];
    const settle = ['messages', 'settle-all', ...all, '--as', 'failed'];
    const { found, changed } = await dundun(...settle, '--dry-run');
    expect(found).toBeGreaterThan(0);
    expect(changed).toBe(0);
    expect(await statusOf(message)).toBe('unknown');
    expect(await dundun(...settle)).toEqual({ found, changed: found, skipped: {} });
    expect(await statusOf(message)).toBe('failed');
    const doubt = await lost();
    const resend = ['messages', 'resend-all', ...all, '--status', 'unknown'];
    expect(await dundun(...resend)).toMatchObject({ found: 1, changed: 0 });
    expect(await statusOf(doubt)).toBe('unknown');
    expect(await dundun(...resend, '--accept-doubles')).toMatchObject({ found: 1, changed: 1 });
    expect(await dundun('messages', 'settle-all', '--as', 'failed', '--by', 'ada')).toMatchObject({
      error: { message: expect.stringMatching(/^filter:/) },
    });
  });

  it('a wrong option or status of a command is named by its error', async () => {
    const none = '0190d0f0-0000-7000-8000-000000000000-0';
    const [unknown, status, age] = [
      await dundun('messages', 'resend', '--message', none),
      await dundun('messages', 'list', '--status', 'gone'),
      await dundun('messages', 'list', '--older', 'soon'),
    ];
    expect(unknown).toMatchObject({ error: { code: 'not_found' } });
    expect(status).toMatchObject({ error: { message: expect.stringContaining('status') } });
    expect(age).toMatchObject({ error: { message: expect.stringMatching(/^older:/) } });
  });

  it('lanes pause holds a lane with its reason, and lanes resume sends the waiting messages', async () => {
    const lane = `${account.accountId}:sms`;
    const paused = ['--lane', lane, '--reason', 'Carrier works', '--for', '2h'];
    expect(await dundun('lanes', 'pause', ...paused)).toMatchObject({ lane, status: 'paused' });
    const watch = gateway.running.app.get(HoldWatch, { strict: false });
    await eventually(async () => expect(watch.of(lane)).toBeDefined());
    const message = `${await send('2348012345678')}-0`;
    expect(await dundun('lanes')).toMatchObject({
      // A call of an earlier test may wait for a report.
      lanes: expect.arrayContaining([
        expect.objectContaining({ lane, state: 'held', reason: 'operator' }),
      ]),
      holds: [
        {
          lanes: lane,
          reason: 'operator',
          note: 'Carrier works',
          until: expect.any(String),
          detail: expect.stringContaining('dundun lanes resume'),
        },
      ],
    });
    expect(await statusOf(message)).toBe('queued');
    expect(await dundun('lanes', 'resume', '--lane', lane)).toEqual({ lane, status: 'resumed' });
    await eventually(async () => expect(await statusOf(message)).toBe('delivered'));
  });

  it('lanes drain pauses every lane and answers once no request is in flight', async () => {
    expect(await dundun('lanes', 'drain', '--timeout', '1ms')).toMatchObject({
      error: { code: 'drain_timeout' },
    });
    expect(await dundun('lanes', 'drain')).toEqual({ lane: '*', status: 'drained' });
    expect(await dundun('lanes')).toMatchObject({ holds: [{ lanes: '*', note: 'drained' }] });
    await dundun('lanes', 'resume', '--lane', '*');
    expect(await dundun('lanes')).toMatchObject({ holds: [] });
  });
});
