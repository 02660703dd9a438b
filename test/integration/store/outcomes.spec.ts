import { afterEach, expect, it, jest } from '@jest/globals';
import { DataSource, type EntityManager } from 'typeorm';
import { v7 } from 'uuid';
import type { ChannelDefinition } from '../../../libs/messaging/src/message/channel-definition.js';
import { ChannelRegistry } from '../../../libs/messaging/src/message/channel-registry.js';
import { countryOfNumber } from '../../../libs/messaging/src/message/phone-country.js';
import { STATUS_RANK, STATUSES } from '../../../libs/messaging/src/message/status.js';
import { type Clock, systemClock } from '../../../libs/messaging/src/ports/clock.js';
import type { SpendRefusedError } from '../../../libs/messaging/src/message/errors.js';
import { StatusListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { ProviderCosts } from '../../../libs/messaging/src/ports/provider-costs.js';
import {
  type GuardedChange,
  type SpendGuard,
  SpendGuards,
  type SpentAmount,
} from '../../../libs/messaging/src/ports/spend-guard.js';
import type { Sql } from '../../../libs/messaging/src/store/database/sql.js';
import { accepted, headOf, refused, StoreBench, type Started } from './contract/store-bench.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { recentOutcomes } from '../../../libs/messaging/src/store/reads/recent-outcomes.js';
import { readOutcomes } from '../../../libs/messaging/src/store/reads/outcomes.js';
import { LATENCY_BOUNDS } from '../../../libs/messaging/src/store/rows/latency.js';
import { OutcomeCosts } from '../../../libs/messaging/src/store/rows/outcome-costs.js';
import type { NewBatch } from '../../../libs/messaging/src/store/rows/new-batch.js';
import { BATCH_TEXT_MIGRATIONS } from '../../../libs/messaging/src/store/schema/batch-text.js';
import { CANCELLATION_MIGRATIONS } from '../../../libs/messaging/src/store/schema/cancellation.js';
import {
  OUTCOME_AMOUNTS,
  OUTCOME_KEY,
  OUTCOME_SUMS,
  TOTAL_KEY,
} from '../../../libs/messaging/src/store/schema/outcomes.js';
import { STORE_MIGRATIONS } from '../../../libs/messaging/src/store/schema/store.migration.js';
import { OutcomeCounts } from '../../../libs/messaging/src/store/verbs/outcome-counts.js';
import { BATCH_STATE } from '../../../libs/messaging/src/store/rows/batch-state.js';
import { eraseContent } from '../../../libs/messaging/src/store/upkeep/erased-content.js';
import { eventually } from '../../support/eventually.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';

// Hundreds of transactions by three processes on each database.
jest.setTimeout(120_000);

const MIGRATIONS = [...STORE_MIGRATIONS, ...CANCELLATION_MIGRATIONS, ...BATCH_TEXT_MIGRATIONS];
const MINUTES = 60_000;
const HOUR = 60 * MINUTES;

const SMS: ChannelDefinition = {
  name: 'sms',
  addressKinds: ['phone', 'email'],
  statuses: STATUSES,
  accepted: 'sent',
  content: {},
};
const CALLS: ChannelDefinition = {
  name: 'calls',
  addressKinds: ['phone'],
  statuses: {
    initiated: { rank: 41, reported: true },
    busy: { rank: 64, reported: true, terminal: true, failed: true },
    delivered: STATUSES.delivered,
  },
  accepted: 'initiated',
  events: ['redial'],
  redial: { after: ['busy'], event: 'redial', rule: () => ({ times: 1, after: 0 }) },
  content: {},
};
const CHANNELS = new ChannelRegistry([SMS, CALLS]);

/** Of the provider of the store bench. */
const COSTS: ReadonlyMap<string, ProviderCosts> = new Map([
  ['scripted', ProviderCosts.of({ '+2348': '0.0030005', '1': '2.5', '*': '0.1' }, 'USD')],
]);

/** Millionths of the same for messages of one, two and three parts. */
const COST_OF_PARTS: readonly (readonly [start: string, costs: readonly number[]])[] = [
  ['2348', [3_001, 6_001, 9_002]],
  ['1', [2_500_000, 5_000_000, 7_500_000]],
  ['', [100_000, 200_000, 300_000]],
];

/** What the guard of these tests charges for a message, by its status alone; millionths. */
function priceOf(channel: string, recipient: string, status: string, statuses: number): number {
  // A call that is dialled again has no other price.
  if (channel === 'calls') return status === 'delivered' ? 15_000_000 : 0;
  const isPaid = ['sent', 'undelivered', 'delivered', 'read'].includes(status);
  return isPaid || (status === 'expired' && statuses > 1) ? 4_500_000 + recipient.length : 0;
}

const currencyOf = (tenant: string): string => (tenant.endsWith('-ghana') ? 'GHS' : 'NGN');
/** Tenants that do not pay. */
const isFree = (tenant: string): boolean => tenant.endsWith('-free');

class Guard implements SpendGuard {
  guards(tenant: string): boolean {
    return !isFree(tenant);
  }

  async onAccepted(): Promise<ReadonlyMap<string, SpendRefusedError>> {
    return new Map();
  }

  async onChanged(changes: readonly GuardedChange[]): Promise<readonly SpentAmount[]> {
    return changes.map(({ tenant, channel, recipient, previous, status, event, ...change }) => {
      const statuses = change.statuses ?? change.sequence;
      const amount =
        event === undefined
          ? priceOf(channel, recipient, status, statuses) -
            priceOf(channel, recipient, previous, statuses - 1)
          : 0;
      return { amount: BigInt(amount), currency: currencyOf(tenant) };
    });
  }

  async spent(batches: readonly string[], manager: EntityManager) {
    const rows = await manager.query<Row[]>(
      `SELECT m.batch, m.position, m.recipient, m.status, b.channel, b.tenant, ${STATUSES_OF} AS statuses
       FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch
       WHERE m.batch IN (${batches.map((id) => `'${id}'`).join(', ')})`,
    );
    return new Map(
      rows.map((row): [string, SpentAmount] => [
        `${row['batch']}-${row['position']}`,
        { amount: BigInt(priceOfRow(row)), currency: currencyOf(String(row['tenant'])) },
      ]),
    );
  }

  async onCancelled(): Promise<void> {}

  async onEnded(): Promise<void> {}
}

/** SQL: number of the statuses that the message `m` has had. */
const STATUSES_OF = `(SELECT count(*) FROM messaging_report r WHERE r.batch = m.batch
  AND r.position = m.position AND r.sequence > 0 AND r.status IS NOT NULL)`;

/** A message that waits to be sent again has its status as the negative rank. */
function priceOfRow({ channel, recipient, status, statuses }: Row): number {
  const name = Number(status) < 0 ? 'queued' : CHANNELS.nameOf(Number(status));
  return priceOf(String(channel), String(recipient), name, Number(statuses));
}

/** Wall clock that a test sets; processes differ by a few milliseconds. */
class SetClock implements Clock {
  static at = 0;

  constructor(private readonly ahead: number) {}

  now(): number {
    return SetClock.at + this.ahead;
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  id(): string {
    return v7({ msecs: this.now() });
  }
}

/** A generator of numbers that a seed repeats. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describeEachDatabase('counts of outcomes', (database) => {
  const benches: StoreBench[] = [];
  afterEach(async () => {
    for (const bench of benches.splice(0)) await bench.close();
  });

  async function start(guard?: SpendGuard): Promise<{ bench: StoreBench; stores: MessageStore[] }> {
    SetClock.at = Date.UTC(2026, 3, 1, 12, 1);
    let ahead = 0;
    const bench = new StoreBench({
      locksRows: true,
      writesSideBySide: true,
      lockWaited: async () => undefined,
      open: () => openStore(database, new SetClock((ahead += 3)), guard),
    });
    benches.push(bench);
    const stores = [await bench.open(), await bench.open(), await bench.open()];
    for (const table of [
      'outcome_hour',
      'outcome_total',
      'outcome_change',
      'batch',
      'message',
      'report',
    ])
      await stores[0]!.database.transaction((tx) => tx.run(`DELETE FROM messaging_${table}`));
    await stores[0]!.database.transaction((tx) =>
      tx.run('UPDATE messaging_outcome_state SET purged_until = 0'),
    );
    return { bench, stores };
  }

  it.each([1, 2])(
    'counts, prices and costs equal the log after random traffic of three processes, with folds that stop at any statement, and after a rebuild (seed %i)',
    async (seed) => {
      const { bench, stores } = await start(new Guard());
      const random = randomOf(seed);
      const one = <T>(list: readonly T[]): T => list[random(list.length)] as T;
      const sent: Started[] = [];
      for (let round = 0; round < 18; round++) {
        SetClock.at += 17 * MINUTES;
        const store = one(stores);
        const work: Promise<unknown>[] = [];
        for (let n = random(4); n >= 0; n--) await store.newBatches.enqueue(batchOf(bench, random));
        const share = 1 + random(3);
        const started = (await bench.intend(store, share, 50)).map(guardedAsAccepted);
        for (const each of started) {
          if (random(4) === 0) work.push(bench.report(one(stores), early(each, random)));
          work.push(one(stores).outcomes.record(outcomeOf(each, random)));
          sent.push(each);
        }
        for (let n = 0; n < 12 && sent.length > 0; n++)
          work.push(bench.report(one(stores), reportOn(one(sent), random)));
        const twice = sent.length > 0 && reportOn(one(sent), random);
        if (twice)
          for (const each of stores)
            work.push(bench.report(each, twice), bench.report(each, twice));
        for (const each of stores)
          work.push(random(2) === 0 ? each.outcomeCounts!.fold() : brokenFold(each, 1 + random(4)));
        if (random(5) === 0) work.push(one(stores).outcomeRebuild.run(SetClock.at - 2 * HOUR));
        await Promise.all(work);
        if (random(6) === 0 && sent.length > 0) {
          // As the end of a verification does, while reports still come.
          const { batch } = one(sent);
          const [code] = await store.database.all<{ content: string | null; state: number }>(
            'SELECT content, state FROM messaging_batch WHERE id = ?',
            [batch],
          );
          if (code?.content?.includes('"secret":true') && code.state === BATCH_STATE.completed)
            await store.database.transaction((tx) => eraseContent(tx, batch));
        }
        if (round % 6 !== 5) continue;
        // Reports that came before an answer are matched after its commit.
        for (const each of stores) await each.reports.sweep(1_000);
        await expectEqual(store);
      }
      const [store] = stores as [MessageStore];
      for (const each of stores) await each.reports.sweep(1_000);
      const counted = await expectEqual(store);
      expect(counted.size).toBeGreaterThan(20);
      while (await store.outcomeCounts!.fold());
      await store.outcomeCounts!.fold();
      expect(await store.database.all('SELECT part FROM messaging_outcome_change')).toEqual([]);
      await expectEqual(store);
      const folded = await store.database.all<{ minutes: number; start: string | number }>(
        'SELECT DISTINCT minutes, start FROM messaging_outcome_hour',
      );
      const edge = Math.floor((SetClock.at - 3 * HOUR) / HOUR) * HOUR;
      for (const { minutes, start } of folded)
        expect([minutes, Number(start) / 1_000 >= edge]).toEqual(
          Number(minutes) === 5 ? [5, true] : [60, false],
        );
      await store.database.transaction((tx) =>
        tx.run('DELETE FROM messaging_outcome_hour WHERE messages = 1'),
      );
      const { kept } = await store.outcomeRebuild.run(undefined);
      expect(kept).toBe(0);
      expect(await expectEqual(store)).toEqual(counted);
    },
  );

  it('a rebuild leaves the hours as they are from which retention or an erasure has taken messages', async () => {
    const { bench, stores } = await start();
    const [store] = stores as [MessageStore];
    const hours: number[] = [];
    for (let hour = 0; hour < 3; hour++) {
      hours.push(SetClock.at);
      const id = await bench.accepted(store, 2, {
        id: v7({ msecs: SetClock.at }),
        createdAt: SetClock.at,
      });
      await bench.report(store, { reference: `ref-${id}-s0`, recipient: bench.to(0) });
      SetClock.at += HOUR;
    }
    const before = await totals(store);
    await store.database.transaction(async (tx) => {
      // The first hour is past retention; a person of the second one is erased.
      await tx.run(
        'UPDATE messaging_batch SET poll_at = NULL, completed_at = 1 WHERE created_at < ?',
        [(hours[1] as number) * 1_000],
      );
    });
    while (await store.purge.step(10));
    const [second] = await store.database.all<{ id: string }>(
      'SELECT b.id FROM messaging_batch b ORDER BY b.id LIMIT 1',
    );
    await store.database.transaction((tx) =>
      tx.run("UPDATE messaging_message SET recipient = '' WHERE batch = ? AND position = 1", [
        second!.id,
      ]),
    );
    expect(await store.outcomeRebuild.run(hours[0])).toEqual({ rebuilt: 1, kept: 2 });
    expect(await totals(store)).toEqual(before);
    // Late reports of an erased message change nothing either.
    await bench.report(store, {
      reference: `ref-${second!.id}-s0`,
      recipient: bench.to(1),
      status: 'read',
    });
    expect(await totals(store)).toEqual(before);
  });

  it('figures of a period stand beside those of the period before, folded or not', async () => {
    const { bench, stores } = await start();
    const [store] = stores as [MessageStore];
    const sendAt = async (at: number, delivered: number) => {
      SetClock.at = at;
      const id = await bench.accepted(store, 3, {
        id: v7({ msecs: at }),
        createdAt: at,
        parts: 2,
        recipients: ['2348010000100', '2348010000101', '14165550100'],
      });
      SetClock.at += 4_000;
      for (let n = 0; n < delivered; n++)
        await bench.report(store, {
          reference: `ref-${id}-s0`,
          recipient: ['2348010000100', '2348010000101'][n] as string,
        });
    };
    const noon = SetClock.at;
    await sendAt(noon - 24 * HOUR, 1);
    await store.outcomeCounts!.fold();
    await sendAt(noon, 2);
    const hour = Math.floor(noon / HOUR) * HOUR;
    const query = {
      tenants: [bench.scope.tenant],
      since: hour - 23 * HOUR,
      until: hour + HOUR,
      by: 'country',
      where: { provider: 'scripted' },
      limit: 10,
    } as const;
    const read = await readOutcomes(store.database, query);
    const { total, groups, slots } = read;
    expect(total.current).toMatchObject({ messages: 3, delivered: 2, failed: 0, parts: 6 });
    expect(total.current.statuses).toEqual({ sent: 1, delivered: 2 });
    // Within the class from 2.5 to 5 seconds.
    expect(total.current.toDelivered?.p50).toBeGreaterThan(2_500);
    expect(total.current.toDelivered?.p95).toBeLessThanOrEqual(5_000);
    expect(total.current.toSent?.p95).toBeLessThanOrEqual(100);
    expect(total.former).toMatchObject({ messages: 3, delivered: 1 });
    expect(groups.map(({ name, current }) => [name, current.messages])).toEqual([
      ['NG', 2],
      ['CA', 1],
    ]);
    expect(slots).toHaveLength(24);
    expect(slots.at(-1)).toEqual({
      start: new Date(hour),
      messages: 3,
      delivered: 2,
      former: { messages: 3, delivered: 1 },
    });
    await store.outcomeCounts!.fold();
    expect(await readOutcomes(store.database, query)).toEqual(read);
    // Of all tenants, by what the totals have, and by what they have not.
    for (const by of ['country', 'sender'] as const) {
      const all = await readOutcomes(store.database, { ...query, tenants: 'all', by });
      expect([all.total, all.slots]).toEqual([read.total, read.slots]);
    }
    const elsewhere = { ...query, tenants: ['another'] };
    expect((await readOutcomes(store.database, elsewhere)).total.current.messages).toBe(0);
  });

  it('the newest outcomes of each provider and country are the same before and after a fold; old ones are deleted by their age', async () => {
    const { bench, stores } = await start();
    const [store] = stores as [MessageStore];
    const at = SetClock.at;
    const own = { recipients: ['2348010000100', '2348010000101', '14165550100'] };
    const id = await bench.accepted(store, 3, {
      id: v7({ msecs: at }),
      createdAt: at,
      ...own,
    });
    SetClock.at += 4_000;
    const reference = `ref-${id}-s0`;
    await bench.report(store, { reference, recipient: '2348010000100' });
    await bench.report(store, { reference, recipient: '14165550100', status: 'undelivered' });
    const read = async () =>
      (await recentOutcomes(store.database, at - HOUR)).toSorted((one, other) =>
        one.country < other.country ? -1 : 1,
      );
    const span = { start: at - (at % (5 * MINUTES)), end: at - (at % (5 * MINUTES)) + 5 * MINUTES };
    const found = await read();
    expect(found).toEqual([
      {
        provider: 'scripted',
        channel: 'sms',
        country: 'CA',
        p95: null,
        deliveries: 0,
        fast: 0,
        spans: [{ ...span, delivered: 0, failed: 1, open: 0 }],
      },
      {
        provider: 'scripted',
        channel: 'sms',
        country: 'NG',
        p95: expect.any(Number),
        deliveries: 1,
        fast: 0,
        spans: [{ ...span, delivered: 1, failed: 0, open: 1 }],
      },
    ]);
    expect(found[1]?.p95).toBeGreaterThan(2_500);
    expect(found[1]?.p95).toBeLessThanOrEqual(5_000);
    while (await store.outcomeCounts!.fold());
    await store.outcomeCounts!.fold();
    expect(await read()).toEqual(found);
    expect(await recentOutcomes(store.database, at + HOUR)).toEqual([]);
    SetClock.at += 2 * HOUR;
    expect(await store.outcomeCounts!.forgetOlder(2 * HOUR)).toBe(false);
    expect(await read()).toEqual(found);
    SetClock.at += HOUR;
    expect(await store.outcomeCounts!.forgetOlder(2 * HOUR)).toBe(true);
    expect(await store.outcomeCounts!.forgetOlder(2 * HOUR)).toBe(false);
    expect(await read()).toEqual([]);
  });

  it('one statement counts a whole group of changes', async () => {
    const { bench, stores } = await start();
    const [store] = stores as [MessageStore];
    const id = await bench.accepted(store, 100, {
      id: v7({ msecs: SetClock.at }),
      createdAt: SetClock.at,
    });
    const reports = Array.from({ length: 100 }, (_, n) => ({
      reference: `ref-${id}-s0`,
      recipient: bench.to(n),
    }));
    await bench.report(store, ...reports);
    const rows = await store.database.all<{ part: string; messages: number }>(
      'SELECT part, status, messages FROM messaging_outcome_change ORDER BY part, status',
    );
    expect(new Set(rows.map(({ part }) => part)).size).toBeLessThanOrEqual(6);
    expect(rows.reduce((sum, { messages }) => sum + Number(messages), 0)).toBe(100);
    await expectEqual(store, false);
  });
});

/** As the plan of a lane does, which the store bench replaces. */
function guardedAsAccepted(started: Started): Started {
  const { intended } = started;
  return { ...started, intended: { ...intended, guarded: !isFree(intended.submission.tenant) } };
}

async function openStore(
  database: TestDatabase,
  clock: Clock,
  guard?: SpendGuard,
): Promise<MessageStore> {
  const spend = new SpendGuards();
  if (guard) spend.set(guard);
  const options = database.options({ entities: [], migrations: [] });
  const source = await new DataSource(options).initialize();
  const store = await MessageStore.open(
    source,
    {
      migrate: true,
      migrations: { wanted: MIGRATIONS, known: MIGRATIONS },
      preparedStatements: true,
      outcomes: true,
      costs: COSTS,
      leaseTime: 30_000,
      idempotencyWindow: 1_000,
      pollAfter: 60_000,
      giveUpAfter: 3_600_000,
      retention: { content: 1_000, messages: 1_000 },
    },
    {
      channels: CHANNELS,
      clock,
      events: { wants: () => false, publish: () => undefined },
      listeners: new StatusListeners(),
      spend,
    },
  );
  const close = store.close.bind(store);
  return Object.assign(store, {
    close: async () => {
      await close();
      await source.destroy();
    },
  });
}

const NUMBERS = ['2348010000', '14165550', '12125550', '4915201000', '4478391200'];

function batchOf(bench: StoreBench, random: (below: number) => number): NewBatch {
  const at = SetClock.at;
  const channel = random(4) === 0 ? 'calls' : 'sms';
  const recipients = Array.from(
    { length: 1 + random(4) },
    (_, n) => `${NUMBERS[random(NUMBERS.length)]}${100 + n}`,
  );
  const isMail = channel === 'sms' && random(6) === 0;
  const kinds = [
    { kind: 'text', text: 'Hello' },
    { kind: 'text', text: 'Hello', category: 'marketing' },
    { kind: 'text', text: 'Code 123456', secret: true, category: 'authentication' },
    { kind: 'template', template: `hello-${random(2)}`, language: 'en', params: [] },
  ];
  return bench.batch(recipients.length, {
    id: v7({ msecs: at }),
    createdAt: at,
    tenant: `${bench.scope.tenant}${['', '', '-free', '-ghana'][random(4)]}`,
    channel,
    recipients: isMail ? recipients.map((to) => `${to}@shop.example`) : recipients,
    sender: random(2) === 0 ? 'ACME' : 'SHOP',
    parts: 1 + random(3),
    content: kinds[random(kinds.length)] as NewBatch['content'],
    ...(random(3) === 0 && { labels: { tags: ['spring', 'vip'].slice(random(2)), metadata: {} } }),
    ...(random(5) === 0 && { sendAt: at + 60_000 }),
    denied: random(5) === 0 ? ['opted_out'] : [],
  });
}

function outcomeOf(started: Started, random: (below: number) => number) {
  const head = headOf(started);
  switch (random(8)) {
    case 0:
      return { ...head, result: 'rejected', errorCode: 'bad_number' } as const;
    case 1:
      return refused(started);
    case 2:
      return { ...head, result: 'unknown', errorCode: 'timeout' } as const;
    default:
      return accepted(started, false);
  }
}

function recipientOf({ intended }: Started, random: (below: number) => number): string {
  const { recipients } = intended.submission;
  return recipients[random(recipients.length)] as string;
}

/** Before the answer, by the id of the submission. */
function early(started: Started, random: (below: number) => number) {
  const { batch, n } = started;
  return {
    submissionId: `${batch}-s${n}`,
    recipient: recipientOf(started, random),
    ...statusOf(started, random),
  };
}

function reportOn(started: Started, random: (below: number) => number) {
  const { batch, n } = started;
  return {
    reference: `ref-${batch}-s${n}`,
    recipient: recipientOf(started, random),
    providerTime: new Date(SetClock.at - random(3) * MINUTES),
    ...statusOf(started, random),
  };
}

function statusOf({ intended }: Started, random: (below: number) => number) {
  const statuses =
    intended.submission.channel === 'calls'
      ? ['initiated', 'busy', 'busy', 'delivered']
      : ['sent', 'expired', 'undelivered', 'delivered', 'delivered', 'read', 'failed', null];
  return { status: statuses[random(statuses.length)] as string };
}

/** A fold whose process dies after so many writes: its transaction ends without a commit. */
async function brokenFold(store: MessageStore, after: number): Promise<void> {
  const { database } = store;
  const own = Object.create(database) as typeof database;
  let writes = 0;
  own.transaction = (work) =>
    database.transaction((tx) => {
      const run: Sql['run'] = (sql, params) =>
        writes++ === after ? Promise.reject(new Error('died')) : tx.run(sql, params);
      return work({ ...tx, run });
    });
  await new OutcomeCounts(own, new SetClock(0), new OutcomeCosts(CHANNELS, new Map()))
    .fold()
    .catch((error: Error) => {
      if (error.message !== 'died') throw error;
    });
}

type Row = Record<string, string | number | null>;

const COUNTED_BY = OUTCOME_KEY.filter((name) => !name.endsWith('currency'));
const COUNTS = OUTCOME_SUMS.filter((name) => !OUTCOME_AMOUNTS.has(name));
/** Sums of money do not depend on the status. */
const PAID_BY = COUNTED_BY.filter((name) => name !== 'status');

/** The sums of both tables by hour and key, without those that are zero. */
async function totals(store: MessageStore): Promise<Map<string, number[]>> {
  const sums = new Map<string, number[]>();
  for (const table of ['outcome_hour', 'outcome_change'])
    for (const row of await store.database.all<Row>(`SELECT * FROM messaging_${table}`)) {
      add(
        sums,
        row,
        COUNTS.map((name) => Number(row[name])),
      );
      addMoney(sums, row, `price in ${row['currency']}`, Number(row['price']));
      addMoney(sums, row, `cost in ${row['cost_currency']}`, Number(row['cost']));
    }
  return withoutZeros(sums);
}

function add(sums: Map<string, number[]>, row: Row, values: readonly number[]): void {
  const key = keyOf(row, COUNTED_BY);
  const before = sums.get(key) ?? COUNTS.map(() => 0);
  sums.set(
    key,
    before.map((sum, n) => sum + (values[n] ?? 0)),
  );
}

function addMoney(sums: Map<string, number[]>, row: Row, what: string, amount: number): void {
  const key = `${what} | ${keyOf(row, PAID_BY)}`;
  sums.set(key, [(sums.get(key)?.[0] ?? 0) + amount]);
}

function keyOf(row: Row, names: readonly string[]): string {
  const start = Math.floor(Number(row['start']) / (HOUR * 1_000));
  return names.map((name) => (name === 'start' ? start : row[name])).join(' | ');
}

function withoutZeros(sums: Map<string, number[]>): Map<string, number[]> {
  const kept = [...sums].filter(([, values]) => values.some((value) => value !== 0));
  return new Map(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same sums by reading every message and every line of its log. */
async function expected(store: MessageStore, isPaying: boolean): Promise<Map<string, number[]>> {
  const { database } = store;
  const all = (sql: string) => database.all<Row>(sql);
  const batches = new Map((await all('SELECT * FROM messaging_batch')).map((b) => [b['id'], b]));
  const tags = new Map(
    (await all('SELECT batch, tag FROM messaging_batch_label WHERE n = 0')).map((l) => [
      l['batch'],
      l['tag'],
    ]),
  );
  const submissions = new Map(
    (await all('SELECT batch, n, provider FROM messaging_submission')).map((s) => [
      `${s['batch']}-${s['n']}`,
      s['provider'],
    ]),
  );
  const logs = new Map<string, Row[]>();
  for (const row of await all(
    'SELECT * FROM messaging_report WHERE position IS NOT NULL AND sequence IS NOT NULL ORDER BY sequence',
  )) {
    const key = `${row['batch']}-${row['position']}`;
    logs.set(key, [...(logs.get(key) ?? []), row]);
  }
  const sums = new Map<string, number[]>();
  const reached = [STATUS_RANK.delivered, STATUS_RANK.read] as number[];
  for (const message of await all(
    `SELECT m.*, ${STATUSES_OF} AS statuses FROM messaging_message m`,
  )) {
    const batch = batches.get(message['batch']!)!;
    const content = JSON.parse(String(batch['content'] ?? 'null')) as Row | null;
    const isCode = content === null || content['secret'] !== undefined;
    const tag = content?.['template'] ?? tags.get(batch['id']!) ?? '';
    const recipient = String(message['recipient']);
    const provider = submissions.get(`${message['batch']}-${message['submission']}`) ?? null;
    const of = {
      start: batch['created_at']!,
      tenant: batch['tenant']!,
      channel: batch['channel']!,
      country: recipient.includes('@') ? '' : countryOfNumber(recipient),
      sender: batch['sender']!,
      tag: isCode ? '' : tag,
      category: isCode ? 'authentication' : (content?.['category'] ?? ''),
    };
    const log = logs.get(`${message['batch']}-${message['position']}`) ?? [];
    // What the log says: the last raise since it was last set back to be sent again.
    const last = log.findLast(({ status, raw_status: raw }) => status !== null || raw === 'redial');
    const isUnknown = Number(message['status']) === STATUS_RANK.unknown;
    const status = isUnknown ? STATUS_RANK.unknown : last?.['status'];
    if (status !== null && status !== undefined) {
      expect(Number(message['status'])).toBe(Number(status));
      const parts = provider === null ? 0 : Number(batch['parts']);
      add(sums, { ...of, provider: provider ?? '', status }, [1, parts]);
    }
    const where = { ...of, provider: provider ?? '' };
    const tenant = String(batch['tenant']);
    if (isPaying && !isFree(tenant)) {
      const price = priceOfRow({ ...message, channel: batch['channel']! });
      addMoney(sums, where, `price in ${currencyOf(tenant)}`, price);
    }
    if (provider !== null && isTakenSms(message, batch)) {
      const digits = recipient.includes('@') ? '' : recipient;
      const [, costs] = COST_OF_PARTS.find(([start]) => digits.startsWith(start))!;
      addMoney(sums, where, 'cost in USD', costs[Number(batch['parts']) - 1]!);
    }
    let before = 0;
    for (const raise of log) {
      if (raise['status'] === null) continue;
      const rank = Number(raise['status']);
      const due = Math.max(Number(batch['created_at']), Number(batch['send_at'] ?? 0));
      const ms = (Number(raise['received_at']) - due) / 1_000;
      const found = LATENCY_BOUNDS.findIndex((bound) => ms <= bound);
      const span = found < 0 ? LATENCY_BOUNDS.length : found;
      const columns: string[] = [];
      const acceptedRank = batch['channel'] === 'calls' ? 41 : STATUS_RANK.sent;
      if (rank === acceptedRank) columns.push(`sent_${span}`);
      if (reached.includes(rank) && !reached.includes(before)) columns.push(`delivered_${span}`);
      before = rank;
      for (const column of columns)
        add(
          sums,
          { ...of, provider: raise['provider']!, status: rank },
          COUNTS.map((name) => (name === column ? 1 : 0)),
        );
    }
  }
  return withoutZeros(sums);
}

/** Whether a carrier has it, or had it: it was `sent`, and neither refused nor returned. */
function isTakenSms({ status, statuses }: Row, { channel }: Row): boolean {
  const { sent, expired, undelivered, delivered, read } = STATUS_RANK;
  if (channel !== 'sms') return false;
  if (Number(status) === expired) return Number(statuses) > 1;
  return [sent, undelivered, delivered, read].some((rank) => rank === Number(status));
}

/** One line for each row, for a readable difference. */
function listed(sums: ReadonlyMap<string, readonly number[]>): string[] {
  return [...sums].map(([key, values]) => {
    const counts = (values.length === 1 ? ['amount'] : COUNTS).flatMap((name, n) =>
      values[n] ? `${name} ${values[n]}` : [],
    );
    return `${key}: ${counts.join(', ')}`;
  });
}

/** The totals of all tenants are the sums of the other rows. */
async function expectTotals(store: MessageStore): Promise<void> {
  const key = [...TOTAL_KEY, 'minutes'].join(', ');
  const sums = OUTCOME_SUMS.map((name) => `CONCAT(sum(${name}), '') AS ${name}`).join(', ');
  // In one statement: a fold may commit between two.
  const rows = await store.database.all<Row>(
    `SELECT 'hour' AS source, ${key}, ${sums} FROM messaging_outcome_hour GROUP BY ${key}
     UNION ALL SELECT 'total', ${key}, ${sums} FROM messaging_outcome_total GROUP BY ${key}`,
  );
  const listedOf = (table: string) =>
    rows
      .filter(({ source }) => source === table)
      .map(({ source: _source, ...row }) => Object.values(row).map(String).join(' | '))
      .toSorted();
  expect(listedOf('total')).toEqual(listedOf('hour'));
}

/** The two reads are two statements, and the last matches may commit between them. */
async function expectEqual(store: MessageStore, isPaying = true): Promise<Map<string, number[]>> {
  let counted = new Map<string, number[]>();
  await eventually(async () => {
    counted = await totals(store);
    expect(listed(counted)).toEqual(listed(await expected(store, isPaying)));
    await expectTotals(store);
  }, 3_000);
  return counted;
}
