import assert from 'node:assert/strict';
import { systemClock } from '../../../../libs/messaging/src/ports/clock.js';
import { StatusListeners } from '../../../../libs/messaging/src/ports/listeners.js';
import type { Cancellation } from '../../../../libs/messaging/src/store/verbs/cancellations.js';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import {
  accepted,
  PROVIDER,
  type Started,
  type StoreBench,
  type StoreContract,
} from './store-bench.js';

export function cancelContract({ describe, test }: StoreContract): void {
  describe('cancel and reschedule', () => {
    test('a batch that was cancelled or moved after it was planned does not start, and other planned batches do', async (bench) => {
      const store = await bench.open();
      const [kept, cancelled, moved] = [
        await bench.enqueue(store),
        await bench.enqueue(store),
        await bench.enqueue(store),
      ];
      const started = await bench.intend(store, 1, 100, async () => {
        await store.batches.cancel(cancelled, bench.scope);
        await store.batches.reschedule(moved, bench.scope, new Date(Date.now() + 3_600_000));
      });
      assert.deepEqual(
        started.map(({ batch }) => batch),
        [kept],
      );
      await bench.expectBatch(store, cancelled, 'cancelled', { cancelled: 1 });
      await bench.expectBatch(store, moved, 'scheduled', { queued: 1 });
      await bench.expectBatch(store, kept, 'sending', { sending: 1 });
    });

    test('a listener is told of messages that are cancelled before they started, by batch and in the transaction', async (bench) => {
      const listeners = new StatusListeners();
      const heard: (readonly [string, string | null, number])[] = [];
      let fails = true;
      listeners.add({
        onStatusChanged: () => Promise.resolve(),
        onCancelled: (batches) => {
          if (fails) return Promise.reject(new Error('The listener fails'));
          heard.push(
            ...batches.map(
              ({ batchId, recipient, messages }) => [batchId, recipient, messages] as const,
            ),
          );
          return Promise.resolve();
        },
      });
      const store = await bench.open({ listeners });
      const [one, several] = [await bench.enqueue(store), await bench.enqueue(store, 3)];
      await assert.rejects(store.batches.cancel(one, bench.scope), /The listener fails/);
      await bench.expectBatch(store, one, 'queued', { queued: 1 });
      fails = false;
      for (const id of [one, several, one]) await store.batches.cancel(id, bench.scope);
      assert.deepEqual(heard, [
        [one, bench.to(0), 1],
        [several, null, 3],
      ]);
    });

    test('a cancelled batch can be cancelled again, and a started one cannot be cancelled', async (bench) => {
      const store = await bench.open();
      const [open, started] = [await bench.enqueue(store), await bench.enqueue(store)];
      await Promise.all([1, 2].map(() => store.batches.cancel(open, bench.scope)));
      await bench.intend(store);
      const code = { code: 'already_sent' };
      await assert.rejects(store.batches.cancel(started, bench.scope), code);
      await assert.rejects(store.batches.reschedule(started, bench.scope, new Date()), code);
    });
  });

  describe('cancels at providers', () => {
    const opened = (bench: StoreBench, channel = 'sms'): Promise<MessageStore> =>
      bench.open({ cancelling: [{ name: PROVIDER, channels: [channel] }] });
    const accept = async (store: MessageStore, started: readonly Started[]): Promise<void> => {
      for (const one of started) await store.outcomes.record(accepted(one));
    };
    const next = async (store: MessageStore): Promise<Cancellation> => {
      const found = await store.cancellations.nextDue(PROVIDER);
      assert(found);
      return found;
    };
    const openOf = async (store: MessageStore): Promise<string[]> => {
      const { submissions } = await store.cancellations.accepted(await next(store));
      return submissions.map(({ submissionId }) => submissionId);
    };
    const end = async (store: MessageStore): Promise<void> => {
      const found = await next(store);
      await store.cancellations.answered(found, (await store.cancellations.accepted(found)).last);
    };
    const isEmpty = async (store: MessageStore): Promise<boolean> =>
      (await store.cancellations.firstDue()).length === 0;

    test('a cancel requests the cancel of messages that the provider has accepted and that have not ended', async (bench) => {
      const store = await opened(bench);
      const id = await bench.enqueue(store, 4);
      await accept(store, await bench.intend(store, 1, 3));
      await bench.report(store, { submissionId: `${id}-s1`, recipient: bench.to(1) });
      const { status } = await store.batches.cancel(id, bench.scope);
      assert.equal(status, 'cancelled');
      await bench.expectBatch(store, id, 'cancelled', { sent: 2, delivered: 1, cancelled: 1 });
      const other = await opened(bench);
      assert.deepEqual(await openOf(other), [`${id}-s0`, `${id}-s2`]);
      await end(other);
      assert(await isEmpty(store));
    });

    test('a cancel after all messages have started requests their cancel by the provider', async (bench) => {
      const store = await opened(bench);
      const id = await bench.accepted(store, 1);
      const code = { code: 'already_sent' };
      await assert.rejects(store.batches.cancel(id, bench.scope), code);
      await assert.rejects(store.batches.cancel(id, bench.scope), code);
      assert.deepEqual(await openOf(store), [`${id}-s0`]);
      await end(store);
      assert(await isEmpty(store));
    });

    test('no cancel is requested of messages that have not started, have ended, are on another channel or are steps', async (bench) => {
      const store = await opened(bench);
      const waiting = await bench.enqueue(store);
      await store.batches.cancel(waiting, bench.scope);
      const ended = await bench.accepted(store, 1);
      await store.database.transaction((tx) =>
        tx.run('UPDATE messaging_batch SET poll_at = NULL WHERE id = ?', [ended]),
      );
      await assert.rejects(store.batches.cancel(ended, bench.scope));
      const step = await bench.accepted(store, 1, { notification: systemClock.id() });
      await assert.rejects(store.batches.cancel(step, bench.scope));
      const ofCalls = await opened(bench, 'calls');
      const other = await bench.accepted(ofCalls, 1);
      await assert.rejects(ofCalls.batches.cancel(other, bench.scope));
      assert(await isEmpty(store));
    });

    test('a cancel that is rolled back requests no cancel by the provider', async (bench) => {
      const store = await opened(bench);
      const id = await bench.enqueue(store, 2);
      await accept(store, await bench.intend(store, 1, 1));
      const failure = new Error('The caller fails');
      await assert.rejects(
        store.batches.cancel(id, bench.scope, () => Promise.reject(failure)),
        failure,
      );
      assert(await isEmpty(store));
    });

    test('a cancel of a message in flight is requested once it is accepted', async (bench) => {
      const store = await opened(bench);
      const id = await bench.enqueue(store, 3);
      const [first, second] = await bench.intend(store, 1, 2);
      await store.outcomes.record(accepted(first!));
      await store.batches.cancel(id, bench.scope);
      assert.deepEqual(await openOf(store), [`${id}-s0`]);
      await end(store);
      const [row] = await store.cancellations.firstDue();
      assert(row && row.dueIn > 0);
      await store.outcomes.record(accepted(second!));
      await store.database.transaction((tx) =>
        tx.run('UPDATE messaging_cancellation SET due_at = 0'),
      );
      assert.deepEqual(await openOf(store), [`${id}-s1`]);
      await end(store);
      assert(await isEmpty(store));
    });

    test('a failed cancel request is due later, and after three days no more', async (bench) => {
      const store = await opened(bench);
      const id = await bench.accepted(store, 1);
      await assert.rejects(store.batches.cancel(id, bench.scope));
      await store.cancellations.failed(await next(store));
      assert.equal(await store.cancellations.nextDue(PROVIDER), undefined);
      await store.cancellations.giveUp();
      const [row] = await store.cancellations.firstDue();
      assert(row && row.dueIn > 0);
      await store.database.transaction((tx) =>
        tx.run('UPDATE messaging_cancellation SET requested_at = requested_at - ?', [
          4 * 86_400_000_000,
        ]),
      );
      await store.cancellations.giveUp();
      assert(await isEmpty(store));
    });
  });
}
