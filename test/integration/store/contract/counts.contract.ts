import assert from 'node:assert/strict';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import { accepted, headOf, type StoreBench, type StoreContract } from './store-bench.js';

/** Recipients of a large batch, and of each of its submissions. */
const LARGE = 1_200;
const SHARE = 400;

export function countsContract({ describe, test }: StoreContract): void {
  describe('counts of large batches', () => {
    const listed = async (bench: StoreBench, store: MessageStore, id: string) => {
      const { tenant } = bench.scope;
      const { data } = await store.reads.batches({ tenants: [tenant] }, { limit: 100 });
      return data.find((batch) => batch.id === id)?.counts;
    };
    /** In the list, by its id, and counted message by message. */
    const expectCounts = async (
      bench: StoreBench,
      store: MessageStore,
      id: string,
      counts: Record<string, number>,
    ) => {
      assert.deepEqual(await listed(bench, store, id), counts);
      assert.deepEqual((await store.reads.batch(id, bench.scope)).counts, counts);
      const ends = await store.database.all(
        'SELECT status FROM messaging_batch_count WHERE batch = ? AND kind = 1',
        [id],
      );
      assert.ok(ends.length > 0, 'the counts are stored');
      const rows = await store.database.all<{ status: number; messages: string | number }>(
        'SELECT status, count(*) AS messages FROM messaging_message WHERE batch = ? GROUP BY status',
        [id],
      );
      for (const { status, messages } of rows)
        assert.equal(counts[store.database.channels.nameOf(status)], Number(messages));
    };
    const reportsOf = (
      bench: StoreBench,
      id: string,
      from: number,
      to: number,
      status: 'delivered' | 'undelivered',
    ) =>
      Array.from({ length: to - from }, (_, n) => ({
        reference: `ref-${id}-s${Math.floor((from + n) / SHARE)}`,
        recipient: bench.to(from + n),
        status,
      }));

    for (const fastPaths of [true, false])
      test(`the counts of a completed batch stay right with later reports, repeated and concurrent, ${fastPaths ? 'by the fast path' : 'by the slow path'}`, async (bench) => {
        const stores = [await bench.open({ fastPaths }), await bench.open({ fastPaths })] as const;
        const [store, other] = stores;
        const id = await bench.enqueue(store, LARGE);
        const started = await bench.intend(store, SHARE, LARGE);
        assert.equal(await listed(bench, store, id), null);
        assert.deepEqual((await store.reads.batch(id, bench.scope)).counts, { sending: LARGE });
        // Reports before the answer, and beside the end of the batch.
        await bench.report(
          store,
          ...reportsOf(bench, id, 0, 10, 'undelivered').map((report, n) => ({
            ...report,
            reference: null,
            submissionId: `${id}-s0`,
            recipient: bench.to(n),
          })),
        );
        const [last, ...others] = started.toReversed();
        for (const one of others) await store.outcomes.record(accepted(one, false));
        await Promise.all([
          store.outcomes.record(accepted(last!, false)),
          bench.report(other, ...reportsOf(bench, id, 0, 100, 'delivered')),
          bench.report(store, ...reportsOf(bench, id, 50, 150, 'delivered')),
        ]);
        await expectCounts(bench, store, id, { sent: LARGE - 150, delivered: 150 });
        await Promise.all(
          stores.map((each) =>
            bench.report(each, ...reportsOf(bench, id, 100, 500, 'undelivered')),
          ),
        );
        await expectCounts(bench, store, id, { sent: 700, delivered: 150, undelivered: 350 });
        await bench.report(store, ...reportsOf(bench, id, 400, LARGE, 'delivered'));
        await bench.report(store, ...reportsOf(bench, id, 0, LARGE, 'undelivered'));
        await expectCounts(bench, store, id, { delivered: 950, undelivered: 250 });
      });

    test('an outcome that comes after the end changes the stored counts', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, LARGE);
      const started = await bench.intend(store, SHARE, LARGE);
      for (const one of started)
        await store.outcomes.record({ ...headOf(one), result: 'unknown', errorCode: 'timeout' });
      await expectCounts(bench, store, id, { unknown: LARGE });
      await store.outcomes.record(accepted(started[1]!, false));
      await expectCounts(bench, store, id, { unknown: LARGE - SHARE, sent: SHARE });
    });

    test('a batch in one submission has stored counts', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, LARGE);
      const [whole] = await bench.intend(store, LARGE, LARGE);
      await store.outcomes.record(accepted(whole!, false));
      await expectCounts(bench, store, id, { sent: LARGE });
    });

    test('a cancelled batch has counts once its requests have ended', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, LARGE);
      const [first] = await bench.intend(store, SHARE, SHARE);
      await store.batches.cancel(id, bench.scope);
      assert.deepEqual(await listed(bench, store, id), {
        sending: SHARE,
        cancelled: LARGE - SHARE,
      });
      await store.outcomes.record(accepted(first!, false));
      await expectCounts(bench, store, id, { sent: SHARE, cancelled: LARGE - SHARE });
      await bench.report(store, ...reportsOf(bench, id, 0, 5, 'delivered'));
      await expectCounts(bench, store, id, {
        sent: SHARE - 5,
        delivered: 5,
        cancelled: LARGE - SHARE,
      });
      const waiting = await bench.enqueue(store, LARGE);
      await store.batches.cancel(waiting, bench.scope);
      await expectCounts(bench, store, waiting, { cancelled: LARGE });
    });

    test('retention deletes the counts with the batch, and keeps them with its messages', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, LARGE);
      for (const one of await bench.intend(store, SHARE, LARGE))
        await store.outcomes.record(accepted(one, false));
      const age = () =>
        store.database.transaction((tx) =>
          tx.run(
            'UPDATE messaging_batch SET poll_at = NULL, completed_at = completed_at - ? WHERE id = ?',
            [10_000_000_000, id],
          ),
        );
      await age();
      while (await store.purge.step(100));
      const rows = await store.database.all(
        'SELECT status FROM messaging_batch_count WHERE batch = ?',
        [id],
      );
      assert.deepEqual(rows, []);
    });
  });
}
