import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText, readAmount } from '../../../src/billing/money.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { StatementsService } from '../../../src/billing/statements/statements.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const nothing = () => Promise.resolve();

/** Messages of the account; 200,000 take minutes to send. */
const MESSAGES = Number(process.env['STATEMENT_MESSAGES'] ?? 2_000);

const TIMEOUT = 60_000 + MESSAGES * 5;

interface Line {
  readonly channel: string;
  readonly country: string;
  readonly messages: number;
  readonly parts: number;
  readonly amount: string;
}

describeEachDatabase('statements', (db) => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await new TestGateway({
      DATABASE_URL: db.url,
      SMS_PRICES: 'NGN *=9.5 234=4.5 44=12.000001',
      RATE_LIMIT: '100000/s',
    }).start();
  });
  afterAll(() => gateway.destroy());

  const billing = () => gateway.running.app.get(BillingService, { strict: false });

  it(
    'sums of a month are those of the messages and of the ledger, to the last digit',
    async () => {
      const { accountId, apiToken } = await gateway.account();
      const topUp = { amount: '100000000', reference: 'INV-1', userId: null };
      await billing().topUp(accountId, topUp, nothing);
      await billing().adjust(accountId, { ...topUp, amount: '-0.000001' }, nothing);
      await billing().setMode(accountId, { mode: 'prepaid' }, nothing);
      await eventually(async () =>
        expect(gateway.running.app.get(RateCards, { strict: false }).pays(accountId)).toBe(true),
      );
      const long = 'A text of more than 160 characters has two parts. '.repeat(4);
      for (let sent = 0; sent < MESSAGES; sent += 1_000) {
        const to = Array.from({ length: 1_000 }, (_, n) => {
          const number = String(10_000_000 + sent + n);
          // The carrier rejects numbers with the end 9903.
          return n % 3 === 0
            ? `44750${number.slice(1)}`
            : n % 50 === 1
              ? `23480${number.slice(0, 4)}9903`
              : `23480${number}`;
        });
        // A number that ends in 9909 stays unknown, and its price reserved.
        const settled = to.filter((number) => !number.endsWith('9909'));
        const body = {
          from: 'ACME',
          to: [...new Set(settled)],
          body: sent % 2_000 ? long : 'Hello',
        };
        const { status } = await gateway.call('POST', '/ng/v1/sendsms', { token: apiToken, body });
        expect(status).toBe(200);
      }
      await eventually(
        async () => expect((await billing().account(accountId))?.reserved).toBe(0n),
        60_000 + MESSAGES,
      );
      const month = new Date().toISOString().slice(0, 7);
      const began = performance.now();
      const { status, body } = await gateway.call(
        'GET',
        `/ng/v1/account/statement?month=${month}`,
        {
          token: apiToken,
        },
      );
      const took = performance.now() - began;
      if (MESSAGES > 2_000)
        process.stderr.write(
          `statement of ${MESSAGES} messages on ${db.kind}: ${Math.round(took)} ms\n`,
        );
      expect(status).toBe(200);
      const statement = body as unknown as {
        opening_balance: string;
        closing_balance: string;
        entries: { kind: string; count: number; amount: string }[];
        messages: Line[];
        keys: { key: string | null; messages: number; amount: string }[];
      };
      // The sums of another program: the messages by their statuses, parts and prefixes.
      const source = gateway.running.app.get(DataSource, { strict: false });
      const rows: { prefix: string; parts: number; n: string | number }[] = await source.query(
        `SELECT substr(m.recipient, 1, 2) AS prefix, b.parts, count(*) AS n FROM messaging_message m
        JOIN messaging_batch b ON b.id = m.batch
        WHERE b.tenant = '${accountId}' AND m.status NOT IN (70, 80, 120)
        GROUP BY substr(m.recipient, 1, 2), b.parts`,
      );
      const prices = { '23': readAmount('4.5')!, '44': readAmount('12.000001')! };
      const expected = (['44', '23'] as const).map((prefix): Line => {
        const own = rows.filter((row) => row.prefix === prefix);
        const parts = own.reduce((sum, row) => sum + Number(row.parts) * Number(row.n), 0);
        return {
          channel: 'sms',
          country: prefix === '44' ? 'GB' : 'NG',
          messages: own.reduce((sum, { n }) => sum + Number(n), 0),
          parts,
          amount: amountText(prices[prefix] * BigInt(parts)),
        };
      });
      expect(statement.messages.toSorted((a, b) => (a.country < b.country ? -1 : 1))).toEqual(
        expected,
      );
      const sum = (lines: readonly { amount: string }[]) =>
        lines.reduce((total, { amount }) => total + readAmount(amount)!, 0n);
      const charged = sum(statement.messages);
      expect(statement.keys).toMatchObject([{ key: 'api_token', amount: amountText(charged) }]);
      const ofKind = (...kinds: string[]) =>
        sum(statement.entries.filter(({ kind }) => kinds.includes(kind)));
      expect(ofKind('charge', 'refund')).toBe(-charged);
      expect([statement.opening_balance, ofKind('top_up'), ofKind('adjustment')]).toEqual([
        '0.00',
        readAmount('100000000'),
        -1n,
      ]);
      const { balance = 0n } = (await billing().account(accountId)) ?? {};
      expect(statement.closing_balance).toBe(amountText(balance));
      expect(sum(statement.entries)).toBe(balance);
      expect(await billing().differences()).toEqual([]);
      const csv = await fetch(`${gateway.url}/ng/v1/account/statement.csv?month=${month}`, {
        headers: { authorization: `Bearer ${apiToken}` },
      });
      const lines = (await csv.text()).trim().split('\r\n');
      expect(lines[0]).toBe('section,kind,channel,country,key,count,parts,amount');
      expect(lines).toContain('entries,adjustment,,,,1,,-0.000001');
      expect(lines.at(-1)).toBe(`closing_balance,,,,,,,${amountText(balance)}`);
      const page = [
        ...statement.entries.map(
          ({ kind, count, amount }) => `entries,${kind},,,,${count},,${amount}`,
        ),
        ...statement.messages.map(
          ({ channel, country, messages, parts, amount }) =>
            `messages,,${channel},${country},,${messages},${parts},${amount}`,
        ),
      ];
      for (const line of page) expect(lines).toContain(line);
    },
    TIMEOUT,
  );

  it('a later month opens with the balance of the one before; a wrong month is named', async () => {
    const { accountId, apiToken } = await gateway.account();
    const topUp = { amount: '12.5', reference: 'INV-1', userId: null };
    await billing().topUp(accountId, topUp, nothing);
    const statements = gateway.running.app.get(StatementsService, { strict: false });
    expect(await statements.statement(accountId, '2150-01')).toMatchObject({
      opening: 12_500_000n,
      closing: 12_500_000n,
      channels: [],
    });
    expect(await statements.statement(accountId, '2020-01')).toMatchObject({
      opening: 0n,
      closing: 0n,
    });
    for (const month of ['2026-13', '', 'x'])
      expect(
        await gateway.call('GET', `/ng/v1/account/statement?month=${month}`, { token: apiToken }),
      ).toMatchObject({ status: 422, body: { error: { details: [{ path: 'month' }] } } });
  });

  it('charges of versions that kept no totals are in a line without a channel', async () => {
    const { accountId } = await gateway.account();
    await billing().topUp(accountId, { amount: '10', reference: 'INV-1', userId: null }, nothing);
    const source = gateway.running.app.get(DataSource, { strict: false });
    const at = Date.now();
    await source.query(
      `INSERT INTO gateway_billing_entry
        (account_id, sequence, kind, amount, balance_after, reference, created_at)
        VALUES ('${accountId}', 2, 'charge', -4500000, 5500000, 'B-1', ${at})`,
    );
    const month = new Date(at).toISOString().slice(0, 7);
    const statements = gateway.running.app.get(StatementsService, { strict: false });
    expect(await statements.statement(accountId, month)).toMatchObject({
      closing: 5_500_000n,
      channels: [{ channel: '', country: '', messages: 0, amount: 4_500_000n }],
    });
  });
});
