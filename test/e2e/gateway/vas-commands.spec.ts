import { tmpdir } from 'node:os';
import { HoldsService } from '@dundun/messaging/operations';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

describe('dundun vas', () => {
  const gateway = new TestGateway();
  let account: CreatedAccount;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const dundun = async (...args: string[]): Promise<Record<string, unknown>> => {
    const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
    const ended = await commandLine(['vas', ...args, '--json'], settings, tmpdir());
    return JSON.parse(ended.code === 0 ? ended.stdout : ended.stderr) as Record<string, unknown>;
  };
  const place = async (to: string) =>
    (
      await gateway.call('POST', '/ng/v1/vas/orders', {
        token: account.apiToken,
        body: { to, product: 'airtime-ng', amount: '100', client_reference: `of-${to}` },
      })
    ).body;
  const statusOf = async (id: unknown) =>
    (await gateway.call('GET', `/ng/v1/vas/orders/${String(id)}`, { token: account.apiToken }))
      .body['status'];

  it('vas allow sets, shows and withdraws the caps of an account', async () => {
    const of = ['--account', account.accountId];
    expect(await dundun('allow', ...of)).toMatchObject({ status: 'off' });
    expect(await dundun('allow', ...of, '--daily', '50000')).toMatchObject({
      error: { code: 'invalid_field' },
    });
    const caps = { currency: 'NGN', daily: '50000', per_number: '5000' };
    const given = ['--daily', '50000', '--per-number', '5000'];
    expect(await dundun('allow', ...of, ...given)).toMatchObject({ status: 'allowed', ...caps });
    expect(await dundun('allow', ...of)).toMatchObject({ status: 'allowed', ...caps });
    expect(await dundun('allow', ...of, '--clear')).toMatchObject({ status: 'off' });
    expect(await place('2348012340000')).toMatchObject({ error: { code: 'vas_not_allowed' } });
    await dundun('allow', ...of, ...given);
  });

  it('vas orders lists orders without numbers, and vas settle records the operator', async () => {
    const { id } = await place('2348012349909');
    await eventually(async () => expect(await statusOf(id)).toBe('unknown'));
    const of = ['--account', account.accountId];
    const listed = await dundun('orders', ...of);
    expect(listed).toMatchObject({ orders: [{ order: id, status: 'unknown', amount: '100' }] });
    const [order] = listed['orders'] as Record<string, unknown>[];
    expect(Object.keys(order ?? {})).not.toContain('to');
    // It is not a day old.
    expect(await dundun('orders')).toMatchObject({ orders: [] });
    const decision = ['--order', String(id), '--as', 'failed', '--by', 'ada'];
    expect(await dundun('settle', ...of, ...decision, '--note', 'no trace')).toMatchObject({
      order: id,
      status: 'failed',
      settled_by: 'ada',
      by: 'ada',
    });
    expect(await statusOf(id)).toBe('failed');
    expect(await dundun('settle', ...of, ...decision)).toMatchObject({
      error: { code: 'already_sent' },
    });
  });

  it('vas release releases the orders of a restored database after all other lanes', async () => {
    expect(await dundun('release')).toMatchObject({ error: { code: 'not_found' } });
    const holds = gateway.running.app.get(HoldsService, { strict: false });
    await holds.markRestored();
    await eventually(async () => expect(await holds.list()).toHaveLength(2));
    expect(await dundun('release')).toMatchObject({ error: { code: 'already_sent' } });
    await holds.releaseRestored('send');
    expect(await holds.list()).toMatchObject([{ lanes: '*:vas' }]);
    expect(await dundun('release')).toMatchObject({ lanes: '*:vas', status: 'released' });
    const { id } = await place('2348012341111');
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'));
  });
});
