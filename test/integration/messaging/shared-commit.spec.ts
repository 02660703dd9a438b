import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  MessagingModule,
  type SendOptions,
  simulator,
  type SmsMessage,
  SmsService,
} from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';

const HOUR = 3_600_000;

interface Asked {
  readonly message: SmsMessage;
  readonly options: SendOptions;
}

describeEachDatabase('sends that share a commit', (database) => {
  let app: TestingModule;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          transport: simulator(),
          dispatch: { enabled: false },
          callbackPath: false,
        }),
      ],
    }).compile();
    await app.init();
  });
  afterAll(() => app.close());

  it('different sends in one commit are each stored as requested', async () => {
    const sendAt = new Date(Date.now() + HOUR);
    const plain: Asked = {
      message: { from: 'ACME', to: '2348012345678', body: 'Hi' },
      options: {},
    };
    const unlike: Asked[] = [
      { ...plain, options: { tenant: 'acc_2' } },
      { ...plain, options: { class: 'high' } },
      { ...plain, options: { validFor: HOUR } },
      { ...plain, options: { idempotencyKey: 'one' } },
      { ...plain, options: { tenant: 'acc_2', idempotencyKey: 'one', validFor: 2 * HOUR } },
      { ...plain, message: { ...plain.message, from: 'OTHER' } },
      { ...plain, message: { ...plain.message, sendAt } },
      { message: { ...plain.message, sendAt }, options: { validFor: HOUR } },
      { ...plain, message: { ...plain.message, deliveryReport: false } },
      { ...plain, message: { ...plain.message, body: `"\\\n'${'x'.repeat(200)}€` } },
      { ...plain, message: { ...plain.message, to: ['2348012345678', '2348012345679'] } },
    ];
    const asked = [plain, ...unlike, plain, ...unlike.filter((one) => !one.options.idempotencyKey)];
    const sms = app.get(SmsService);
    const receipts = await Promise.all(
      asked.map(({ message, options }) => sms.send(message, options)),
    );
    const rows = await app
      .get(DataSource)
      .query<Record<string, unknown>[]>(
        'SELECT b.*, c.recipients FROM messaging_batch b JOIN messaging_batch_chunk c ON c.batch = b.id',
      );
    expect(rows).toHaveLength(asked.length);
    const byId = new Map(rows.map((row) => [row['id'], row]));
    receipts.forEach(({ id, createdAt }, index) => {
      const { message, options } = asked[index] as Asked;
      const row = byId.get(id) as Record<string, unknown>;
      const { tenant = '', validFor } = options;
      const available = Number(row['available_at']);
      expect({
        ...row,
        fingerprinted: /^[0-9a-f]{64}$/.test(String(row['fingerprint'])),
        waits: available >= sendAt.getTime() * 1_000,
        content: JSON.parse(row['content'] as string) as unknown,
        created_at: Number(row['created_at']),
        send_at: row['send_at'] === null ? null : Number(row['send_at']),
        // PostgreSQL's clock goes on within a statement, however long that stands still.
        lasts:
          row['valid_until'] === null
            ? null
            : Math.round((Number(row['valid_until']) - available) / 1_000 / HOUR) * HOUR,
      }).toMatchObject({
        tenant,
        channel: 'sms',
        lane: `${tenant}:sms`,
        priority: options.class === 'high' ? 0 : 1,
        sender: message.from,
        content: { kind: 'text', text: message.body },
        delivery_report: message.deliveryReport === false ? 0 : 1,
        parts: message.body.length > 160 ? 2 : 1,
        recipient_count: [message.to].flat().length,
        recipients: [message.to].flat().join('\n'),
        created_at: createdAt.getTime() * 1_000,
        send_at: message.sendAt ? sendAt.getTime() * 1_000 : null,
        lasts: validFor ?? null,
        idempotency_key: options.idempotencyKey ?? null,
        denied: 0,
        fingerprinted: options.idempotencyKey !== undefined,
        waits: message.sendAt !== undefined,
        state: 0,
      });
    });
  });
});
