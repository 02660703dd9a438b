import { afterEach, expect, it } from '@jest/globals';
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
import { purgeJob } from '../../../libs/messaging/src/jobs/purge.job.js';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { Ledger } from '../../../libs/messaging/src/ledger/ledger.js';
import {
  MESSAGE_TRANSPORT,
  type MessageTransport,
} from '../../../libs/messaging/src/ports/message-transport.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const message = {
  from: 'ACME',
  to: ['2348012345678', '2348012349901'],
  body: 'Secret of the house',
};
const { signal } = new AbortController();

describeEachDatabase('retention', (database) => {
  let app: TestingModule;
  let sms: SmsService;

  async function boot(retention: NonNullable<MessagingOptions['retention']>): Promise<void> {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 1 }),
          callbackPath: false,
          idempotencyWindow: '1s',
          reconcile: { after: 1, giveUpAfter: 1 },
          retention,
        }),
      ],
    }).compile();
    await app.init();
    sms = app.get(SmsService);
  }

  /** Ended, and no report of it is missing. */
  async function settled(): Promise<string> {
    const { id } = await sms.send(message);
    await eventually(async () =>
      expect((await sms.batch(id)).counts).toEqual({ delivered: 1, undelivered: 1 }),
    );
    await eventually(async () => {
      await reconcileJob(app.get(Ledger), app.get<MessageTransport>(MESSAGE_TRANSPORT)).run(signal);
      const rows = await app
        .get(DataSource)
        .query<{ poll_at: unknown }[]>(`SELECT poll_at FROM messaging_batch WHERE id = '${id}'`);
      expect(rows[0]?.poll_at).toBeNull();
    });
    return id;
  }

  const purge = () => purgeJob(app.get(Ledger)).run(signal);
  const dump = async () => {
    const tables = ['batch', 'batch_chunk', 'submission', 'message', 'report'];
    const all = await Promise.all(
      tables.map((table) => app.get(DataSource).query(`SELECT * FROM messaging_${table}`)),
    );
    return JSON.stringify(all);
  };

  afterEach(() => app.close());

  it('texts and phone numbers are erased, the counts stay', async () => {
    await boot({ content: 0 });
    const id = await settled();
    const waiting = await sms.send({ ...message, sendAt: new Date(Date.now() + 60_000) });
    await purge();
    expect(await sms.batch(id)).toMatchObject({
      content: null,
      status: 'completed',
      counts: { delivered: 1, undelivered: 1 },
    });
    expect(await sms.recipients(waiting.id)).toEqual(message.to);
    await sms.cancel(waiting.id);
    await eventually(async () => {
      await reconcileJob(app.get(Ledger), app.get<MessageTransport>(MESSAGE_TRANSPORT)).run(signal);
      await purge();
      const left = await dump();
      expect(left).not.toContain('2348012345678');
      expect(left).not.toContain('Secret');
    });
    expect((await sms.batch(waiting.id)).counts).toEqual({ cancelled: 2 });
  });

  it('a batch is deleted whole, but never while its idempotency key is remembered', async () => {
    await boot({ messages: 0 });
    const id = await settled();
    await purge();
    expect((await sms.batch(id)).content).toBeNull();
    await eventually(async () => {
      await purge();
      await expect(sms.batch(id)).rejects.toBeInstanceOf(BatchNotFoundError);
    });
    expect(await dump()).toBe('[[],[],[],[],[]]');
  });
});
