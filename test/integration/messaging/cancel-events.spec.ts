import { expect, it } from '@jest/globals';
import {
  BATCH_COMPLETED,
  type BatchCompleted,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  MESSAGING_STATUS_LISTENER,
  SmsService,
  type StatusListener,
} from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Gate, ScriptedTransport } from '../dispatch/dispatch-fixture.js';

class Heard {
  readonly changes: MessageStatusChanged[] = [];
  readonly completed: BatchCompleted[] = [];
  /** Changes of the batch before its completion was published. */
  before = 0;
  /** Most events in one turn of the event loop. */
  most = 0;
  #inTurn = 0;

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus(change: MessageStatusChanged): void {
    this.changes.push(change);
    if (this.#inTurn === 0) setImmediate(() => (this.#inTurn = 0));
    this.most = Math.max(this.most, ++this.#inTurn);
  }

  @OnEvent(BATCH_COMPLETED)
  onCompleted(batch: BatchCompleted): void {
    this.before = this.changes.length;
    this.completed.push(batch);
  }
}

class Within implements StatusListener {
  readonly changes: MessageStatusChanged[] = [];

  async onStatusChanged(changes: readonly MessageStatusChanged[]): Promise<void> {
    this.changes.push(...changes);
  }
}

@Module({
  providers: [Heard, Within, { provide: MESSAGING_STATUS_LISTENER, useExisting: Within }],
})
class ListenersModule {}

const numbers = (count: number) =>
  Array.from({ length: count }, (_, n) => `23480${String(10_000_000 + n)}`);

describeOneDatabase('the events of a cancel', (database) => {
  async function boot(transport = new ScriptedTransport()): Promise<TestingModule> {
    const app = await Test.createTestingModule({
      imports: [
        ListenersModule,
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          transport: () => transport,
          dispatch: { concurrency: 1 },
          callbackPath: false,
        }),
      ],
    }).compile();
    return app.init();
  }
  const later = () => new Date(Date.now() + 3_600_000);
  const heardOf = (app: TestingModule) => app.get(Heard, { strict: false });

  it('a cancel publishes one event for each message that had not started, in slices, and then that of the batch', async () => {
    const app = await boot();
    try {
      const [sms, heard] = [app.get(SmsService), heardOf(app)];
      const to = numbers(2_500);
      const send = { from: 'ACME', to, body: 'Later', sendAt: later() };
      const { id } = await sms.send(send, { tenant: 'acme' });
      await sms.cancel(id, { tenant: 'acme' });
      await eventually(async () => expect(heard.completed).toHaveLength(1));
      expect(heard.before).toBe(2_500);
      expect(heard.most).toBeLessThanOrEqual(500);
      expect(heard.changes.map(({ recipient }) => recipient)).toEqual(to);
      for (const [position, change] of heard.changes.entries())
        expect(change).toMatchObject({
          tenant: 'acme',
          channel: 'sms',
          batchId: id,
          messageId: `${id}-${position}`,
          sender: 'ACME',
          previous: 'queued',
          status: 'cancelled',
          sequence: 1,
          deliveryReport: true,
          errorCode: null,
          providerId: null,
        });
      expect((await sms.batch(id, { tenant: 'acme' })).counts).toEqual({ cancelled: 2_500 });
      await sms.cancel(id, { tenant: 'acme' });
      await sms.cancel(id, { tenant: 'acme' });
      expect(heard.completed).toHaveLength(1);
      expect(heard.changes).toHaveLength(2_500);
    } finally {
      await app.close();
    }
  });

  it('a cancel publishes no event for a message in flight, and one for each other message', async () => {
    const gate = new Gate();
    const transport = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: 3_600_000 });
    transport.script = () => gate.opened;
    const app = await boot(transport);
    try {
      const [sms, heard] = [app.get(SmsService), heardOf(app)];
      const to = numbers(3_000);
      const { id } = await sms.send({ from: 'ACME', to, body: 'Now' });
      await eventually(async () => expect(transport.started).toHaveLength(1));
      await sms.cancel(id);
      gate.open();
      const ends = () => heard.changes.filter(({ status }) => status !== 'sending');
      // Prepared messages count as started.
      await eventually(async () => expect(ends()).toHaveLength(3_000));
      expect(new Set(ends().map(({ messageId }) => messageId)).size).toBe(3_000);
      const cancelled = ends().filter(({ status }) => status === 'cancelled');
      const { counts } = await sms.batch(id);
      expect(counts).toEqual({ sent: 3_000 - cancelled.length, cancelled: cancelled.length });
      expect(cancelled.length).toBeGreaterThan(2_000);
      expect(cancelled.map(({ messageId }) => messageId)).not.toContain(`${id}-0`);
      expect(new Set(cancelled.map(({ sequence }) => sequence))).toEqual(new Set([1]));
    } finally {
      await app.close();
    }
  });

  it('a stop waits until the events of a cancel are published', async () => {
    const app = await boot();
    const [sms, heard] = [app.get(SmsService), heardOf(app)];
    const { id } = await sms.send({ from: 'ACME', to: numbers(4_000), body: 'x', sendAt: later() });
    await sms.cancel(id);
    await app.close();
    expect(heard.changes).toHaveLength(4_000);
    expect(heard.completed).toMatchObject([{ batchId: id }]);
  });
});
