import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import type { Also } from '../../../src/accounts/accounts.service.js';
import { type BalanceChange, BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText, LARGEST, readAmount } from '../../../src/billing/money.js';
import { RateImports } from '../../../src/billing/rate-cards/rate-imports.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const nothing: Also = () => Promise.resolve();

describeEachDatabase('the ledger of the gateway', (db) => {
  let gateway: TestGateway;
  let other: TestGateway;

  beforeAll(async () => {
    const settings = { DATABASE_URL: db.url, SMS_PRICES: 'NGN *=9.5', VOICE_PRICE: 'NGN 15 6/6' };
    gateway = await new TestGateway(settings).start();
    other = await new TestGateway(settings).start();
  });
  afterAll(async () => {
    await other.destroy();
    await gateway.destroy();
  });

  const billingOf = (of = gateway) => of.running.app.get(BillingService, { strict: false });
  const sourceOf = () => gateway.running.app.get(DataSource, { strict: false });
  const account = async () => (await gateway.account()).accountId;
  const change = (amount: string, reference: string): BalanceChange => {
    return { amount, reference, userId: null };
  };
  const topUp = (accountId: string, amount: string, reference: string, of = gateway) =>
    billingOf(of).topUp(accountId, change(amount, reference), nothing);
  const adjust = (accountId: string, amount: string, reference: string, of = gateway) =>
    billingOf(of).adjust(accountId, change(amount, reference), nothing);
  const setMode = (accountId: string, mode: 'off' | 'prepaid' | 'postpaid') =>
    billingOf().setMode(accountId, { mode }, nothing);
  const balanceOf = async (accountId: string) => {
    const { balance = 0n } = (await billingOf().account(accountId)) ?? {};
    return amountText(balance);
  };
  const entriesOf = async (accountId: string) =>
    (await billingOf().entries(accountId, { limit: 1_000, cursor: undefined })).data;
  const wrong = (path: string, message = '') => ({
    code: 'invalid_field',
    details: [{ path, message: expect.stringContaining(message) }],
  });

  it('an account without money is off and has no entries', async () => {
    const id = await account();
    expect(await billingOf().find(id)).toBeUndefined();
    expect(await entriesOf(id)).toEqual([]);
    await expect(billingOf().find('acc_none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(topUp('acc_none', '1', 'a')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('top-ups and adjustments change the balance, and each is an entry', async () => {
    const id = await account();
    await topUp(id, '5000', 'INV-17');
    await topUp(id, '0.000001', 'INV-18');
    await adjust(id, '-12.5', 'INV-17');
    expect(await billingOf().find(id)).toMatchObject({ mode: 'off', currency: 'NGN', entries: 3n });
    expect(
      (await entriesOf(id)).map(({ kind, amount, balanceAfter, reference, sequence }) => [
        sequence,
        kind,
        reference,
        amountText(amount),
        amountText(balanceAfter),
      ]),
    ).toEqual([
      [3n, 'adjustment', 'INV-17', '-12.50', '4987.500001'],
      [2n, 'top_up', 'INV-18', '0.000001', '5000.000001'],
      [1n, 'top_up', 'INV-17', '5000.00', '5000.00'],
    ]);
    expect(await balanceOf(id)).toBe('4987.500001');
  });

  it('a second call with a reference changes nothing and records nothing', async () => {
    const id = await account();
    let recorded = 0;
    const also: Also = async () => void recorded++;
    const first = await billingOf().topUp(id, change('50', 'INV-1'), also);
    const second = await billingOf(other).topUp(id, change('50.00', 'INV-1'), also);
    expect([first.isNew, second.isNew, recorded]).toEqual([true, false, 1]);
    expect(second.entry).toEqual(first.entry);
    await expect(topUp(id, '51', 'INV-1')).rejects.toMatchObject(
      wrong('reference', '50.00 NGN already'),
    );
    expect(await balanceOf(id)).toBe('50.00');
  });

  it('a change whose audit entry fails changes nothing', async () => {
    const id = await account();
    await topUp(id, '50', 'INV-1');
    const also: Also = () => Promise.reject(new Error('no audit'));
    await expect(billingOf().topUp(id, change('5', 'INV-2'), also)).rejects.toThrow('no audit');
    const limit = { mode: 'prepaid' } as const;
    await expect(billingOf().setMode(id, limit, also)).rejects.toThrow('no audit');
    expect(await billingOf().account(id)).toMatchObject({ mode: 'off', balance: 50_000_000n });
    expect(await entriesOf(id)).toHaveLength(1);
  });

  it('fifty top-ups at once over two connections, each sent by both, add up once', async () => {
    const id = await account();
    const numbers = Array.from({ length: 50 }, (_, n) => n + 1);
    const made = await Promise.all(
      numbers.flatMap((n) =>
        [gateway, other].map((of) => topUp(id, `${n}.000001`, `INV-${n}`, of)),
      ),
    );
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(50);
    expect(await balanceOf(id)).toBe('1275.00005');
    const entries = await entriesOf(id);
    expect(entries.map(({ sequence }) => Number(sequence))).toEqual(numbers.toReversed());
    expect(await billingOf().differences()).toEqual([]);
  });

  it('of twenty takings at once over two connections those that fit are posted', async () => {
    const id = await account();
    await topUp(id, '120', 'INV-1');
    const taken = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => adjust(id, '-10', `A-${n}`, n % 2 ? gateway : other)),
    );
    const refused = taken.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toHaveLength(8);
    for (const error of refused)
      expect(error).toMatchObject(wrong('amount', 'takes more than the 0.00 NGN'));
    expect(await balanceOf(id)).toBe('0.00');
    expect(await billingOf().differences()).toEqual([]);
  });

  it('amounts of eighteen digits stay exact, and a larger balance is refused', async () => {
    const id = await account();
    const largest = amountText(LARGEST - 1n);
    await topUp(id, largest, 'INV-1');
    expect(await balanceOf(id)).toBe('999999999999.999998');
    await topUp(id, '0.000001', 'INV-2');
    expect(await balanceOf(id)).toBe('999999999999.999999');
    await expect(topUp(id, '0.000001', 'INV-3')).rejects.toMatchObject(wrong('amount', 'larger'));
    await adjust(id, '-9007199254.740993', 'A-1');
    expect(await balanceOf(id)).toBe('990992800745.259006');
    const [last] = await entriesOf(id);
    expect(last).toMatchObject({
      amount: -9_007_199_254_740_993n,
      balanceAfter: readAmount('990992800745.259006'),
    });
    expect(await billingOf().differences()).toEqual([]);
  });

  it('a postpaid account goes down to its credit limit, and never below', async () => {
    const id = await account();
    const limit = (amount: string) => billingOf().setLimit(id, amount, nothing);
    await expect(limit('100')).rejects.toMatchObject(wrong('limit', 'this one is off'));
    expect(await setMode(id, 'postpaid')).toMatchObject({ mode: 'postpaid', creditLimit: 0n });
    await expect(adjust(id, '-1', 'A-1')).rejects.toMatchObject(wrong('amount', '0.00 NGN'));
    expect(await limit('100.5')).toMatchObject({ creditLimit: 100_500_000n });
    await adjust(id, '-100.5', 'A-1');
    await expect(adjust(id, '-0.000001', 'A-2')).rejects.toMatchObject(wrong('amount'));
    await expect(limit('100.499999')).rejects.toMatchObject(wrong('limit', 'at least 100.50 NGN'));
    await expect(limit('-1')).rejects.toMatchObject(wrong('limit'));
    await expect(setMode(id, 'prepaid')).rejects.toMatchObject(wrong('mode', 'top up 100.50 NGN'));
    await topUp(id, '100.5', 'INV-1');
    expect(await setMode(id, 'prepaid')).toMatchObject({ mode: 'prepaid', creditLimit: 0n });
    expect(await balanceOf(id)).toBe('0.00');
  });

  it('the currency is that of the card, and stays once there are entries', async () => {
    const imports = gateway.running.app.get(RateImports, { strict: false });
    const file = 'channel,prefix,price\nsms,*,2.5\nsms,234,1.5';
    await imports.import(file, { card: 'partner', currency: 'USD' }, nothing);
    const { accountId: id, apiToken: token } = await gateway.account();
    const withCard = (card: string) => billingOf().setMode(id, { mode: 'off', card }, nothing);
    await eventually(async () => {
      expect(await withCard('partner')).toMatchObject({ currency: 'USD', card: 'partner' });
    });
    const body = { body: 'x'.repeat(161) };
    for (const one of [gateway, other])
      await eventually(async () => {
        const answer = await one.call('POST', '/ng/v1/sms/estimate', { token, body });
        expect(answer.body).toMatchObject({ cost: 5, currency: 'USD' });
      });
    expect(await withCard('default')).toMatchObject({ currency: 'NGN', card: null });
    await expect(withCard('none')).rejects.toMatchObject(wrong('card', 'rates import'));
    await topUp(id, '1', 'INV-1');
    await expect(withCard('partner')).rejects.toMatchObject(wrong('card', 'entries in NGN'));
  });

  it.each([
    ['amount', '5,000', 'INV-1', undefined],
    ['amount', '0', 'INV-1', undefined],
    ['amount', '-5', 'INV-1', undefined],
    ['amount', '1.0000001', 'INV-1', undefined],
    ['reference', '5', ' ', undefined],
    ['reference', '5', 'x'.repeat(101), undefined],
    ['reference', '5', 'a\nb', undefined],
    ['note', '5', 'INV-1', ''],
  ])(
    'a top-up with a wrong %s is refused by name: %j %j',
    async (path, amount, reference, note) => {
      const id = await account();
      const wanted = { amount, reference, note, userId: null };
      await expect(billingOf().topUp(id, wanted, nothing)).rejects.toMatchObject(wrong(path));
      expect(await billingOf().account(id)).toBeUndefined();
    },
  );

  it('entries are read in pages, newest first, and a wrong cursor is refused', async () => {
    const id = await account();
    for (const n of [1, 2, 3, 4, 5]) await topUp(id, '1', `INV-${n}`);
    const read: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await billingOf().entries(id, { limit: 2, cursor });
      read.push(...page.data.map(({ reference }) => reference));
      cursor = page.nextCursor ?? undefined;
      pages++;
    } while (cursor !== undefined);
    expect([pages, ...read]).toEqual([3, 'INV-5', 'INV-4', 'INV-3', 'INV-2', 'INV-1']);
    await expect(billingOf().entries(id, { limit: 2, cursor: 'x' })).rejects.toMatchObject(
      wrong('cursor'),
    );
  });

  it('after any changes the balance is the sum of the entries, and never below the limit', async () => {
    const step = fc.record({
      kind: fc.constantFrom('topUp', 'adjust', 'limit', 'mode'),
      amount: fc.bigInt({ min: -200_000_000n, max: 200_000_000n }).map(amountText),
      reference: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      mode: fc.constantFrom('off', 'prepaid', 'postpaid'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const id = await account();
        for (const { kind, amount, reference, mode } of steps) {
          const work = {
            topUp: () => topUp(id, amount, reference),
            adjust: () => adjust(id, amount, reference, other),
            limit: () => billingOf().setLimit(id, amount, nothing),
            mode: () => setMode(id, mode),
          };
          const refusal = await work[kind]().then(
            () => 'invalid_field',
            (error: unknown) => (error as { readonly code?: string }).code,
          );
          expect(refusal).toBe('invalid_field');
          const entries = await entriesOf(id);
          const money = await billingOf().account(id);
          const sum = entries.reduce((all, entry) => all + entry.amount, 0n);
          const { balance = 0n, reserved = 0n, creditLimit = 0n } = money ?? {};
          expect(balance).toBe(sum);
          expect(balance - reserved + creditLimit).toBeGreaterThanOrEqual(0n);
        }
      }),
      { numRuns: 8 },
    );
    expect(await billingOf().differences()).toEqual([]);
  });

  it('verify names a balance, a number and a line that do not add up', async () => {
    const id = await account();
    for (const n of [1, 2, 3]) await topUp(id, '10', `INV-${n}`);
    const run = (sql: string) => sourceOf().query(sql);
    const found = async () =>
      (await billingOf().differences()).map(({ account: of, what, stored, computed }) => {
        expect(of).toBe(id);
        return `${what}: ${stored}, ${computed}`;
      });
    const set = (what: string) =>
      run(`UPDATE gateway_billing_account SET ${what} WHERE account_id = '${id}'`);
    expect(await found()).toEqual([]);
    await set('balance = balance + 1');
    expect(await found()).toEqual(['balance: 30.000001, 30.00']);
    await set('balance = balance - 1');
    await set('reserved = 5');
    expect(await found()).toEqual(['reserved: 0.000005, 0.00']);
    await set('reserved = 0');
    const entry = `account_id = '${id}' AND sequence = 2`;
    await run(`UPDATE gateway_billing_entry SET amount = amount + 1 WHERE ${entry}`);
    expect(await found()).toEqual([
      'balance: 30.00, 30.000001',
      'balance_after of entry 2: 20.00, 20.000001',
    ]);
    await run(`DELETE FROM gateway_billing_entry WHERE ${entry}`);
    expect(await found()).toEqual([
      'balance: 30.00, 20.00',
      'entries: 3, 2',
      'balance_after of entry 3: 30.00, 20.00',
    ]);
    await run(`DELETE FROM gateway_billing_account WHERE account_id = '${id}'`);
    expect(await found()).toEqual([
      'balance_after of entry 3: 30.00, 20.00',
      'account: none, 2 entries',
    ]);
    await run(`DELETE FROM gateway_billing_entry WHERE account_id = '${id}'`);
  });
});
