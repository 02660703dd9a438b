import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { MessagingModule, RetryableFailure, SmsService } from '@dundun/messaging';
import { purgeJob } from '../../../libs/messaging/src/jobs/messaging.jobs.js';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { LaneWork } from '../../../libs/messaging/src/store/verbs/lane-work.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { migrate } from '../../../libs/messaging/src/store/schema/migrator.js';
import { STORE_MIGRATIONS } from '../../../libs/messaging/src/store/schema/store.migration.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { fillLane, fillStore } from '../../support/filled-store.js';
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
          store: { retention: { content: '20000d', messages: '20000d' } },
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
  async function wholeReadsOf(work: () => Promise<unknown>): Promise<string[]> {
    recorder.forget();
    await work();
    const found: string[] = [];
    expect(recorder.statements.length).toBeGreaterThan(0);
    for (const statement of recorder.statements)
      for (const table of await wholeReads(source, database.kind, statement))
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
    const whole = `SELECT count(*) FROM messaging_message m WHERE m.recipient = '2348012345678'`;
    expect(await wholeReads(source, database.kind, { sql: whole, params })).toEqual([
      'messaging_message',
    ]);
    const one = `SELECT * FROM messaging_batch b WHERE b.id = '0190aaaa-0000-7000-8000-000000000001'`;
    expect(await wholeReads(source, database.kind, { sql: one, params })).toEqual([]);
  });

  it('statements from send to outcome use indexes', async () => {
    const sms = app.get(SmsService);
    // Its former holder disappeared, so open submissions are looked for.
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
        await reconcileJob(store(), new Map([[paper.name, paper]])).run(signal);
        await purgeJob(store()).run(signal);
      }),
    ).toEqual([]);
  });

  it('finding due lanes costs by lane and not by waiting batches', async () => {
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
});

describeEachDatabase('the plans of a lane in which 200,000 batches wait', (database) => {
  const recorder = new StatementRecorder();
  let source: DataSource;
  let work: LaneWork;

  beforeAll(async () => {
    source = await database.open({ entities: [], migrations: [], logger: recorder });
    await migrate(source, { wanted: STORE_MIGRATIONS, known: STORE_MIGRATIONS }, true);
    await fillLane(source, database.kind, 'waits:sms', 67_000);
    work = new LaneWork(databaseOf(source));
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
