import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  ContactsService,
  MessagingModule,
  MessagingService,
  NotificationService,
  type Page,
  SmsService,
  WhatsAppService,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { RetryableFailure } from '@dundun/messaging/ports';
import { purgeJob } from '../../../libs/messaging/src/jobs/messaging.jobs.js';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { BatchData } from '../../../libs/messaging/src/store/reads/batch-data.js';
import { LaneWork } from '../../../libs/messaging/src/store/verbs/lane-work.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { migrate } from '../../../libs/messaging/src/store/schema/migrator.js';
import { STORE_MIGRATIONS } from '../../../libs/messaging/src/store/schema/store.migration.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import {
  fillGroups,
  fillInbound,
  fillLane,
  fillNotifications,
  fillReports,
  fillStore,
} from '../../support/filled-store.js';
import { PaperTransport } from '../reports/paper.transport.js';
import { costOfKept, rowsRead, wholeReads } from './query-plan.js';
import { type Statement, StatementRecorder } from './statement-recorder.js';

const TO = Array.from({ length: 20 }, (_, i) => `23480${12_345_600 + i}`);

describeEachDatabase('the plans of a store of 200,000 messages', (database) => {
  const recorder = new StatementRecorder();
  const paper = new PaperTransport();
  let app: TestingModule;
  let source: DataSource;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot({ ...database.options(), logger: recorder }),
        MessagingModule.forRoot({
          transport: () => paper,
          callbackPath: false,
          reports: { pollAfter: 1 },
          store: {
            recipientIndex: true,
            retention: { content: '20000d', messages: '20000d' },
          },
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    // The test says when a job runs.
    const registry = app.get(SchedulerRegistry);
    for (const name of registry.getIntervals()) registry.deleteInterval(name);
    source = await database.open();
    await fillStore(source, database.kind, {
      batches: 40_000,
      recipients: 5,
      lanes: 10_000,
      scheduled: 5_000,
    });
  });
  afterAll(() => app.close());

  /** Statements of `work` that read a table of the store whole. */
  async function wholeReadsOf(work: () => Promise<unknown>, growing?: RegExp): Promise<string[]> {
    recorder.forget();
    await work();
    const found: string[] = [];
    expect(recorder.statements.length).toBeGreaterThan(0);
    for (const statement of recorder.statements)
      for (const table of await wholeReads(source, database.kind, statement, growing))
        found.push(`${table}: ${textOf(statement)}`);
    return found;
  }

  const completed = (id: string, scope = {}) =>
    eventually(async () =>
      expect(await app.get(SmsService).batch(id, scope)).toMatchObject({ status: 'completed' }),
    );
  const store = () => app.get(MessageStore, { strict: false });
  const { signal } = new AbortController();

  it('the plan check detects a full scan', async () => {
    const params: unknown[] = [];
    const whole = `SELECT count(*) FROM messaging_message m WHERE m.error_code = 'none'`;
    expect(await wholeReads(source, database.kind, { sql: whole, params })).toEqual([
      'messaging_message',
    ]);
    const one = `SELECT * FROM messaging_batch b WHERE b.id = '0190aaaa-0000-7000-8000-000000000001'`;
    expect(await wholeReads(source, database.kind, { sql: one, params })).toEqual([]);
  });

  it('statements from send to outcome use indexes', async () => {
    const sms = app.get(SmsService);
    // Its former holder disappeared, so unanswered submissions are looked for.
    await source.query(
      `INSERT INTO messaging_lane (lane_key, owner, fence, lease_until) VALUES ('acme:sms', 'gone', 1, 1)`,
    );
    expect(
      await wholeReadsOf(async () => {
        const options = { tenant: 'acme', idempotencyKey: 'key-1' };
        const { id } = await sms.send({ from: 'ACME', to: TO, body: 'Hello' }, options);
        await sms.send({ from: 'ACME', to: TO, body: 'Hello' }, options);
        await completed(id, { tenant: 'acme' });
        const sendAt = new Date(Date.now() + 3_600_000);
        const later = await sms.send({ from: 'ACME', to: TO, body: 'Later', sendAt });
        await sms.reschedule(later.id, new Date(Date.now() + 7_200_000));
        await sms.cancel(later.id);
      }),
    ).toEqual([]);
  });

  it('statements of refused and retried messages use indexes', async () => {
    let tries = 0;
    paper.answer = ({ id }) => {
      if (++tries === 1) throw new RetryableFailure('busy', 'try again');
      return { reference: `ref-${id}` };
    };
    expect(
      await wholeReadsOf(async () => {
        const { id } = await app.get(SmsService).send({ from: 'ACME', to: TO, body: 'Again' });
        await completed(id);
      }),
    ).toEqual([]);
    expect(tries).toBeGreaterThan(1);
  });

  it('statements of matched and unmatched reports use indexes', async () => {
    const report = {
      reference: null,
      messageId: null,
      recipient: null,
      status: 'delivered',
      rawStatus: 'DELIVRD',
      errorCode: null,
      providerTime: new Date('2026-01-01T00:00:00Z'),
    } as const;
    expect(
      await wholeReadsOf(async () => {
        await store().reports.record(
          [
            { ...report, reference: 'ref 7', recipient: '2348010000007' },
            { ...report, messageId: 'id 3 9' },
            { ...report, reference: 'nobody', recipient: '2348010000007' },
          ],
          { provider: 'paper' },
        );
        await store().reports.sweep(1_000);
      }),
    ).toEqual([]);
  });

  it('statements of the jobs use indexes', async () => {
    expect(
      await wholeReadsOf(async () => {
        await store().queues.abandoned();
        await store().setBackClock.correct();
        await reconcileJob(store(), new Map([[paper.name, paper]])).run(signal);
        await purgeJob(store()).run(signal);
      }),
    ).toEqual([]);
  });

  it('the cost of finding due lanes grows with the lanes, not with the waiting batches', async () => {
    const whole = await wholeReadsOf(async () => {
      await store().queues.due(2_000);
      await store().queues.health();
      await store().queues.ages();
    });
    expect(whole.filter((read) => !read.startsWith('messaging_lane:'))).toEqual([]);
  });

  it('statements that read back use indexes', async () => {
    const sms = app.get(SmsService);
    const id = '0190aaaa-0000-7000-8000-000000000001';
    const scope = { tenant: 'tenant 1' };
    expect(
      await wholeReadsOf(async () => {
        await sms.batch(id, scope);
        await sms.messages(id, scope);
        await sms.batches({ ...scope, limit: 10 });
        await sms.reports({ ...scope, batchIds: [id] });
        await sms.reports(scope);
        await sms.timeline(`${id}-0`, scope);
      }),
    ).toEqual([]);
  });

  it('statements of the history of all channels and tenants use indexes', async () => {
    const history = app.get(MessageHistory);
    const id = '0190aaaa-0000-7000-8000-000000000001';
    const one = ['tenant 1'];
    const some = ['tenant 1', 'tenant 2'];
    const period = { since: new Date(1_690_000_000_000), until: new Date(1_690_086_400_000) };
    for (const tenants of ['all', one, some] as const)
      expect(
        await wholeReadsOf(async () => {
          await history.messages({ tenants, limit: 50 });
          await history.messages({ tenants, status: 'failed', limit: 50 });
          await history.messages({ tenants, provider: 'paper', limit: 50 });
          await history.messages({ tenants, to: '2348010000007', limit: 50 });
          await history.messages({ tenants, tag: 'news', ...period });
          for (const search of [
            { toPart: '000007' },
            { country: 'NG' },
            { subject: 'Hello' },
            { errorCode: '30003' },
          ]) {
            await history.messages({ tenants, ...search, ...period });
            await history.total({ tenants, ...search });
          }
          await history.total({ tenants });
          await history.total({ tenants, channel: 'sms', ...period });
          for (const reference of [id, `${id}-0`, 'id 0 7', 'ref 7', 'none'])
            await history.messages({ tenants, reference });
          await history.batches({ tenants, limit: 50 });
          await history.batches({ tenants, status: 'scheduled', limit: 50 });
          await history.stats({ tenants, ...period, interval: 'hour' });
          await history.presentStatuses({ tenants, ...period, interval: 'hour' });
          await history.presentStatuses({ tenants, ...period, interval: 'day', channel: 'sms' });
          await history.latency({ tenants, ...period });
          await history.latency({ tenants, ...period, channel: 'sms' });
          const { cursor } = await history.changes({ tenants });
          await history.changes({ tenants, since: cursor });
        }),
      ).toEqual([]);
    expect(
      await wholeReadsOf(async () => {
        await history.message(`${id}-0`);
        await history.batch(id);
        await history.contents([`${id}-0`, `${id}-1`]);
        await app.get(MessagingService).providers();
      }),
    ).toEqual([]);
  });

  it('statements that list contacts and inbound messages use indexes, and read a page of them', async () => {
    const [history, contacts] = [app.get(MessageHistory), app.get(ContactsService)];
    const tenant = 'tenant 1';
    // On SQLite the other connection keeps an old snapshot since it explained statements that write.
    const fresh = await database.open();
    await fillGroups(fresh, database.kind, tenant, 50_000, 1);
    await fillInbound(fresh, database.kind, tenant, 50_000);
    const contact = '0190abcd-0000-7000-8000-000000000007';
    const costly = await wholeReadsOf(async () => {
      const { nextCursor } = await contacts.list({ tenant, limit: 50 });
      await contacts.list({ tenant, limit: 50, cursor: nextCursor! });
      await contacts.find('234810000006', { tenant });
      await contacts.consentHistory('234810000006', { tenant });
      await contacts.suppressions({ tenant, address: '234810000006' });
      const found = await history.contact(contact);
      expect(found).toMatchObject({ tenant });
      const { data } = await history.conversation({ ...found!, addresses: [] });
      expect(data).toMatchObject([{ direction: 'in' }]);
      for (const tenants of ['all', [tenant], [tenant, 'tenant 2']] as const)
        expect(await history.inbound({ tenants, limit: 50 })).toHaveLength(50);
    }, /^messaging_(?:contact|contact_address|inbound_text)$/);
    for (const statement of database.kind === 'sqlite' ? [] : recorder.statements) {
      const rows = await rowsRead(source, database.kind, statement);
      if (rows > 1_000) costly.push(`${rows} rows: ${textOf(statement)}`);
    }
    expect(costly).toEqual([]);
  });

  it('a page of the notifications of a tenant reads its own alone, by an index', async () => {
    const notifications = app.get(NotificationService);
    const own = { tenant: 'tenant 1', limit: 50 };
    await fillNotifications(await database.open(), database.kind, 50_000);
    const costly = await wholeReadsOf(async () => {
      const { nextCursor } = await notifications.list(own);
      expect((await notifications.list({ ...own, cursor: nextCursor! })).data).toHaveLength(50);
    }, /^messaging_notification$/);
    for (const statement of database.kind === 'sqlite' ? [] : recorder.statements) {
      const rows = await rowsRead(source, database.kind, statement);
      if (rows > 100) costly.push(`${rows} rows: ${textOf(statement)}`);
    }
    expect(costly).toEqual([]);
  });

  it('a page of a search by status reads a bounded part of 200,000 messages', async () => {
    const history = app.get(MessageHistory);
    const costly: string[] = [];
    recorder.forget();
    const { data, nextCursor } = await history.messages({ status: 'failed', limit: 50 });
    expect([data, nextCursor]).toEqual([[], expect.any(String)]);
    for (const statement of database.kind === 'sqlite' ? [] : recorder.statements) {
      const rows = await rowsRead(source, database.kind, statement);
      if (rows > 31_000) costly.push(`${rows} rows: ${textOf(statement)}`);
    }
    expect(costly).toEqual([]);
  });

  /** Pages of a list, and the statements of `work` that read a table whole or many rows of it. */
  async function pagesOf<T>(list: (cursor?: string) => Promise<Page<T>>) {
    const pages: (readonly T[])[] = [];
    const costly = await wholeReadsOf(async () => {
      for (let cursor: string | null | undefined; cursor !== null;) {
        const { data, nextCursor } = await list(cursor);
        pages.push(data);
        cursor = nextCursor;
      }
    });
    // Each row of the window, with its batch and its message; SQLite does not tell.
    for (const statement of database.kind === 'sqlite' ? [] : recorder.statements) {
      const rows = await rowsRead(source, database.kind, statement);
      if (rows > 31_000) costly.push(`${rows} rows: ${textOf(statement)}`);
    }
    return { pages, costly };
  }

  it('a page of reports reads a bounded part of 45,000 reports', async () => {
    const sms = app.get(SmsService);
    const tenant = 'busy';
    // On SQLite the other connection keeps an old snapshot since it explained statements that write.
    const fresh = await database.open();
    await fillReports(fresh, database.kind, tenant, 45_000);
    const id = (n: number) => `0190aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`;
    await fresh.query(
      `UPDATE messaging_batch SET tenant = 'busy', recipient_count = 450 WHERE id <= '${id(100)}'`,
    );
    const batchIds = Array.from({ length: 100 }, (_, n) => id(n + 1));
    const last = { to: '2348010045000' };
    const found = [expect.objectContaining({ recipient: last.to })];
    const since = new Date(1_800_000_000_044);

    const byRecipient = await pagesOf((cursor) => sms.reports({ tenant, ...last, cursor }));
    expect(byRecipient).toEqual({ pages: [[], [], [], [], found], costly: [] });

    const byStatus = await pagesOf((cursor) => sms.reports({ tenant, status: 'failed', cursor }));
    expect(byStatus).toEqual({ pages: [[], [], [], [], []], costly: [] });

    const recent = await pagesOf((cursor) => sms.reports({ tenant, since, limit: 600, cursor }));
    expect(recent.costly).toEqual([]);
    expect(recent.pages.map(({ length }) => length)).toEqual([600, 401]);

    const inBatches = { tenant, batchIds, limit: 1_000 };
    const all = await pagesOf((cursor) => sms.reports({ ...inBatches, cursor }));
    expect(all.costly).toEqual([]);
    expect(all.pages.slice(0, -1).every(({ length }) => length === 1_000)).toBe(true);
    const reports = all.pages.flat();
    expect(new Set(reports.map(({ recipient }) => recipient)).size).toBeGreaterThanOrEqual(45_000);
    expect(reports.length).toBeLessThan(45_200);

    const one = await pagesOf((cursor) => sms.reports({ ...inBatches, ...last, cursor }));
    expect(one.costly).toEqual([]);
    expect(one.pages.flat()).toEqual(found);
  });

  it('a page of the batches or messages of one channel is full, and reads none of 20,000 batches of another', async () => {
    const [whatsApp, history] = [app.get(WhatsAppService), app.get(MessageHistory)];
    const tenant = 'two channels';
    // On SQLite the other connection keeps an old snapshot since it explained statements that write.
    const fresh = await database.open();
    const id = (n: number) => `0190aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`;
    await fresh.query(
      `UPDATE messaging_batch SET tenant = '${tenant}' WHERE id > '${id(10_000)}' AND id <= '${id(30_000)}'`,
    );
    await fresh.query(
      `UPDATE messaging_batch SET channel = 'whatsapp' WHERE id > '${id(10_000)}' AND id <= '${id(10_003)}'`,
    );
    const expected = [[id(10_003), id(10_002)], [id(10_001)]];
    const batches = await pagesOf((cursor) => whatsApp.batches({ tenant, limit: 2, cursor }));
    expect(batches.pages.map((page) => page.map((one) => one.id))).toEqual(expected);
    for (const statement of recorder.statements)
      expect(await rowsRead(source, database.kind, statement)).toBeLessThan(100);
    expect(batches.costly).toEqual([]);
    const scope = { tenants: [tenant], channel: 'whatsapp' };
    const messages = await pagesOf((cursor) => history.messages({ ...scope, limit: 10, cursor }));
    expect([...new Set(messages.pages.flat().map(({ batchId }) => batchId))]).toEqual(
      expected.flat(),
    );
    expect(messages.pages.map(({ length }) => length)).toEqual([10, 5]);
    for (const statement of recorder.statements)
      expect(await rowsRead(source, database.kind, statement)).toBeLessThan(100);
  });

  it('a page of batches ends after 10,000 recipients, and looks at few batches of other channels', async () => {
    const sms = app.get(SmsService);
    const tenant = 'large';
    const to = Array.from({ length: 1_000 }, (_, n) => `23480${12_345_600 + n}`);
    const sendAt = new Date(Date.now() + 3_600_000);
    const message = { from: 'ACME', body: 'Later', sendAt };
    const ids: string[] = [];
    for (let n = 0; n < 22; n++) {
      const recipients = n === 0 ? TO.slice(0, 1) : to;
      ids.unshift((await sms.send({ ...message, to: recipients }, { tenant })).id);
    }
    const { pages, costly } = await pagesOf((cursor) => sms.batches({ tenant, limit: 20, cursor }));
    expect(costly).toEqual([]);
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 2]);
    expect(pages.flat().map(({ id }) => id)).toEqual(ids);
    const whatsApp = app.get(WhatsAppService);
    const none = await pagesOf((cursor) => whatsApp.batches({ tenant, limit: 1, cursor }));
    expect(none).toEqual({ pages: [[]], costly: [] });
  });
});

describeEachDatabase('the plans of a lane in which 200,000 batches wait', (database) => {
  const recorder = new StatementRecorder();
  let source: DataSource;
  let work: LaneWork;

  beforeAll(async () => {
    source = await database.open({ entities: [], migrations: [], logger: recorder });
    await migrate(source, { wanted: STORE_MIGRATIONS, known: STORE_MIGRATIONS }, true);
    await fillLane(source, database.kind, 'waits:sms', 67_000);
    const opened = databaseOf(source);
    work = new LaneWork(opened, new BatchData(opened));
    recorder.forget();
  });

  it('a lane with 200,000 waiting batches reads only its next ones', async () => {
    expect(await work.plan('waits:sms', 20)).toHaveLength(20);
    expect(await work.nextDue('waits:sms')).toBeLessThan(0);
    expect(await work.nextDue('nobody:sms')).toBeUndefined();
    const { kind } = database;
    const costly: string[] = [];
    for (const statement of recorder.statements) {
      const whole = await wholeReads(source, kind, statement);
      const rows = await rowsRead(source, kind, statement);
      if (whole.length > 0 || rows > 1_000) costly.push(`${rows} rows: ${textOf(statement)}`);
    }
    expect(recorder.statements.length).toBeGreaterThan(1);
    expect(costly).toEqual([]);
    if (kind !== 'postgres') return;
    for (const statement of recorder.statements)
      expect(await costOfKept(source, statement)).toBeLessThan(100_000);
  });
});

function textOf({ sql }: Statement): string {
  return sql.replaceAll(/\s+/g, ' ').slice(0, 200);
}
