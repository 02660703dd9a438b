import assert from 'node:assert/strict';
import { LaneLostError } from '../../../../libs/messaging/src/store/verbs/intents.js';
import { accepted, type StoreContract } from './store-bench.js';

export function intendContract({ describe, test }: StoreContract): void {
  describe('intend', () => {
    test('intents of single and of several messages leave the same rows by the fast path and the slow path', async (bench) => {
      const rows: unknown[] = [];
      for (const fastPaths of [true, false]) {
        const store = await bench.open({ fastPaths });
        const singles = [await bench.enqueue(store), await bench.enqueue(store)];
        await bench.intend(store);
        const mixed = [await bench.enqueue(store), await bench.enqueue(store, 2)];
        await bench.intend(store, 2);
        rows.push(await Promise.all([...singles, ...mixed].map((id) => bench.rows(store, id))));
      }
      assert.deepEqual(rows[0], rows[1]);
    });

    for (const fastPaths of [true, false])
      test(`no message of a lane that another process has taken starts, fast paths: ${fastPaths}`, async (bench) => {
        const [store, next] = [await bench.open({ fastPaths }), await bench.open()];
        const id = await bench.enqueue(store);
        const lost = bench.intend(store, 1, 100, () => bench.takeOver(next));
        await assert.rejects(lost, LaneLostError);
        await bench.expectBatch(store, id, 'queued', { queued: 1 });
      });
  });

  describe('after a crash', () => {
    test('the next holder finds the unanswered submissions, and their outcome completes the batch', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 2);
      const [submission] = await bench.intend(store, 2);
      const next = await bench.open();
      const [left, ...others] = await next.work.unanswered(bench.lane);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [left?.batch, left?.recipients.map(({ recipient }) => recipient)],
        [id, [bench.to(0), bench.to(1)]],
      );
      await next.outcomes.record(accepted(submission!, false));
      assert.deepEqual(await next.work.unanswered(bench.lane), []);
      await bench.expectBatch(next, id, 'completed', { sent: 2 });
    });
  });
}
