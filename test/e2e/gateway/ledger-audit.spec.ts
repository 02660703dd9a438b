import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { type Sql, type QueueDatabase, WorkQueues } from '@dundun/messaging/queue';
import { DataSource } from 'typeorm';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const nothing = () => Promise.resolve();

/** Entries and batches of the account: more than two statements read. */
const CHARGES = 2_500;

describeEachDatabase('the check of a large ledger', (db) => {
  let gateway: TestGateway;
  let id: string;
  let token: string;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url, SMS_PRICES: 'NGN *=4.5' }).start();
    const { accountId, apiToken } = await gateway.account();
    [id, token] = [accountId, apiToken];
    const topUp = { amount: '10000', reference: 'INV-1', userId: null };
    await billing().topUp(id, topUp, nothing);
    await billing().setMode(id, { mode: 'prepaid' }, nothing);
    await addCharges();
    await gateway.running.app.get(RateCards, { strict: false }).reread();
  });
  afterAll(() => gateway.destroy());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const billing = () => gateway.running.app.get(BillingService, { strict: false });
  const run = (sql: string) =>
    gateway.running.app.get(DataSource, { strict: false }).query(sql) as Promise<unknown>;

  /** Ended batches of one millisecond, each with an entry of a millionth. */
  async function addCharges(): Promise<void> {
    const before = 10_000_000_000;
    const numbers = Array.from({ length: CHARGES }, (_, n) => n + 1);
    for (let from = 0; from < CHARGES; from += 500) {
      const some = numbers.slice(from, from + 500);
      await run(
        `INSERT INTO gateway_billing_entry
          (account_id, sequence, kind, amount, balance_after, reference, created_at) VALUES ${some
            .map((n) => `('${id}', ${n + 1}, 'charge', -1, ${before - n}, 'C-${n}', 0)`)
            .join(', ')}`,
      );
      await run(
        `INSERT INTO gateway_billing_batch (batch, account_id, channel, charge_at, units, currency,
          messages, rates, reserved, charged, closed, accepted_at) VALUES ${some
            .map((n) => {
              const batch = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
              return `('${batch}', '${id}', 'sms', 'sent', 1, 'NGN', 1, '*:1', 0, 1, 1, 1700000000000)`;
            })
            .join(', ')}`,
      );
    }
    await run(
      `UPDATE gateway_billing_account SET balance = balance - ${CHARGES},
        entries = entries + ${CHARGES} WHERE account_id = '${id}'`,
    );
  }

  /** Calls `after` when a statement of the check has been answered. */
  function watch(after: (sql: string, rows: number) => Promise<void> | void): void {
    const { database } = gateway.running.app.get(WorkQueues, { strict: false });
    const snapshot = database.snapshot.bind(database);
    const watched: QueueDatabase['snapshot'] = (work) =>
      snapshot((sql) =>
        work({
          async all<T>(...statement: Parameters<Sql['all']>): Promise<T[]> {
            const rows = await sql.all<T>(...statement);
            await after(statement[0], rows.length);
            return rows;
          },
        }),
      );
    jest.spyOn(database, 'snapshot').mockImplementation(watched);
  }

  it('an account with many entries and batches is read in statements of at most some thousand rows', async () => {
    const read = { entry: [] as number[], batch: [] as number[] };
    watch((sql, rows) => {
      if (sql.includes(`FROM gateway_billing_batch`)) read.batch.push(rows);
      else if (sql.includes('e.balance_after')) read.entry.push(rows);
    });
    expect(await billing().differences()).toEqual([]);
    for (const rows of Object.values(read)) {
      expect(rows.length).toBeGreaterThanOrEqual(3);
      expect(Math.max(...rows)).toBeLessThan(CHARGES / 2);
    }
  });

  it('a wrong entry and a wrong batch of a later page are named', async () => {
    const entry = `account_id = '${id}' AND sequence = 2201`;
    await run(`UPDATE gateway_billing_entry SET balance_after = balance_after + 5 WHERE ${entry}`);
    expect(await billing().differences()).toEqual([
      {
        account: id,
        what: 'balance_after of entry 2201',
        stored: '9999.997805',
        computed: '9999.9978',
      },
      {
        account: id,
        what: 'balance_after of entry 2202',
        stored: '9999.997799',
        computed: '9999.997804',
      },
    ]);
    await run(`UPDATE gateway_billing_entry SET balance_after = balance_after - 5 WHERE ${entry}`);
    const batch = `batch = '00000000-0000-4000-8000-000000002200'`;
    await run(`UPDATE gateway_billing_batch SET charged = 3, reserved = 7 WHERE ${batch}`);
    expect(await billing().differences()).toEqual([
      { account: id, what: 'reserved', stored: '0.00', computed: '0.000007' },
      { account: id, what: 'charges', stored: '0.0025', computed: '0.002502' },
      {
        account: id,
        what: 'reserved of batch 00000000-0000-4000-8000-000000002200',
        stored: '0.000007',
        computed: '0.00',
      },
    ]);
    await run(`UPDATE gateway_billing_batch SET charged = 1, reserved = 0 WHERE ${batch}`);
    expect(await billing().differences()).toEqual([]);
  });

  it('a message that is charged between two statements is no difference, and does not wait', async () => {
    let sent = 0;
    const charged = async () => {
      const { status } = await gateway.call('POST', '/ng/v1/sendsms', {
        token,
        body: { from: 'ACME', to: ['2348012345678'], body: 'Hello' },
      });
      expect(status).toBe(200);
      sent++;
      await eventually(async () =>
        expect((await billing().account(id))?.entries).toBe(BigInt(1 + CHARGES + sent)),
      );
    };
    watch(async (sql, rows) => {
      const isPage = /gateway_billing_batch|e\.balance_after/.test(sql);
      if (isPage && rows > 0 && sent < 4) await charged();
    });
    expect(await billing().differences()).toEqual([]);
    expect(sent).toBe(4);
    jest.restoreAllMocks();
    expect(await billing().differences()).toEqual([]);
  });
});
