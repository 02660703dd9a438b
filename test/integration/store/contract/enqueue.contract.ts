import assert from 'node:assert/strict';
import { systemClock } from '../../../../libs/messaging/src/ports/clock.js';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import { ConcurrentChangeError } from '../../../../libs/messaging/src/store/database/concurrent-change.error.js';
import {
  insertion,
  into,
  updateOf,
} from '../../../../libs/messaging/src/store/database/dialect.js';
import type { NewBatch, OwnRows } from '../../../../libs/messaging/src/store/rows/new-batch.js';
import type { StoreContract } from './store-bench.js';

export function enqueueContract({ describe, test }: StoreContract): void {
  describe('enqueue', () => {
    for (const keyed of [false, true]) {
      const kind = keyed ? 'with keys' : 'without keys';

      test(`batches ${kind} that share a commit keep their own values, on the fast and the slow path`, async (bench) => {
        const at = Date.now();
        const different: Partial<NewBatch>[] = [
          {},
          { lane: `${bench.lane}:2` },
          { class: 'high' },
          { sender: 'Other 1' },
          { deliveryReport: false },
          { parts: 3 },
          { sendAt: at + 3_600_000 },
          { validFor: 60_000 },
        ];
        const made = (part: string) =>
          Array.from({ length: 48 }, (_, n) => ({
            ...different[n < 20 ? 0 : n % different.length],
            id: systemClock.id(),
            content: { kind: 'text', text: `"${n}" \\ {a,b}\n'é€😀` } as const,
            recipients: Array.from({ length: n === 47 ? 1_001 : 1 + (n % 2) }, (_, to) =>
              bench.to(to),
            ),
            createdAt: at + (n % 3),
            idempotencyKey: keyed ? `key-${part}-${n}` : null,
            fingerprint: keyed ? `print-${n}` : null,
          }));
        const stored = await Promise.all(
          [true, false].map(async (fastPaths) => {
            const store = await bench.open({ fastPaths });
            const batches = made(String(fastPaths));
            await Promise.all(batches.map((batch) => bench.enqueue(store, 1, batch)));
            return Promise.all(batches.map(({ id }) => bench.enqueuedRows(store, id, at)));
          }),
        );
        assert.deepEqual(stored[0], stored[1]);
        const chunks = stored[0]?.map(({ recipients }) => recipients.length);
        assert.deepEqual([chunks?.[0], chunks?.[47]], [1, 2]);
      });

      test(`a batch ${kind} that the database refuses fails alone among those that share its commit`, async (bench) => {
        const store = await bench.open();
        const results = await Promise.allSettled(
          Array.from({ length: 40 }, (_, n) =>
            bench.enqueue(store, 1, {
              // No database stores a batch without a sender.
              ...(n === 23 && { sender: null as unknown as string }),
              ...(keyed && { idempotencyKey: `key-${n}`, fingerprint: 'same' }),
            }),
          ),
        );
        assert.deepEqual(
          results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : [])),
          [23],
        );
        const { data } = await store.reads.batches(
          { tenants: [bench.scope.tenant] },
          { limit: 100 },
        );
        assert.equal(data.length, 39);
      });
    }

    for (const fastPaths of [true, false])
      test(`rows of a channel are stored with their batch if their guard holds, fast paths: ${fastPaths}`, async (bench) => {
        const store = await bench.open({ fastPaths });
        const { tenant } = bench.scope;
        const guarded = await bench.enqueue(store, 1);
        const storeOn = async (revision: number) => {
          const batch = bench.batch(1);
          const own = ownRowsOf(store, batch, [[guarded, revision]]);
          await store.newBatches.storeWith([batch], own);
          return batch.id;
        };
        const tags = () =>
          store.database.all<{ batch: string }>(
            'SELECT l.batch FROM messaging_batch_label l WHERE l.tenant = ? ORDER BY l.batch',
            [tenant],
          );
        const results = await Promise.allSettled([storeOn(0), storeOn(0), storeOn(7)]);
        const stored = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
        assert.equal(stored.length, 1);
        for (const one of results)
          if (one.status === 'rejected') assert.ok(one.reason instanceof ConcurrentChangeError);
        const next = await storeOn(1);
        assert.deepEqual(
          (await tags()).map(({ batch }) => batch),
          [...stored, next].toSorted(),
        );
        const { data } = await store.reads.batches({ tenants: [tenant] }, { limit: 100 });
        assert.deepEqual(
          data.map(({ id }) => id).toSorted(),
          [guarded, ...stored, next].toSorted(),
        );
      });

    for (const fastPaths of [true, false])
      test(`a guard of which one row has changed changes none, fast paths: ${fastPaths}`, async (bench) => {
        const store = await bench.open({ fastPaths });
        const [changed, other] = [await bench.enqueue(store, 1), await bench.enqueue(store, 1)];
        const batch = bench.batch(1);
        const own = ownRowsOf(store, batch, [
          [changed, 1],
          [other, 0],
        ]);
        await assert.rejects(store.newBatches.storeWith([batch], own), ConcurrentChangeError);
        const next = ownRowsOf(store, batch, [
          [changed, 0],
          [other, 0],
        ]);
        await store.newBatches.storeWith([batch], next);
        const { data } = await store.reads.batches(
          { tenants: [bench.scope.tenant] },
          { limit: 100 },
        );
        assert.deepEqual(
          data.map(({ id }) => id).toSorted(),
          [changed, other, batch.id].toSorted(),
        );
      });
  });
}

/** A tag of the batch, where other batches have their revisions, which go up. */
function ownRowsOf(
  { database: { dialect } }: MessageStore,
  batch: NewBatch,
  guarded: readonly (readonly [batch: string, revision: number])[],
): OwnRows {
  const guard = updateOf(
    dialect,
    { v_id: 'uuid', v_revision: 'int' },
    {
      table: 'messaging_batch',
      set: 'revision = revision + 1',
      where: 'id = v_id AND revision = v_revision',
      lockedBy: 'id',
    },
  );
  const columns = { v_batch: 'uuid', v_n: 'int', v_tenant: 'key', v_tag: 'key' } as const;
  const insert = insertion(dialect, into('batch_label', columns), columns);
  return {
    guard: {
      statement: guard(guarded.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      rows: guarded.length,
    },
    insert: insert([[batch.id, 0, batch.tenant, 'own']]),
  };
}
