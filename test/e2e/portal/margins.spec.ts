import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Abstract, Type } from '@nestjs/common';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { purgeJob } from '../../../libs/messaging/src/jobs/messaging.jobs.js';
import { MessagingOperations } from '@dundun/messaging/operations';
import type { MessageItem } from '@dundun/dashboard';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { BillingCheck } from '../../../src/billing/billing-check.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText, readAmount } from '../../../src/billing/money.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import type {
  Insights,
  Listed,
  LowestBalances,
  MarginRow,
  MarginsPart,
} from '../../../src/portal/portal-api.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

const nothing = () => Promise.resolve();
const MONTH = new Date().toISOString().slice(0, 7);
const LONG = 'A text of more than 160 characters has two parts. '.repeat(4);
const MONTH_OF_RETENTION = 31 * 86_400_000;

describeEachDatabase('the margins of the portal', (db) => {
  let gateway: TestGateway;
  let operator: PortalClient;
  let directory: string;
  let acme: { accountId: string; apiToken: string };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-margins-'));
    const file = join(directory, 'carriers.json');
    await writeFile(
      file,
      JSON.stringify({
        currency: 'NGN',
        carriers: {
          near: { type: 'simulator', prices: '234=3 +234803=2.5000015 *=8' },
          far: { type: 'simulator' },
        },
        routes: [{ channel: 'sms', to: ['44'], use: 'far' }, { use: 'near' }],
      }),
    );
    gateway = await new TestGateway({
      DATABASE_URL: db.url,
      CARRIERS_FILE: file,
      SMS_PRICES: 'NGN *=9.5 234=4.5 44=12.000001',
      RATE_LIMIT: '100000/s',
    }).start();
    operator = await signedIn(gateway, 'operator');
    acme = await gateway.account('Acme');
    const billing = get(BillingService);
    const topUp = { amount: '100000', reference: 'INV-1', userId: null };
    await billing.topUp(acme.accountId, topUp, nothing);
    await billing.setMode(acme.accountId, { mode: 'prepaid' }, nothing);
    await eventually(async () => {
      if (!get(RateCards).pays(acme.accountId)) throw new Error('the account does not pay yet');
    });
    await traffic();
  });
  afterAll(async () => {
    await gateway.destroy();
    await rm(directory, { recursive: true });
  });

  const get = <T>(token: Type<T> | Abstract<T>): T =>
    gateway.running.app.get<T>(token, { strict: false });
  const query = <T>(sql: string): Promise<T[]> => get(DataSource).query(sql);

  /** Batches of one message and of many, over all channels, some of which the carrier refuses. */
  async function traffic(): Promise<void> {
    const sms = async (to: string[], body: string) => {
      const request = { token: acme.apiToken, body: { from: 'ACME', to, body } };
      expect((await gateway.call('POST', '/ng/v1/sendsms', request)).status).toBe(200);
    };
    const many = Array.from({ length: 300 }, (_, n) => `23480${3 + (n % 5)}${1_000_000 + n}`);
    await sms([...many, '2348012349903', '2348012349901', '447500000123', '14165550001'], 'Hello');
    await sms(['2348031110001', '447500000124'], LONG);
    for (const to of ['2348031110002', '2348012349903', '447500000125']) await sms([to], LONG);
    const demo = gateway.running.demo;
    if (!demo) throw new Error('the first start made no account');
    const post = (path: string, body: object, token = demo.apiKey) =>
      gateway.call('POST', path, { token, body });
    const phone = '2348012345611';
    await post('/whatsapp/ng/v1/contacts', { phone, opt_in: true });
    const template = { template_name: 'order_update', language: 'en', params: ['Ada', '1001'] };
    await post('/whatsapp/ng/v1/sendwhatsapp', {
      to: phone,
      message_type: 'template',
      ...template,
    });
    await post('/email/ng/v1/messages', {
      from: 'Acme <hello@demo.test>',
      to: ['ada@example.com'],
      subject: 'Order 1001',
      text: 'Hello',
    });
    const calls = { from: '2348000000001', to: [phone], text: 'Hello' };
    await post('/ng/v1/voice/calls', calls, demo.apiToken);
    await eventually(async () => {
      const [open] = await query<{ n: string | number }>(
        'SELECT COUNT(*) AS n FROM gateway_billing_batch WHERE reserved <> 0',
      );
      expect(Number(open?.n)).toBe(0);
    });
  }

  /** All parts of the month, added up by their names. */
  async function rowsOf(month = MONTH): Promise<readonly MarginRow[]> {
    const sums = new Map<string, MarginRow>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const more: string = cursor && `&cursor=${cursor}`;
      const part: MarginsPart = await operator.ok('GET', `margins?month=${month}${more}`);
      for (const row of part.rows) {
        const { messages, parts, price, cost, ...names } = row;
        const known = sums.get(JSON.stringify(names));
        sums.set(JSON.stringify(names), {
          ...names,
          messages: messages + (known?.messages ?? 0),
          parts: parts + (known?.parts ?? 0),
          price: sumOf([price, known?.price ?? '0']),
          cost: sumOf([cost, known?.cost ?? '0']),
        });
      }
      cursor = part.nextCursor;
    }
    return [...sums.values()];
  }

  /** The sums of another program: the rows of the tables. */
  async function expected() {
    const [charged] = await query<{ sum: string | number }>(
      `SELECT SUM(charged) AS sum FROM gateway_billing_batch WHERE account_id = '${acme.accountId}'`,
    );
    const messages = await query<{ recipient: string; parts: number }>(
      `SELECT m.recipient, b.parts FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch
        JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        WHERE b.tenant = '${acme.accountId}' AND s.provider = 'near' AND m.status IN (40, 60, 90)`,
    );
    const cost = messages.map(({ recipient, parts }) => {
      if (recipient.startsWith('234803')) return parts === 1 ? '2.500002' : '5.000003';
      return `${(recipient.startsWith('234') ? 3 : 8) * parts}`;
    });
    return { price: amountText(BigInt(charged?.sum ?? 0)), cost: sumOf(cost) };
  }

  it('price and cost of a month are those of the tables, to the last digit', async () => {
    const rows = await rowsOf();
    const own = rows.filter(({ accountId }) => accountId === acme.accountId);
    const { price, cost } = await expected();
    expect(sumOf(own.map((row) => row.price))).toBe(price);
    expect(sumOf(own.map((row) => row.cost))).toBe(cost);
    expect(own.every(({ accountName }) => accountName === 'Acme')).toBe(true);
    expect(
      own.map(({ carrier, country, costCurrency, messages, price: of }) => {
        return [carrier, country, costCurrency, messages, of];
      }),
    ).toEqual([
      // The cost is not known: the carrier reports none, and has no prices in the file.
      ['far', 'GB', null, 3, '60.000005'],
      ['near', 'CA', 'NGN', 1, '9.50'],
      ['near', 'NG', 'NGN', 303, expect.any(String)],
    ]);
    const account = await get(BillingService).account(acme.accountId);
    expect(price).toBe(amountText(100_000_000_000n - (account?.balance ?? 0n)));
  });

  it('Insights has the same price and cost by country and carrier, for operators alone, also after a rebuild', async () => {
    operator.account = acme.accountId;
    const [member] = [await signedIn(gateway, 'viewer', acme.accountId)];
    const { price, cost } = await expected();
    const margins = (await rowsOf()).filter(({ accountId }) => accountId === acme.accountId);
    const expectSame = async () => {
      const { total, groups } = await operator.ok<Insights>('GET', 'insights?by=country');
      expect(total.current.prices).toEqual([{ amount: price, currency: 'NGN' }]);
      expect(total.current.costs).toEqual([{ amount: cost, currency: 'NGN' }]);
      expect(total.former).toMatchObject({ messages: 0, prices: [], costs: [] });
      for (const { name, current } of groups) {
        const own = margins.filter(({ country }) => country === name);
        expect(sumOf(current.prices.map(({ amount }) => amount))).toBe(
          sumOf(own.map((row) => row.price)),
        );
        expect(sumOf(current.costs.map(({ amount }) => amount))).toBe(
          sumOf(own.map((row) => row.cost)),
        );
      }
      for (const by of ['provider', 'sender', 'channel']) {
        const { groups: others } = await operator.ok<Insights>('GET', `insights?by=${by}`);
        const amounts = (what: 'prices' | 'costs') =>
          sumOf(others.flatMap(({ current }) => current[what].map(({ amount }) => amount)));
        expect([amounts('prices'), amounts('costs')]).toEqual([price, cost]);
      }
    };
    await expectSame();
    const theirs = await member.ok<Insights>('GET', 'insights?by=country');
    expect(theirs.total.current.prices).toEqual([{ amount: price, currency: 'NGN' }]);
    expect([theirs.total, ...theirs.groups].flatMap(({ current }) => current.costs)).toEqual([]);
    const { rebuilt, kept } = await get(MessagingOperations).rebuildOutcomes();
    expect([rebuilt > 0, kept]).toEqual([true, 0]);
    await expectSame();
    operator.account = undefined;
  });

  it('lists, messages and files have what the account is charged, and for operators the cost of the carrier', async () => {
    const demo = gateway.running.demo!;
    const member = await signedIn(gateway, 'admin', demo.accountId);
    const whatsapp = 'messages?channel=whatsapp';
    const money = { price: '6.70', priceCurrency: 'NGN' };
    const cost = { cost: '0.0100', currency: 'USD' };
    const none = { cost: null, currency: null };
    for (const [client, seen] of [
      [member, none],
      [operator, cost],
    ] as const) {
      const { data } = await client.ok<Listed<MessageItem>>('GET', whatsapp);
      expect(data).toMatchObject([{ ...money, ...seen }]);
      expect(await client.ok('GET', `messages/${data[0]!.id}`)).toMatchObject({
        ...money,
        ...seen,
      });
      const { text } = await client.call('GET', 'messages/export?channel=whatsapp');
      const [header, line] = text.split('\r\n');
      expect(header).toMatch(/,price,price_currency,cost,cost_currency$/);
      expect(line).toMatch(seen === none ? /,6\.70,NGN,,$/ : /,6\.70,NGN,0\.0100,USD$/);
    }
    // The rate card has the price of a call; its cost is what the carrier reports, which is nothing here.
    const { data: calls } = await operator.ok<Listed<MessageItem>>('GET', 'messages?channel=voice');
    const call = { price: '15.00', priceCurrency: 'NGN', ...none };
    expect(calls).toMatchObject([call]);
    expect(await operator.ok('GET', `messages/${calls[0]!.id}`)).toMatchObject(call);
    // A message of a batch of many that no carrier took is free.
    const { data: failed } = await operator.ok<Listed<MessageItem>>(
      'GET',
      `messages?tenant=${acme.accountId}&to=2348012349903&limit=5`,
    );
    expect(new Set(failed.map(({ price }) => price))).toEqual(new Set(['0.00']));
  });

  it('a reported cost counts before the prices of the file, and stays in its own currency', async () => {
    const rows = (await rowsOf()).filter(({ accountId }) => accountId !== acme.accountId);
    expect(rows).toMatchObject([
      { channel: 'email', carrier: 'near', country: '', costCurrency: 'NGN', cost: '8.00' },
      { channel: 'voice', carrier: 'near', country: 'NG', costCurrency: null, price: '15.00' },
      {
        channel: 'whatsapp',
        country: 'NG',
        currency: 'NGN',
        price: '6.70',
        costCurrency: 'USD',
        cost: '0.01',
      },
    ]);
  });

  it('a month without messages is empty, and a wrong month or cursor is named', async () => {
    expect(await operator.ok('GET', 'margins?month=2020-02')).toEqual({
      rows: [],
      read: 0,
      nextCursor: null,
    });
    for (const query_ of ['month=2020-13', 'month=2020', `month=${MONTH}&cursor=x`])
      expect(await operator.call('GET', `margins?${query_}`)).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_field' } },
      });
  });

  it('a month of many batches is read in parts, none of which reads more than its bound', async () => {
    const start = Date.UTC(2020, 0, 15);
    const rows = Array.from({ length: 6_000 }, (_, n) => {
      const digits = (start + n).toString(16).padStart(12, '0');
      const id = `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
      return `('${id}', '${acme.accountId}', 'sms', 'sent', 1, 'NGN', 1, '*:1', 0, 1000001, ${start})`;
    });
    for (let at = 0; at < rows.length; at += 1_000)
      await query(
        `INSERT INTO gateway_billing_batch (batch, account_id, channel, charge_at, units, currency,
          messages, rates, reserved, charged, accepted_at) VALUES ${rows.slice(at, at + 1_000).join(', ')}`,
      );
    const first = await operator.ok<MarginsPart>('GET', 'margins?month=2020-01');
    expect(first.rows.map(({ price }) => price)).toEqual(['5000.005']);
    expect(first.nextCursor).not.toBeNull();
    expect((await rowsOf('2020-01')).map(({ price }) => price)).toEqual(['6000.006']);
    await query('DELETE FROM gateway_billing_batch WHERE accepted_at < 1600000000000');
  });

  it('accounts that pay are listed by what they may spend', async () => {
    const { accounts, empty, data } = await operator.ok<LowestBalances>('GET', 'margins/balances');
    expect([accounts, empty]).toEqual([2, 0]);
    expect(data.map(({ name, currency }) => [name, currency])).toEqual([
      ['Acme', 'NGN'],
      ['demo', 'NGN'],
    ]);
  });

  it('margins and Insights stay when retention erases the recipients, and count once', async () => {
    const before = await rowsOf();
    const insightsBefore = await operator.ok<Insights>('GET', 'insights?by=country');
    expect(insightsBefore.total.current.prices).not.toEqual([]);
    const expectInsights = async () => {
      const { total, groups } = await operator.ok<Insights>('GET', 'insights?by=country');
      expect([total, groups]).toEqual([insightsBefore.total, insightsBefore.groups]);
    };
    await query(
      `UPDATE messaging_batch SET poll_at = NULL, completed_at = completed_at - ${MONTH_OF_RETENTION}000`,
    );
    await purgeJob(get(MessageStore)).run(new AbortController().signal);
    const [left] = await query<{ n: string | number }>(
      `SELECT COUNT(*) AS n FROM messaging_message WHERE recipient <> ''`,
    );
    expect(Number(left?.n)).toBe(0);
    const [open] = await query<{ n: string | number }>(
      'SELECT COUNT(*) AS n FROM gateway_billing_batch WHERE closed = 0',
    );
    expect(Number(open?.n)).toBe(0);
    expect(await rowsOf()).toEqual(before);
    await expectInsights();
    expect((await get(MessagingOperations).rebuildOutcomes()).rebuilt).toBe(0);
    await expectInsights();
    expect(await get(BillingCheck).run()).toEqual([]);
    // The guard hears of the end of a batch again when its rows are deleted.
    await query(
      `UPDATE messaging_batch SET completed_at = completed_at - ${12 * MONTH_OF_RETENTION}000`,
    );
    await purgeJob(get(MessageStore)).run(new AbortController().signal);
    const [batches] = await query<{ n: string | number }>(
      'SELECT COUNT(*) AS n FROM messaging_batch',
    );
    expect(Number(batches?.n)).toBe(0);
    expect(await rowsOf()).toEqual(before);
  });
});

function sumOf(amounts: readonly string[]): string {
  return amountText(amounts.reduce((sum, amount) => sum + (readAmount(amount) ?? 0n), 0n));
}
