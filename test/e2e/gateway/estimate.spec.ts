import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { type Answered, TestGateway } from './test-gateway.js';

describe('an estimate', () => {
  const gateway = new TestGateway();
  let account: CreatedAccount;
  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const estimate = (body: unknown): Promise<Answered> =>
    gateway.call('POST', '/ng/v1/sms/estimate', { token: account.apiToken, body });

  it.each([
    [{ body: 'x'.repeat(160) }, { encoding: 'GSM-7', parts: 1, units: 160, ucs2_characters: [] }],
    [{ content: 'x'.repeat(161) }, { encoding: 'GSM-7', parts: 2, units: 161 }],
    [{ body: '€'.repeat(81) }, { encoding: 'GSM-7', parts: 2, units: 162 }],
    [
      { body: `${'x'.repeat(70)}—` },
      { encoding: 'UCS-2', parts: 2, units: 71, ucs2_characters: ['—'] },
    ],
    [{ body: 'x'.repeat(2_000) }, { parts: 14 }],
  ])('an estimate of %.40j has encoding, parts and price', async (body, expected) => {
    const answer = await estimate(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ ...expected, cost: null, currency: null });
  });

  it.each([
    [{}, 'body'],
    [{ body: '' }, 'body'],
    [{ content: 7 }, 'content'],
    [{ body: 'x', to: [] }, 'to'],
  ])('an estimate of %j is refused and its wrong field named', async (body, path) => {
    const { status, body: told } = await estimate(body);
    expect(status).toBe(422);
    expect(told).toMatchObject({ error: { details: [{ path }] } });
  });

  it('an estimate sends and stores nothing', async () => {
    const { body } = await gateway.call('GET', '/ng/v1/sms', { token: account.apiToken });
    expect(body).toEqual({ data: [], next_cursor: null });
  });
});
