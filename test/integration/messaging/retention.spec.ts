import { afterEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  BatchNotFoundError,
  MessagingModule,
  type MessagingOptions,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { purgeJob } from '../../../libs/messaging/src/jobs/messaging.jobs.js';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { Purge, type RetentionSettings } from '../../../libs/messaging/src/store/upkeep/purge.js';
import {
  MESSAGE_TRANSPORTS,
  type MessageTransport,
} from '../../../libs/messaging/src/ports/message-transport.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { StatementLog } from '../../support/statement-log.js';
import { CommitFault } from './commit-fault.js';

const message = {
  from: 'ACME',
  to: ['2348012345678', '2348012349901'],
  body: 'Secret text',
};
const { signal } = new AbortController();

describeEachDatabase('retention', (database) => {
  let app: TestingModule;
  let sms: SmsService;
  const log = new StatementLog();

  async function boot(
    retention: NonNullable<MessagingOptions['store']>['retention'],
  ): Promise<void> {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), logging: true, logger: log }),
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 1 }),
          callbackPath: false,
          store: { idempotencyWindow: '1h', retention },
          reports: { pollAfter: 1, giveUpAfter: 1 },
        }),
      ],
    }).compile();
    await app.init();
    sms = app.get(SmsService);
  }

  /** Waits until the batch has ended and no report is missing. */
  async function settled(to: readonly string[] = message.to): Promise<string> {
    const { id } = await sms.send({ ...message, to: [...to] });
    await eventually(async () =>
      expect((await sms.batch(id)).counts).toEqual({ delivered: to.length - 1, undelivered: 1 }),
    );
    await eventually(async () => {
      await reconcileJob(
        app.get(MessageStore),
        app.get<ReadonlyMap<string, MessageTransport>>(MESSAGE_TRANSPORTS),
      ).run(signal);
      const rows = await app
        .get(DataSource)
        .query<{ poll_at: unknown }[]>(`SELECT poll_at FROM messaging_batch WHERE id = '${id}'`);
      expect(rows[0]?.poll_at).toBeNull();
    });
    return id;
  }

  const purge = () => purgeJob(app.get(MessageStore)).run(signal);
  const dump = async () => {
    const tables = ['batch', 'batch_chunk', 'submission', 'message', 'report'];
    const all = await Promise.all(
      tables.map((table) => app.get(DataSource).query(`SELECT * FROM messaging_${table}`)),
    );
    return JSON.stringify(all);
  };

  afterEach(() => app.close());

  it('erases texts and numbers after 30 days and deletes batches after 365 by default', async () => {
    await boot(undefined);
    const [id, kept] = [await settled(), await settled()];
    const age = (days: number) =>
      app
        .get(DataSource)
        .query(
          `UPDATE messaging_batch SET completed_at = completed_at - ${days * 86_400_000_000} WHERE id = '${id}'`,
        );
    await age(29);
    await purge();
    expect((await sms.batch(id)).content).toMatchObject({ text: message.body });
    await age(2);
    await purge();
    expect(await sms.batch(id)).toMatchObject({
      content: null,
      counts: { delivered: 1, undelivered: 1 },
    });
    expect((await sms.recipients(id)).data).toEqual([]);
    await age(335);
    await purge();
    await expect(sms.batch(id)).rejects.toBeInstanceOf(BatchNotFoundError);
    expect((await sms.batch(kept)).content).toMatchObject({ text: message.body });
    await app.get(DataSource).query('UPDATE messaging_batch SET completed_at = 1');
    await purge();
  });

  it('orders, which stay, are looked for once the other batches are purged, not after each step', async () => {
    await boot({ content: '1d' });
    const ids = await Promise.all([1, 2, 3].map(() => settled()));
    const aged = ids.map((id) => `'${id}'`).join(', ');
    await app
      .get(DataSource)
      .query(
        `UPDATE messaging_batch SET completed_at = completed_at - 172800000000 WHERE id IN (${aged})`,
      );
    log.clear();
    const store = app.get(MessageStore);
    let steps = 0;
    while (await store.purge.step(1)) steps++;
    expect(steps).toBeGreaterThanOrEqual(ids.length);
    expect(log.matching(/b\.guarded = 1\s+ORDER BY b\.completed_at/)).toHaveLength(1);
  });

  it('content retention erases texts and numbers and keeps the counts', async () => {
    await boot({ content: 0 });
    const id = await settled();
    const waiting = await sms.send({ ...message, sendAt: new Date(Date.now() + 60_000) });
    await purge();
    expect(await sms.batch(id)).toMatchObject({
      content: null,
      status: 'completed',
      counts: { delivered: 1, undelivered: 1 },
    });
    expect((await sms.recipients(waiting.id)).data).toEqual(message.to);
    await sms.cancel(waiting.id);
    await eventually(async () => {
      await reconcileJob(
        app.get(MessageStore),
        app.get<ReadonlyMap<string, MessageTransport>>(MESSAGE_TRANSPORTS),
      ).run(signal);
      await purge();
      const left = await dump();
      expect(left).not.toContain('2348012345678');
      expect(left).not.toContain('Secret');
    });
    expect((await sms.batch(waiting.id)).counts).toEqual({ cancelled: 2 });
  });

  it('message retention deletes whole batches after their idempotency window', async () => {
    await boot({ content: 0, messages: '1h' });
    const id = await settled();
    await purge();
    expect((await sms.batch(id)).content).toBeNull();
    await app
      .get(DataSource)
      .query('UPDATE messaging_batch SET completed_at = completed_at - 3600000000');
    await purge();
    await expect(sms.batch(id)).rejects.toBeInstanceOf(BatchNotFoundError);
    expect(await dump()).toBe('[[],[],[],[],[]]');
  });

  describe('retention of a batch larger than one transaction', () => {
    /** Messages and reports of one transaction. */
    const ROWS = 4;
    const to = Array.from({ length: 9 }, (_, n) => `234801234567${n}`).concat('2348012349901');
    const purgeOf = (settings: RetentionSettings) =>
      new Purge(app.get(MessageStore).database, settings, 0, { rows: ROWS });
    const count = async (of: string) => {
      const [row] = await app.get(DataSource).query(`SELECT count(*) AS n FROM messaging_${of}`);
      return Number(row.n);
    };
    const numbers = async () =>
      (await count("message WHERE recipient <> ''")) +
      (await count('report WHERE recipient IS NOT NULL'));
    const rows = async () => (await count('message')) + (await count('report'));

    /** Steps to the end; `left` may fall by no more than one transaction changes. */
    async function all(step: () => Promise<boolean>, left: () => Promise<number>): Promise<void> {
      for (let before = await left(), more = true; more;) {
        more = await step();
        const after = await left();
        expect(before - after).toBeLessThanOrEqual(ROWS);
        before = after;
      }
    }

    it('each transaction changes few rows, and a new process continues', async () => {
      await boot({});
      const id = await settled(to);
      const { counts } = await sms.batch(id);
      let eraser = purgeOf({ content: 0, messages: undefined });
      for (let n = 0; n < 4; n++) await eraser.step(200);
      expect((await sms.batch(id)).content).not.toBeNull();
      eraser = purgeOf({ content: 0, messages: undefined });
      await all(() => eraser.step(200), numbers);
      expect(await numbers()).toBe(0);
      expect(await sms.batch(id)).toMatchObject({ content: null, counts });
      expect(await count('batch_chunk')).toBe(0);

      let deleter = purgeOf({ content: undefined, messages: 0 });
      for (let n = 0; n < 4; n++) await deleter.step(200);
      expect(await count('batch')).toBe(1);
      deleter = purgeOf({ content: undefined, messages: 0 });
      await all(() => deleter.step(200), rows);
      expect(await dump()).toBe('[[],[],[],[],[]]');
    });

    it('a transaction that was rolled back is repeated', async () => {
      await boot({});
      await settled(to);
      const tables = ['message', 'report', 'batch'].map((table) => `messaging_${table}`);
      const fault = await CommitFault.on(app.get(DataSource), database.kind, tables);
      const eraser = purgeOf({ content: 0, messages: undefined });
      const refused: object[] = [];
      for (let more = true; more;) {
        const before = await dump();
        await fault.start();
        const result = await eraser.step(200).catch((error: Error) => error);
        await fault.stop();
        more = result === true;
        if (!(result instanceof Error)) continue;
        refused.push({ message: result.message, isUndone: (await dump()) === before });
        more = await eraser.step(200);
      }
      expect(refused.length).toBeGreaterThan(tables.length);
      const message = expect.stringMatching(/foreign key constraint/i);
      expect(refused).toEqual(refused.map(() => ({ message, isUndone: true })));
      expect(await numbers()).toBe(0);
      expect(await dump()).not.toContain('Secret');
    });

    it('several processes at once purge all ended batches, and leave the others', async () => {
      await boot({});
      await settled(to);
      await settled();
      await settled(to);
      const waiting = await sms.send({ ...message, sendAt: new Date(Date.now() + 60_000) });
      const purgers = Array.from({ length: 3 }, () => purgeOf({ content: 0, messages: 0 }));
      await eventually(async () => {
        await Promise.all(
          purgers.map(async (purger) => {
            while (await purger.step(200));
          }),
        );
        expect(await count('batch')).toBe(1);
      });
      expect(await rows()).toBe(0);
      expect((await sms.recipients(waiting.id)).data).toEqual(message.to);
    });
  });
});
