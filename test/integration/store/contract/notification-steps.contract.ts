import assert from 'node:assert/strict';
import { systemClock } from '../../../../libs/messaging/src/ports/clock.js';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import { accepted, headOf, type StoreBench, type StoreContract } from './store-bench.js';

export function notificationStepsContract({ describe, test }: StoreContract): void {
  describe('steps of notifications', () => {
    const begin = async (bench: StoreBench, store: MessageStore): Promise<[string, string]> => {
      const notification = systemClock.id();
      await store.database.transaction((tx) =>
        tx.run(
          `INSERT INTO messaging_notification (id, tenant, status, steps, created_at, due_at)
           VALUES (?, ?, 'pending', '[]', 1, 2)`,
          [notification, bench.scope.tenant],
        ),
      );
      return [notification, await bench.enqueue(store, 1, { notification })];
    };
    const dueAt = async (store: MessageStore, notification: string) => {
      const [row] = await store.database.all<{ dueAt: string | number | null }>(
        'SELECT n.due_at AS "dueAt" FROM messaging_notification n WHERE n.id = ?',
        [notification],
      );
      return Number(row?.dueAt);
    };

    for (const fastPaths of [true, false])
      test(`a report that ends a step makes its notification due, fast paths: ${fastPaths}`, async (bench) => {
        const store = await bench.open({ fastPaths });
        const [first] = await begin(bench, store);
        const [second, batch] = await begin(bench, store);
        await bench.enqueue(store);
        for (const started of await bench.intend(store))
          await store.outcomes.record(accepted(started));
        assert.deepEqual([await dueAt(store, first), await dueAt(store, second)], [2, 2]);
        await bench.report(store, { submissionId: `${batch}-s0`, recipient: bench.to(0) });
        assert.deepEqual([await dueAt(store, first), await dueAt(store, second)], [2, 0]);
      });

    test('a refusal and a cancel of a step make its notification due', async (bench) => {
      const store = await bench.open();
      const [refused] = await begin(bench, store);
      for (const started of await bench.intend(store))
        await store.outcomes.record({ ...headOf(started), result: 'rejected', errorCode: 'no' });
      const [cancelled, batch] = await begin(bench, store);
      await store.batches.cancel(batch, bench.scope);
      assert.deepEqual([await dueAt(store, refused), await dueAt(store, cancelled)], [0, 0]);
    });

    test('queued steps are cancelled together, and started steps are not', async (bench) => {
      const store = await bench.open();
      const [, started] = await begin(bench, store);
      await bench.intend(store);
      const [, queued] = await begin(bench, store);
      const cancelled = await store.database.transaction((tx) =>
        store.batches.cancelQueued(tx, [started, queued]),
      );
      store.batches.publish(cancelled);
      assert.deepEqual(
        cancelled.map(({ rest }) => rest.id),
        [queued],
      );
      await bench.expectBatch(store, queued, 'cancelled', { cancelled: 1 });
      await bench.expectBatch(store, started, 'sending', { sending: 1 });
    });
  });
}
