import { afterEach, expect, it } from '@jest/globals';
import { MessagingModule, simulator, SmsService } from '@dundun/messaging';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import {
  MESSAGE_TRANSPORTS,
  type MessageTransport,
} from '../../../libs/messaging/src/ports/message-transport.js';
import { UncertainFailure } from '../../../libs/messaging/src/message/errors.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { report, ReportsApp, TO } from './reports-app.js';

describeEachDatabase('reconciling', (database) => {
  let app: ReportsApp | undefined;
  afterEach(() => app?.close());

  /** Microseconds of the server's clock. */
  const clocks = {
    sqlite: "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)",
    postgres: '(extract(epoch from clock_timestamp()) * 1000000)::int8',
    mariadb: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
  };
  const now = async () =>
    Number((await app!.query<{ now: string }>(`SELECT ${clocks[database.kind]} AS now`))[0]?.now);
  const pollAt = async (id: string) => {
    const rows = await app!.query<{ poll_at: string | null }>(
      `SELECT poll_at FROM messaging_batch WHERE id = '${id}'`,
    );
    return rows[0]?.poll_at == null ? null : Number(rows[0].poll_at);
  };
  const makeDue = () =>
    app!.query('UPDATE messaging_batch SET poll_at = 1 WHERE poll_at IS NOT NULL');

  it('polling backs off until a final report arrives', async () => {
    app = await ReportsApp.start(database, { reports: { pollAfter: '1m' } });
    const id = await app.sent(TO);
    await app.reconcile();
    expect(app.paper.asked).toEqual([]);
    for (const minutes of [2, 4, 8, 16, 32, 60, 60]) {
      await makeDue();
      const before = await now();
      await app.reconcile();
      const wait = minutes * 60_000_000;
      const at = await pollAt(id);
      expect(at).toBeGreaterThanOrEqual(before + wait);
      expect(at).toBeLessThanOrEqual((await now()) + wait);
    }
    expect(app.paper.asked).toHaveLength(7);
    app.paper.reports = (submissions) =>
      Promise.resolve(
        submissions.map(({ submissionId, recipients }) => ({
          ...report({ recipient: recipients[0] ?? null }),
          submissionId,
        })),
      );
    await makeDue();
    await app.reconcile();
    expect(await app.counts(id)).toEqual({ delivered: 1 });
    await makeDue();
    await app.reconcile();
    expect([app.paper.asked.length, await pollAt(id)]).toEqual([8, null]);
  });

  it('polls group many submissions into few requests', async () => {
    app = await ReportsApp.start(database, { reports: { pollAfter: 1 } });
    const ids = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        app!.sms.send({ from: 'ACME', to: `23480${10_000_000 + n}`, body: 'x' }),
      ),
    );
    for (const { id } of ids) await app.completed(id);
    await makeDue();
    await app.reconcile();
    expect(app.paper.asked.map((submissions) => submissions.length)).toEqual([100, 20]);
    expect(new Set(app.paper.asked.flat().map(({ submissionId }) => submissionId)).size).toBe(120);
  });

  it('polls split submissions with many recipients', async () => {
    app = await ReportsApp.start(database, { reports: { pollAfter: 1 } });
    const to = Array.from({ length: 12_000 }, (_, n) => `23480${10_000_000 + n}`);
    await app.sent(to);
    await makeDue();
    await app.reconcile();
    const recipients = app.paper.asked.map((submissions) =>
      submissions.reduce((sum, one) => sum + one.recipients.length, 0),
    );
    expect(Math.max(...recipients)).toBeLessThanOrEqual(10_000);
    expect(recipients.reduce((sum, n) => sum + n, 0)).toBe(12_000);
    expect(recipients).toHaveLength(2);
  });

  it('a poll that runs out of time keeps its results', async () => {
    app = await ReportsApp.start(database);
    const id = await app.sent(TO);
    app.paper.reports = (submissions, signal) =>
      new Promise((resolve) => {
        const learned = submissions.map(({ submissionId }) => ({
          ...report({ recipient: TO }),
          submissionId,
        }));
        signal.addEventListener('abort', () => resolve(learned));
      });
    await makeDue();
    await app.reconcile(50);
    expect(await app.counts(id)).toEqual({ delivered: 1 });
  });

  it('one replica polls each batch', async () => {
    app = await ReportsApp.start(database);
    const other = await ReportsApp.start(database);
    try {
      for (let n = 0; n < 5; n++) await app.sent(TO);
      await makeDue();
      await Promise.all([app.reconcile(), other.reconcile(), app.reconcile(), other.reconcile()]);
      const asked = [...app.paper.asked, ...other.paper.asked].flat();
      expect(asked.map(({ submissionId }) => submissionId).sort()).toEqual(
        [...new Set(asked.map(({ submissionId }) => submissionId))].sort(),
      );
      expect(asked).toHaveLength(5);
    } finally {
      await other.close();
    }
  });

  it('an unknown submission is found by its idempotency key', async () => {
    app = await ReportsApp.start(database, {
      store: { idempotencyWindow: '1s' },
      reports: { pollAfter: 1 },
    });
    app.paper.answer = () => {
      throw new UncertainFailure('lost', 'The answer was lost');
    };
    Object.assign(app.paper.capabilities, { idempotencyWindow: 0 });
    const { id } = await app.sms.send({ from: 'ACME', to: TO, body: 'x' });
    await eventually(async () => expect(await app!.counts(id)).toEqual({ unknown: 1 }));
    app.paper.reports = (submissions) =>
      Promise.resolve(
        submissions.map(({ submissionId }) => ({
          ...report({ reference: 'learned', recipient: TO }),
          submissionId,
        })),
      );
    await app.completed(id);
    await makeDue();
    await app.reconcile();
    expect(app.paper.asked.flat()).toMatchObject([
      { submissionId: expect.stringContaining(id), reference: null, recipients: [TO] },
    ]);
    expect(await app.counts(id)).toEqual({ delivered: 1 });
  });

  it('a failing or hanging poll delays no other', async () => {
    app = await ReportsApp.start(database);
    const ids = await Promise.all(
      Array.from({ length: 250 }, (_, n) =>
        app!.sms.send({ from: 'ACME', to: `23480${10_000_000 + n}`, body: 'x' }),
      ),
    );
    for (const { id } of ids) await app.completed(id);
    let calls = 0;
    app.paper.reports = (submissions) => {
      calls++;
      if (calls === 1) throw new Error('the provider is in a bad mood');
      if (calls === 2) return new Promise(() => undefined);
      return Promise.resolve(
        submissions.map(({ submissionId, recipients }) => ({
          ...report({ recipient: recipients[0] ?? null }),
          submissionId,
        })),
      );
    };
    await makeDue();
    await app.reconcile(50);
    const delivered = await app.query<{ n: string }>(
      'SELECT count(*) AS n FROM messaging_message WHERE status = 90',
    );
    expect([calls, Number(delivered[0]?.n)]).toEqual([3, 50]);
  });

  it('polling ends after giveUpAfter', async () => {
    app = await ReportsApp.start(database, { reports: { giveUpAfter: '1h' } });
    const id = await app.sent(TO);
    await makeDue();
    await app.reconcile();
    expect(await pollAt(id)).not.toBeNull();
    await app.query(
      `UPDATE messaging_batch SET poll_at = 1, completed_at = completed_at - 3600000000 WHERE id = '${id}'`,
    );
    await app.reconcile();
    expect(app.paper.asked).toHaveLength(2);
    expect([await pollAt(id), await app.counts(id)]).toEqual([null, { sent: 1 }]);
  });
});

describeEachDatabase('numbers of the simulator that need a poll', (database) => {
  it('polls find …9906 and …9908 delivered and leave …9909 unknown', async () => {
    const app: TestingModule = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 1, idempotencyWindow: 0 }),
          callbackPath: false,
          reports: { pollAfter: 1, giveUpAfter: '72h' },
        }),
      ],
    }).compile();
    await app.init();
    try {
      const sms = app.get(SmsService);
      const send = async (to: string) => (await sms.send({ from: 'ACME', to, body: 'x' })).id;
      const [silent, lost, vanished] = [
        await send('2348012349906'),
        await send('2348012349908'),
        await send('2348012349909'),
      ];
      const poll = () =>
        reconcileJob(
          app.get(MessageStore),
          app.get<ReadonlyMap<string, MessageTransport>>(MESSAGE_TRANSPORTS),
        ).run(new AbortController().signal);
      const counts = async (id: string) => (await sms.batch(id)).counts;
      await eventually(async () => {
        expect((await sms.batch(vanished)).status).toBe('completed');
        await app
          .get(MessageStore)
          .database.transaction((tx) =>
            tx.run('UPDATE messaging_batch SET poll_at = 1 WHERE poll_at IS NOT NULL'),
          );
        await poll();
        expect([await counts(silent), await counts(lost)]).toEqual([
          { delivered: 1 },
          { delivered: 1 },
        ]);
      });
      expect(await counts(vanished)).toEqual({ unknown: 1 });
    } finally {
      await app.close();
    }
  });
});
