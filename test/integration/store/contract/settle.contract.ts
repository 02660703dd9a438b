import assert from 'node:assert/strict';
import { STATUS_RANK } from '../../../../libs/messaging/src/message/status.js';
import { StatusListeners } from '../../../../libs/messaging/src/ports/listeners.js';
import type { PlainOutcome } from '../../../../libs/messaging/src/store/rows/outcome.js';
import { accepted, headOf, refused, type Started, type StoreContract } from './store-bench.js';

export function settleContract({ setup, describe, test }: StoreContract): void {
  describe('settle', () => {
    for (const named of [true, false]) {
      const answer = named ? 'with an id' : 'with a reference alone';

      test(`an acceptance ${answer} that is recorded twice counts once`, async (bench) => {
        const store = await bench.open();
        const ids = [await bench.enqueue(store), await bench.enqueue(store)];
        const outcomes = (await bench.intend(store)).map((one) => accepted(one, named));
        const record = () => Promise.all(outcomes.map((one) => store.outcomes.record(one)));
        await Promise.all([record(), record()]);
        await record();
        for (const id of ids) {
          await bench.expectBatch(store, id, 'completed', { sent: 1 });
          assert.deepEqual(await bench.loggedStatuses(store, id), [['sent', 1]]);
        }
      });

      test(`an acceptance ${answer} keeps a status that was reported before`, async (bench) => {
        const store = await bench.open();
        const [early, late] = [await bench.enqueue(store), await bench.enqueue(store)];
        const submissions = await bench.intend(store);
        await bench.report(store, { submissionId: `${early}-s0`, recipient: bench.to(0) });
        await Promise.all(submissions.map((one) => store.outcomes.record(accepted(one, named))));
        await bench.expectBatch(store, early, 'completed', { delivered: 1 });
        assert.deepEqual(await bench.loggedStatuses(store, early), [['delivered', 1]]);
        assert.deepEqual(await bench.loggedStatuses(store, late), [['sent', 1]]);
        for (const id of named ? [early, late] : [])
          assert.equal((await store.reads.message(`id-${id}-s0-0`, bench.scope)).id, `${id}-0`);
      });

      test(`an acceptance ${answer} raises a message that was given up as unknown`, async (bench) => {
        const store = await bench.open();
        const [unknown, fresh] = [await bench.enqueue(store), await bench.enqueue(store)];
        const submissions = await bench.intend(store);
        const doubt = { ...headOf(submissions[0]!), result: 'unknown', errorCode: 'lost' } as const;
        await store.outcomes.record(doubt);
        await bench.expectBatch(store, unknown, 'completed', { unknown: 1 });
        await Promise.all(submissions.map((one) => store.outcomes.record(accepted(one, named))));
        for (const id of [unknown, fresh])
          await bench.expectBatch(store, id, 'completed', { sent: 1 });
      });
    }

    for (const order of ['before', 'after'])
      test(`an acceptance recorded ${order} a doubt of the same submission in one group keeps its reference`, async (bench) => {
        const store = await bench.open();
        const id = await bench.enqueue(store, 2);
        const [submission] = await bench.intend(store, 2);
        const acceptance = accepted(submission!, false);
        const doubt = { ...headOf(submission!), result: 'unknown', errorCode: 'lost' } as const;
        const outcomes = order === 'before' ? [acceptance, doubt] : [doubt, acceptance];
        await Promise.all(outcomes.map((one) => store.outcomes.record(one)));
        await bench.expectBatch(store, id, 'completed', { sent: 2 });
        await bench.report(store, { reference: `ref-${id}-s0`, recipient: bench.to(1) });
        await bench.expectBatch(store, id, 'completed', { sent: 1, delivered: 1 });
      });

    test('the last of several submissions completes the batch', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 3);
      const [last, ...others] = (await bench.intend(store)).map((one) => accepted(one));
      await Promise.all(others.map((one) => store.outcomes.record(one)));
      await bench.expectBatch(store, id, 'sending', { sending: 1, sent: 2 });
      await store.outcomes.record(last!);
      await bench.expectBatch(store, id, 'completed', { sent: 3 });
    });

    test('the last two submissions, recorded by two processes at once, complete the batch', async (bench) => {
      const listeners = new StatusListeners();
      const [one, other] = [await bench.open({ listeners }), await bench.open({ listeners })];
      let inside = 0;
      let open!: () => void;
      const opened = new Promise<void>((resolve) => (open = resolve));
      if (setup.writesSideBySide)
        listeners.add({
          onStatusChanged: () => {
            if (++inside === 2) open();
            return opened;
          },
        });
      const id = await bench.enqueue(one, 2);
      const [first, second] = (await bench.intend(one)).map((submission) => accepted(submission));
      await Promise.all([one.outcomes.record(first!), other.outcomes.record(second!)]);
      await bench.expectBatch(one, id, 'completed', { sent: 2 });
    });

    test('an acceptance of many recipients raises the messages that were not reported', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 3);
      const [submission] = await bench.intend(store, 3);
      await bench.report(store, { submissionId: `${id}-s0`, recipient: bench.to(1) });
      await store.outcomes.record(accepted(submission!, false));
      await bench.expectBatch(store, id, 'completed', { sent: 2, delivered: 1 });
    });

    test('rejected recipients of an accepted submission are rejected, each with its code', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 3);
      const [submission] = await bench.intend(store, 3);
      await store.outcomes.record({
        ...accepted(submission!, false),
        rejected: new Map([[1, 'blocked']]),
      });
      await bench.expectBatch(store, id, 'completed', { sent: 2, rejected: 1 });
      const { data } = await store.reads.messages(id, bench.scope, { limit: 10 });
      assert.deepEqual(
        data.map(({ errorCode }) => errorCode),
        [null, 'blocked', null],
      );
    });

    test('an accepted message has the status of its channel', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 1, { channel: 'calls' });
      const [submission] = await bench.intend(store);
      await store.outcomes.record(accepted(submission!, false));
      const { counts } = await store.reads.batch(id, { ...bench.scope, channel: 'calls' });
      assert.deepEqual(counts, { initiated: 1 });
    });

    test('a refusal under an outdated fence sets no message back to queued', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store);
      const [submission] = await bench.intend(store);
      await store.outcomes.record(refused(submission!, { fence: -1 }));
      await bench.expectBatch(store, id, 'sending', { sending: 1 });
      await store.outcomes.record(refused(submission!));
      await bench.expectBatch(store, id, 'sending', { queued: 1 });
    });

    test('a withdrawn message has the requests that were made', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store);
      const [submission] = await bench.intend(store);
      const head = headOf(submission!);
      const withdrawal = { ...head, result: 'withdrawn', attempts: 3, deferBatchFor: 0 } as const;
      await store.outcomes.record({ ...withdrawal, fence: -1 });
      await bench.expectBatch(store, id, 'sending', { sending: 1 });
      await store.outcomes.record(withdrawal);
      await bench.expectBatch(store, id, 'sending', { queued: 1 });
      const [message] = (await store.reads.messages(id, bench.scope, { limit: 1 })).data;
      assert.equal(message?.attempts, 3);
    });

    test('a refused message waits, and the last attempt fails the message', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store);
      const [submission] = await bench.intend(store);
      await store.outcomes.record(refused(submission!, { deferFor: 60_000 }));
      assert.deepEqual(await store.work.plan(bench.lane, 10), []);
      const other = await bench.enqueue(store);
      const [last] = await bench.intend(store);
      assert.equal(last?.batch, other);
      await store.outcomes.record(refused(last!, { exhausted: true }));
      await bench.expectBatch(store, other, 'completed', { failed: 1 });
      await bench.expectBatch(store, id, 'sending', { queued: 1 });
    });

    test('a deferred message waits, and the rest of its batch is planned', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 3);
      const [deferred] = await bench.intend(store, 1, 1);
      await store.outcomes.record(refused(deferred!, { deferFor: 60_000 }));
      const [planned] = await store.work.plan(bench.lane, 10);
      assert.deepEqual(
        planned?.recipients.map(({ position }) => position),
        [1, 2],
      );
      assert.ok((planned?.deferredUntil ?? 0) > Date.now() * 1_000 + 50_000_000);
      await bench.expectBatch(store, id, 'sending', { queued: 3 });
    });

    test('a deferred message is planned again when its wait is over', async (bench) => {
      const store = await bench.open();
      await bench.enqueue(store, 1);
      const [deferred] = await bench.intend(store);
      await store.outcomes.record(refused(deferred!, { deferFor: 1 }));
      await new Promise((resolve) => setTimeout(resolve, 5));
      const [planned] = await store.work.plan(bench.lane, 10);
      assert.deepEqual(
        planned?.recipients.map(({ position, attempts }) => [position, attempts]),
        [[0, 1]],
      );
    });

    test('a refused message has the status of the refusal, where its channel has it', async (bench) => {
      const store = await bench.open();
      for (const [status, found] of [
        ['undelivered', 'undelivered'],
        ['no-such-status', 'rejected'],
      ] as const) {
        const id = await bench.enqueue(store);
        const [submission] = await bench.intend(store);
        await store.outcomes.record({
          ...headOf(submission!),
          result: 'rejected',
          status,
          errorCode: '5.1.1',
          details: { category: 'recipient' },
        });
        await bench.expectBatch(store, id, 'completed', { [found]: 1 });
      }
    });

    test('a refused submission of a cancelled batch is cancelled with it, without a report', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 2);
      const [submission] = await bench.intend(store, 1, 1);
      await store.batches.cancel(id, bench.scope);
      await store.outcomes.record(refused(submission!));
      await bench.expectBatch(store, id, 'cancelled', { cancelled: 2 });
      const { data } = await store.reads.reports(bench.scope, { batchIds: [id], limit: 10 });
      assert.deepEqual(data, []);
    });

    test('a change that a listener refuses fails alone, and succeeds when repeated', async (bench) => {
      const listeners = new StatusListeners();
      let refuse = true;
      const store = await bench.open({ listeners });
      const [bad, good] = [await bench.enqueue(store), await bench.enqueue(store)];
      listeners.add({
        onStatusChanged: (changes) =>
          refuse && changes.some(({ batchId }) => batchId === bad)
            ? Promise.reject(new Error('refused'))
            : Promise.resolve(),
      });
      const outcomes = (await bench.intend(store)).map((one) => accepted(one));
      const results = await Promise.allSettled(outcomes.map((one) => store.outcomes.record(one)));
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', 'fulfilled'],
      );
      await bench.expectBatch(store, good, 'completed', { sent: 1 });
      await bench.expectBatch(store, bad, 'sending', { sending: 1 });
      refuse = false;
      await store.outcomes.record(outcomes[0]!);
      await bench.expectBatch(store, bad, 'completed', { sent: 1 });
    });

    if (setup.locksRows)
      test('an acceptance that waits for a report gives the message its id', async (bench) => {
        const store = await bench.open();
        const id = await bench.enqueue(store);
        const [submission] = await bench.intend(store);
        const report = store.database.dataSource.createQueryRunner();
        await report.startTransaction();
        await report.query(
          `UPDATE messaging_message SET status = ${STATUS_RANK.delivered}, sequence = 1 WHERE batch = '${id}'`,
        );
        const recorded = store.outcomes.record(accepted(submission!));
        await setup.lockWaited();
        await report.commitTransaction();
        await report.release();
        await recorded;
        await bench.expectBatch(store, id, 'completed', { delivered: 1 });
        assert.equal((await store.reads.message(`id-${id}-s0-0`, bench.scope)).id, `${id}-0`);
      });

    test('outcomes leave the same rows by the fast path and the slow path', async (bench) => {
      const stores = [await bench.open(), await bench.open({ fastPaths: false })];
      const outcomes: ((one: Started) => PlainOutcome)[] = [
        (one) => accepted(one, false),
        (one) => accepted(one, true),
        (one) => ({ ...accepted(one, false), details: { cost: 1 } }),
      ];
      for (const recipients of [1, 3])
        for (const outcome of outcomes)
          for (const reportedFirst of [false, true]) {
            const rows = [];
            for (const store of stores) {
              const id = await bench.enqueue(store, recipients);
              const [submission] = await bench.intend(store, recipients);
              if (reportedFirst)
                await bench.report(store, { submissionId: `${id}-s0`, recipient: bench.to(0) });
              await store.outcomes.record(outcome(submission!));
              rows.push(await bench.rows(store, id));
            }
            assert.deepEqual(rows[0], rows[1]);
          }
    });
  });
}
