import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SmsService } from '@dundun/messaging';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { HoldWatch } from '../../../libs/messaging/src/dispatch/hold-watch.js';
import { eventually } from '../../support/eventually.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const LATER = { send_at: '2150-01-01T00:00:00Z' };

describe('a suspended account', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let receiver: Receiver;
  beforeAll(async () => {
    await gateway.start();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
  });

  async function dundun(...args: string[]): Promise<Record<string, unknown>> {
    const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
    const ended = await commandLine([...args, '--json'], settings, process.cwd());
    return JSON.parse(ended.code === 0 ? ended.stdout : ended.stderr) as Record<string, unknown>;
  }

  async function send({ apiToken: token }: CreatedAccount, body: object = {}): Promise<string> {
    const message = { from: 'ACME', to: ['2348012345678'], body: 'Hello', ...body };
    const answer = await gateway.call('POST', '/ng/v1/sendsms', { token, body: message });
    expect(answer.status).toBe(200);
    return String(answer.body['reference_id']);
  }

  const sms = () => gateway.running.app.get(SmsService, { strict: false });

  const comesDue = ({ accountId: tenant }: CreatedAccount, id: string, ms: number) =>
    sms().reschedule(id, new Date(Date.now() + ms), { tenant });

  async function countsOf({ accountId: tenant }: CreatedAccount, id: string): Promise<object> {
    return (await sms().batch(id, { tenant })).counts;
  }

  it('a batch that falls due during the suspension leaves after resume', async () => {
    const [account, other] = [await gateway.account(), await gateway.account()];
    const of = ['--account', account.accountId];
    const due = await send(account, LATER);
    expect(await dundun('account', 'suspend', ...of)).toEqual({
      account_id: account.accountId,
      status: 'suspended',
    });
    const later = await send(other, LATER);
    const watch = gateway.running.app.get(HoldWatch, { strict: false });
    await eventually(async () => expect(watch.of(`${account.accountId}:sms`)).toBeDefined());
    // This batch is due later than the held one, so that its delivery shows that the held one's time has passed.
    await comesDue(account, due, 100);
    await comesDue(other, later, 1_000);
    await eventually(async () => expect(await countsOf(other, later)).toEqual({ delivered: 1 }));
    expect(await countsOf(account, due)).toEqual({ queued: 1 });
    const { lanes, holds } = (await dundun('lanes')) as Record<string, unknown[]>;
    const hold = { reason: 'account_suspended' };
    expect(lanes).toMatchObject([{ lane: `${account.accountId}:sms`, state: 'held', ...hold }]);
    expect(holds).toMatchObject([{ lanes: `${account.accountId}:*`, ...hold }]);
    expect((await gateway.call('GET', '/health/ready')).body).toMatchObject({
      status: 'ok',
      details: { lanes: { held: { account_suspended: 1 } } },
    });
    expect(await dundun('account', 'resume', ...of)).toEqual({
      account_id: account.accountId,
      status: 'active',
      cancelled: 0,
    });
    await eventually(async () => expect(await countsOf(account, due)).toEqual({ delivered: 1 }));
    expect(await dundun('lanes')).toMatchObject({ holds: [] });
  });

  it('resume with --scheduled cancel cancels what was scheduled and queued', async () => {
    const account = await gateway.account();
    const of = ['--account', account.accountId];
    const scheduled = await send(account, LATER);
    const early = await dundun('account', 'resume', ...of, '--scheduled', 'cancel');
    expect(early).toMatchObject({ error: { code: 'invalid_field' } });
    expect(await countsOf(account, scheduled)).toEqual({ queued: 1 });
    await dundun('account', 'suspend', ...of);
    expect(await dundun('account', 'resume', ...of, '--scheduled', 'cancel')).toMatchObject({
      status: 'active',
      cancelled: 1,
    });
    expect(await countsOf(account, scheduled)).toEqual({ cancelled: 1 });
    const next = await send(account);
    await eventually(async () => expect(await countsOf(account, next)).toEqual({ delivered: 1 }));
    expect(await dundun('account', 'resume', ...of, '--scheduled', 'x')).toMatchObject({
      error: { code: 'invalid_usage' },
    });
  });

  it('reports of a suspended account are recorded, and its webhook is called', async () => {
    const account = await gateway.account();
    const { url } = receiver;
    await gateway.call('POST', '/ng/v1/webhooks', { token: account.apiToken, body: { url } });
    // Delivered only by a poll, five seconds after the submit.
    const to = ['2348012349906'];
    const id = await send(account, { to, delivery_report: 'yes' });
    await eventually(async () => expect(await countsOf(account, id)).toEqual({ sent: 1 }));
    await dundun('account', 'suspend', '--account', account.accountId);
    await eventually(async () => expect(await countsOf(account, id)).toEqual({ delivered: 1 }));
    await eventually(async () =>
      expect(receiver.received.map(({ data }) => data.status)).toContain('delivered'),
    );
  });
});
