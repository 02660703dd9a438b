import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { NewBatch } from '../../../libs/messaging/src/ledger/new-batch.js';
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

  it.each([false, true])(
    'of which the database refuses one: that one fails alone, keyed: %s',
    async (keyed) => {
      const { ledger, sms } = await fixture.boot({ dispatch: false });
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
        batches.map((batch) => ledger.acceptance.accept(batch)),
      );
      expect(results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([23]);
      const { data } = await sms.batches({ limit: 100 });
      expect(data).toHaveLength(39);
    },
  );
});
