import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { type Answered, TestGateway } from './test-gateway.js';

const nothing = () => Promise.resolve();

describeOneDatabase('the balance of an account over HTTP', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    const settings = { DATABASE_URL: db.url, SMS_PRICES: 'NGN *=9.5' };
    gateway = await new TestGateway(settings).start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const billing = () => gateway.running.app.get(BillingService, { strict: false });
  const change = (kind: 'topUp' | 'adjust', amount: string, reference: string) =>
    billing()[kind](account.accountId, { amount, reference, userId: null }, nothing);
  const read = (path: string, token = account.apiToken): Promise<Answered> =>
    gateway.call('GET', `/ng/v1/account/${path}`, { token });
  const file = async (token: string) =>
    fetch(`${gateway.url}/ng/v1/account/entries.csv`, {
      headers: { authorization: `Bearer ${token}` },
    });

  it('an account without money is off, with a token or a key of the scope', async () => {
    const none = {
      mode: 'off',
      balance: '0.00',
      reserved: '0.00',
      available: '0.00',
      credit_limit: '0.00',
      currency: null,
    };
    for (const token of [account.apiToken, account.apiKey]) {
      expect(await read('balance', token)).toMatchObject({ status: 200, body: none });
      const entries = await read('entries', token);
      expect(entries).toMatchObject({ status: 200, body: { data: [], next_cursor: null } });
    }
    const { apiKey } = await gateway.accounts.createKey(account.accountId, ['email:read']);
    for (const path of ['balance', 'entries'])
      expect(await read(path, apiKey)).toMatchObject({
        status: 403,
        body: { error: { code: 'insufficient_scope' } },
      });
    expect((await file(apiKey)).status).toBe(403);
  });

  it('balance, entries and their file have the same amounts as texts', async () => {
    await change('topUp', '9007199254.740993', 'INV-17');
    await change('adjust', '-0.5', '=1+1, "quoted"');
    await billing().setMode(account.accountId, { mode: 'postpaid' }, nothing);
    await billing().setLimit(account.accountId, '100', nothing);
    expect((await read('balance')).body).toEqual({
      mode: 'postpaid',
      balance: '9007199254.240993',
      reserved: '0.00',
      available: '9007199354.240993',
      credit_limit: '100.00',
      currency: 'NGN',
    });
    const { body } = await read('entries');
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(body).toEqual({
      data: [
        {
          kind: 'adjustment',
          amount: '-0.50',
          balance_after: '9007199254.240993',
          reference: '=1+1, "quoted"',
          created_at: time,
        },
        {
          kind: 'top_up',
          amount: '9007199254.740993',
          balance_after: '9007199254.740993',
          reference: 'INV-17',
          created_at: time,
        },
      ],
      next_cursor: null,
    });
    const [second, first] = body['data'] as readonly { readonly created_at: string }[];
    const csv = await file(account.apiKey);
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(await csv.text()).toBe(
      [
        'created_at,kind,amount,balance_after,reference',
        `${second?.created_at},adjustment,-0.50,9007199254.240993,"'=1+1, ""quoted"""`,
        `${first?.created_at},top_up,9007199254.740993,9007199254.740993,INV-17`,
        '',
      ].join('\r\n'),
    );
  });

  it('entries are paged by cursor, also those of a file of many', async () => {
    const before = 2;
    for (let n = 1; n <= 5; n++) await change('topUp', String(n), `P-${n}`);
    const pages: unknown[][] = [];
    let query = '?limit=3';
    while (query !== '') {
      const { status, body } = await read(`entries${query}`);
      expect(status).toBe(200);
      pages.push((body['data'] as { reference: string }[]).map(({ reference }) => reference));
      const next = body['next_cursor'] as string | null;
      query = next === null ? '' : `?limit=3&cursor=${next}`;
    }
    expect(pages).toEqual([['P-5', 'P-4', 'P-3'], ['P-2', 'P-1', '=1+1, "quoted"'], ['INV-17']]);
    expect(pages.flat()).toHaveLength(before + 5);
    expect(await read('entries?cursor=abc')).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'cursor' }] } },
    });
    expect(await read('entries?limit=0')).toMatchObject({ status: 422 });
  });

  it('an account sees its own entries alone', async () => {
    const other = await gateway.account('other');
    expect((await read('balance', other.apiToken)).body).toMatchObject({ balance: '0.00' });
    expect((await read('entries', other.apiToken)).body).toMatchObject({ data: [] });
    const csv = await (await file(other.apiToken)).text();
    expect(csv).toBe('created_at,kind,amount,balance_after,reference\r\n');
  });
});
