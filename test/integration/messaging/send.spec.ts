import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  MessagingModule,
  MessagingService,
  type MessagingOptions,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

describeEachDatabase('sending', (database) => {
  let app: TestingModule;
  let sms: SmsService;

  async function boot(options: Partial<MessagingOptions> = {}): Promise<void> {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 1 }),
          callbacks: { insecure: true },
          ...options,
        }),
      ],
    }).compile();
    app.enableShutdownHooks([]);
    await app.init();
    sms = app.get(SmsService);
  }

  beforeEach(() => boot());
  afterEach(() => app.close());

  it('a message is delivered and its reports are logged', async () => {
    const { id, recipients } = await sms.send({
      from: 'ACME',
      to: ['+234 801 234 5678', '2348012345679'],
      body: 'Hello',
    });
    expect(recipients).toBe(2);
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 2 }));
    const batch = await sms.batch(id);
    expect(batch).toMatchObject({ status: 'completed', sender: 'ACME', parts: 1, recipients: 2 });
    const { data } = await sms.reports({ batchIds: [id] });
    expect(data.map(({ status, sequence, recipient }) => [recipient, status, sequence])).toEqual(
      expect.arrayContaining([
        ['2348012345678', 'sent', 1],
        ['2348012345678', 'delivered', 2],
        ['2348012345679', 'sent', 1],
        ['2348012345679', 'delivered', 2],
      ]),
    );
    expect(data).toHaveLength(4);
  });

  it('a batch of 2,500 recipients reaches each recipient once', async () => {
    const to = Array.from({ length: 2_500 }, (_, i) => `23480${10_000_000 + i * 10}`);
    const { id } = await sms.send({ from: 'ACME', to, body: 'Hello' });
    await eventually(
      async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 2_500 }),
      100_000,
    );
    const first = await sms.recipients(id, { limit: 700 });
    const second = await sms.recipients(id, { limit: 1_000, cursor: first.nextCursor! });
    const third = await sms.recipients(id, { limit: 800, cursor: second.nextCursor! });
    expect([first, second, third].flatMap(({ data }) => data)).toEqual(to);
    expect(third.nextCursor).toBeNull();
    expect((await sms.batch(id)).status).toBe('completed');
  });

  it('a rolled-back transaction sends nothing and a committed one sends', async () => {
    const messaging = app.get(MessagingService);
    let lost = '';
    await expect(
      messaging.transaction(async (manager) => {
        lost = (await sms.send({ from: 'ACME', to: '2348012345678', body: 'no' }, { manager })).id;
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await expect(sms.batch(lost)).rejects.toThrow('No batch');
    const { id } = await messaging.transaction((manager) =>
      sms.send({ from: 'ACME', to: '2348012345678', body: 'yes' }, { manager }),
    );
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 1 }));
  });

  it('a manager outside a transaction is refused with the remedy', async () => {
    const { manager } = app.get(DataSource);
    await expect(
      sms.send({ from: 'ACME', to: '2348012345678', body: 'x' }, { manager }),
    ).rejects.toThrow('dataSource.transaction(async (manager)');
  });

  it('100 parallel sends with one key make one batch', async () => {
    const receipts = await Promise.all(
      Array.from({ length: 100 }, () =>
        sms.send(
          { from: 'ACME', to: '2348012345678', body: 'once' },
          { idempotencyKey: 'order-1' },
        ),
      ),
    );
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(1);
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    await expect(
      sms.send({ from: 'ACME', to: '2348012345678', body: 'other' }, { idempotencyKey: 'order-1' }),
    ).rejects.toThrow('different message');
  });

  it('each simulated number ends in its documented status', async () => {
    const of = async (to: string) => (await sms.send({ from: 'ACME', to, body: 'x' })).id;
    const cases: Record<string, string> = {
      '2348012349901': 'undelivered',
      '2348012349902': 'expired',
      '2348012349903': 'rejected',
      '2348012349904': 'delivered',
      '2348012349905': 'delivered',
      '2348012349907': 'delivered',
    };
    for (const [to, status] of Object.entries(cases)) {
      const id = await of(to);
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ [status]: 1 }));
    }
  });

  it('a scheduled message can be rescheduled and cancelled', async () => {
    const sendAt = new Date(Date.now() + 3_600_000);
    const { id } = await sms.send({ from: 'ACME', to: '2348012345678', body: 'x', sendAt });
    expect((await sms.batch(id)).status).toBe('scheduled');
    const cancelled = await sms.cancel(id);
    expect(cancelled).toMatchObject({ status: 'cancelled', counts: { cancelled: 1 } });
    expect((await sms.cancel(id)).status).toBe('cancelled');
    const other = await sms.send({ from: 'ACME', to: '2348012345678', body: 'x', sendAt });
    await sms.reschedule(other.id, new Date(Date.now() - 1_000));
    await eventually(async () =>
      expect((await sms.batch(other.id)).counts).toEqual({ delivered: 1 }),
    );
    await expect(sms.cancel(other.id)).rejects.toThrow('left to change');
  });
});
