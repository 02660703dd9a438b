import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { NewBatch } from '../../../libs/messaging/src/store/new-batch.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture } from './dispatch-fixture.js';

describeEachDatabase('sends that come together', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('are each durable when they resolve: another process reads them', async () => {
    const { send, sms, transport } = await fixture.boot();
    const other = await fixture.boot({ dispatch: false });
    const ids = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const id = await send(String(n));
        expect(await other.sms.batch(id)).toMatchObject({ id, recipients: 1 });
        return id;
      }),
    );
    expect(new Set(ids).size).toBe(100);
    for (const id of ids)
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect(transport.started).toHaveLength(100);
  });

  it('whose commit was not told of, twice: each is stored once, and resolves', async () => {
    const { store, sms, send } = await fixture.boot({ dispatch: false });
    let losses = 2;
    const losing =
      <A extends unknown[], R>(work: (...of: A) => Promise<R>) =>
      async (...of: A): Promise<R> => {
        const done = await work(...of);
        if (losses-- > 0)
          throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
        return done;
      };
    const { database } = store;
    Object.assign(database.standalone, { all: losing(database.standalone.all) });
    database.transaction = losing(
      database.transaction.bind(database),
    ) as typeof database.transaction;
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send(String(n))));
    expect(losses).toBeLessThan(0);
    const { data } = await sms.batches({ limit: 100 });
    expect(data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it.each([false, true])(
    'of which the database refuses one: that one fails alone, keyed: %s',
    async (keyed) => {
      const { store, sms } = await fixture.boot({ dispatch: false });
      const batches = Array.from({ length: 40 }, (_, n): NewBatch => ({
        id: `019f0000-0000-7000-8000-${String(n).padStart(12, '0')}`,
        tenant: '',
        channel: 'sms',
        lane: ':sms',
        class: 'normal',
        // No database takes a batch without a sender.
        sender: n === 23 ? (null as unknown as string) : 'ACME',
        content: JSON.stringify({ kind: 'text', text: String(n) }),
        deliveryReport: true,
        parts: 1,
        recipients: ['2348012345678'],
        denied: [],
        createdAt: Date.now(),
        sendAt: null,
        validFor: null,
        idempotencyKey: keyed ? `key-${n}` : null,
        fingerprint: keyed ? 'same' : null,
      }));
      const results = await Promise.allSettled(
        batches.map((batch) => store.newBatches.enqueue(batch)),
      );
      expect(results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([23]);
      const { data } = await sms.batches({ limit: 100 });
      expect(data).toHaveLength(39);
    },
  );

  it.each([false, true])(
    'keep what is their own, however much they share; keyed: %s',
    async (keyed) => {
      const { store } = await fixture.boot({ dispatch: false });
      const at = Date.now();
      const plain = {
        tenant: 'acme',
        channel: 'sms',
        lane: 'acme:sms',
        class: 'normal',
        sender: 'ACME',
        deliveryReport: true,
        parts: 1,
        denied: [],
        sendAt: null,
        validFor: null,
      } as const;
      const different: Partial<NewBatch>[] = [
        {},
        { tenant: 'other', lane: 'other:sms' },
        { class: 'high' },
        { sender: 'Other 1' },
        { deliveryReport: false },
        { parts: 3 },
        { sendAt: at + 3_600_000 },
        { validFor: 60_000 },
      ];
      const made = Array.from({ length: 80 }, (_, n): NewBatch => ({
        ...plain,
        ...different[n < 40 ? 0 : n % different.length],
        id: `019f0000-0000-7000-8000-${String(n).padStart(12, '0')}`,
        content: JSON.stringify({ kind: 'text', text: `"${n}" \\ {a,b}\n'é€😀` }),
        recipients: Array.from({ length: n === 79 ? 1_001 : 1 + (n % 2) }, (_, r) =>
          String(2_348_010_000_000 + n * 2_000 + r),
        ),
        createdAt: at + (n % 3),
        idempotencyKey: keyed ? `key-${n}` : null,
        fingerprint: keyed ? `print-${n}` : null,
      }));
      await Promise.all(made.map((batch) => store.newBatches.enqueue(batch)));
      const rows = await store.database.all<Record<string, unknown>>(
        `SELECT id, tenant, lane, priority, sender, content, delivery_report, parts, recipient_count,
          created_at, send_at, available_at, valid_until, idempotency_key, fingerprint
          FROM messaging_batch ORDER BY id`,
      );
      const chunks = await store.database.all<{ batch: string; n: number; recipients: string }>(
        'SELECT batch, n, recipients FROM messaging_batch_chunk ORDER BY batch, n',
      );
      const number = (value: unknown) => (value === null ? null : Number(value));
      expect(
        rows.map((row) => ({
          ...row,
          created_at: number(row['created_at']),
          send_at: number(row['send_at']),
          available_at: Number(row['available_at']) > (at + 3_000_000) * 1_000,
          valid_until: row['valid_until'] !== null,
        })),
      ).toEqual(
        made.map((batch) => ({
          id: batch.id,
          tenant: batch.tenant,
          lane: batch.lane,
          priority: batch.class === 'high' ? 0 : 1,
          sender: batch.sender,
          content: batch.content,
          delivery_report: batch.deliveryReport ? 1 : 0,
          parts: batch.parts,
          recipient_count: batch.recipients.length,
          created_at: batch.createdAt * 1_000,
          send_at: batch.sendAt === null ? null : batch.sendAt * 1_000,
          available_at: batch.sendAt !== null,
          valid_until: batch.validFor !== null,
          idempotency_key: batch.idempotencyKey,
          fingerprint: batch.fingerprint,
        })),
      );
      expect(chunks.filter(({ batch }) => batch === made[79]?.id).map(({ n }) => n)).toEqual([
        0, 1,
      ]);
      for (const { id, recipients } of made)
        expect(
          chunks
            .filter(({ batch }) => batch === id)
            .flatMap((chunk) => chunk.recipients.split('\n')),
        ).toEqual(recipients);
    },
  );
});
