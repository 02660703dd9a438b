import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { MessagingModule, SmsService } from '@dundun/messaging';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { fillStore } from '../../support/filled-store.js';
import { PaperTransport } from '../reports/paper.transport.js';
import { wholeReads } from './query-plan.js';
import { StatementRecorder } from './statement-recorder.js';

// Fills tables with many rows.
jest.setTimeout(120_000);

const MESSAGES = 300;
const FILLED = { batches: 5_000, recipients: 1, lanes: 10, scheduled: 10 };

describeEachDatabase('300 messages at once in a store of 5,000', (database) => {
  const recorder = new StatementRecorder();
  const paper = new PaperTransport();
  let app: TestingModule;
  let source: DataSource;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot({ ...database.options(), logger: recorder }),
        MessagingModule.forRoot({ transport: () => paper, callbackPath: false }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    // Jobs look for their work in other ways, which statistics decide.
    const registry = app.get(SchedulerRegistry);
    for (const name of registry.getIntervals()) registry.deleteInterval(name);
    source = await database.open();
    await fillStore(source, database.kind, { ...FILLED, unseen: true });
  });
  afterAll(() => app.close());

  it('300 concurrent messages are read by key from intent to report', async () => {
    const sms = app.get(SmsService);
    recorder.forget();
    const sent = await Promise.all(
      Array.from({ length: MESSAGES }, (_, i) =>
        sms.send({ from: 'ACME', to: `23480${12_345_600 + i}`, body: 'Hello' }),
      ),
    );
    await eventually(async () => {
      for (const { id } of sent) expect(await sms.batch(id)).toMatchObject({ status: 'completed' });
    });
    await app.get(MessageStore, { strict: false }).reports.record(
      sent.map(({ id }) => ({
        reference: null,
        messageId: `${id}-0`,
        recipient: null,
        status: 'delivered',
        rawStatus: 'DELIVRD',
        errorCode: null,
        providerTime: null,
      })),
      { provider: 'paper' },
    );
    const whole: string[] = [];
    for (const statement of recorder.statements)
      for (const table of await wholeReads(source, database.kind, statement))
        if (table !== 'messaging_lane') whole.push(`${table}: ${statement.sql}`);
    expect(whole).toEqual([]);
  });
});
