import { expect, it } from '@jest/globals';
import {
  EmailService,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_STATUS_LISTENER,
  type MessageStatusChanged,
  MessagingModule,
  simulator,
  SmsService,
  type StatusListener,
} from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

class After {
  readonly events: MessageStatusChanged[] = [];

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onChange(change: MessageStatusChanged): void {
    if (change.sequence > 0) this.events.push(change);
  }
}

class Within implements StatusListener {
  readonly events: MessageStatusChanged[] = [];

  async onStatusChanged(changes: readonly MessageStatusChanged[]): Promise<void> {
    this.events.push(...changes);
  }
}

@Module({ providers: [After] })
class AfterModule {}

@Module({
  providers: [After, Within, { provide: MESSAGING_STATUS_LISTENER, useExisting: Within }],
})
class WithinModule {}

describeOneDatabase('the events of an email', (database) => {
  it.each([
    ['after the commit', AfterModule],
    ['in the transaction and after it', WithinModule],
  ])(
    'the events of an email have its tags and metadata, for listeners %s',
    async (_, listeners) => {
      const app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
          listeners,
          MessagingModule.forRoot({
            transport: simulator({ reportDelay: 5 }),
            callbackPath: false,
          }),
        ],
      }).compile();
      await app.init();
      try {
        const email = app.get(EmailService);
        const text = { from: 'shop@shop.example', subject: 'Hello', text: 'Hello' };
        const to = ['ada@example.com', 'delayed@example.com', 'full@example.com'];
        const labels = { tags: ['order', 'vip'], metadata: { order: '1001' } };
        const labelled = await email.send({ ...text, recipients: to, ...labels });
        const plain = await email.send({ ...text, to: 'ada@example.com' });
        const sms = await app
          .get(SmsService)
          .send({ from: 'ACME', to: '2348012345678', body: 'Hello' });
        const after = app.get(After, { strict: false });
        const of = ({ events }: Pick<After, 'events'>, { id }: { readonly id: string }) =>
          events.filter(({ batchId }) => batchId === id);
        await eventually(async () => {
          // Delivered with two events, delayed with three, bounced with two.
          expect(of(after, labelled)).toHaveLength(7);
          expect(of(after, plain)).toHaveLength(2);
          expect(of(after, sms)).toHaveLength(2);
        });
        const within = listeners === WithinModule ? [app.get(Within, { strict: false })] : [];
        for (const heard of [after, ...within]) {
          expect(of(heard, labelled)).toHaveLength(7);
          for (const event of of(heard, labelled)) expect(event).toMatchObject(labels);
          for (const event of [...of(heard, plain), ...of(heard, sms)])
            expect(Object.keys(event)).not.toContain('tags');
          const sequences = of(heard, labelled)
            .filter(({ recipient }) => recipient === 'delayed@example.com')
            .map(({ sequence }) => sequence);
          expect(sequences).toEqual([1, 2, 3]);
        }
      } finally {
        await app.close();
      }
    },
  );
});
