import assert from 'node:assert/strict';
import type { DeliveryReport } from '../../../../libs/messaging/src/message/events.js';
import { StatusListeners } from '../../../../libs/messaging/src/ports/listeners.js';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import {
  accepted,
  headOf,
  refused,
  reportOf,
  type StoreBench,
  type StoreContract,
} from './store-bench.js';

export function reportContract({ describe, test }: StoreContract): void {
  describe('report', () => {
    const said = (bench: StoreBench, reference: string): Partial<DeliveryReport>[] => [
      { reference, recipient: bench.to(0), status: 'undelivered', errorCode: '17' },
      { reference, recipient: bench.to(1), status: 'sent', rawStatus: 'ENROUTE' },
      { reference, recipient: bench.to(2), status: null, rawStatus: 'odd', providerTime: null },
      { reference, recipient: bench.to(3) },
    ];

    test('a report that names a submission with one recipient needs no recipient', async (bench) => {
      const store = await bench.open();
      const one = await bench.enqueue(store);
      await bench.intend(store);
      const several = await bench.enqueue(store, 2);
      await bench.intend(store, 2);
      const nameless = { reference: null, messageId: null, recipient: null };
      await bench.report(store, { ...nameless, submissionId: `${one}-s0`, status: 'undelivered' });
      await bench.report(store, {
        ...nameless,
        submissionId: `${several}-s0`,
        status: 'undelivered',
      });
      const counts = async (id: string) => (await store.reads.batch(id, bench.scope)).counts;
      assert.deepEqual(await counts(one), { undelivered: 1 });
      assert.deepEqual(await counts(several), { sending: 2 });
    });

    test('a report that names a submission with one recipient is of that one, however it writes the address', async (bench) => {
      for (const store of [await bench.open(), await bench.open({ fastPaths: false })]) {
        const id = await bench.enqueue(store);
        await bench.intend(store);
        const submissionId = `${id}-s0`;
        await bench.report(store, { submissionId, recipient: bench.to(7), status: 'undelivered' });
        const { counts } = await store.reads.batch(id, bench.scope);
        assert.deepEqual(counts, { undelivered: 1 });
        const { reports } = await store.reads.timeline(`${id}-0`, bench.scope);
        assert.ok(reports.every(({ status }) => status === 'undelivered'));
      }
    });

    test('reports leave the same rows alone, in a group, repeated, by the fast path and by the slow path', async (bench) => {
      const ways: ((store: MessageStore, all: Partial<DeliveryReport>[]) => Promise<void>)[] = [
        async (store, all) => {
          for (const one of all) await bench.report(store, one);
        },
        (store, all) => bench.report(store, ...all),
        (store, all) => bench.report(store, ...all, all[0]!),
        async (store, all) => {
          await bench.report(store, ...all);
          await bench.report(store, ...all);
        },
      ];
      const rows = [];
      for (const store of [await bench.open(), await bench.open({ fastPaths: false })])
        for (const way of ways) {
          const id = await bench.accepted(store, 4);
          await way(store, said(bench, `ref-${id}-s0`));
          rows.push(await bench.rows(store, id));
        }
      for (const row of rows) assert.deepEqual(row, rows[0]);
    });

    test('reports with a listener lead to the same statuses, and the listener gets each change', async (bench) => {
      const listeners = new StatusListeners();
      const heard: string[] = [];
      listeners.add({
        onStatusChanged: (changes) => {
          heard.push(...changes.map(({ recipient, status }) => `${recipient} ${status}`));
          return Promise.resolve();
        },
      });
      const [loud, silent] = [await bench.open({ listeners }), await bench.open()];
      const rows = [];
      for (const store of [loud, silent]) {
        const id = await bench.accepted(store, 4);
        await bench.report(store, ...said(bench, `ref-${id}-s0`));
        rows.push(await bench.rows(store, id));
      }
      assert.deepEqual(rows[0], rows[1]);
      const reported = heard.filter((change) => !change.endsWith(' sent'));
      assert.deepEqual(reported.toSorted(), [
        `${bench.to(0)} undelivered`,
        `${bench.to(3)} delivered`,
      ]);
    });

    for (const fastPaths of [true, false])
      for (const [state, change, left] of [
        ['gone', 'DELETE FROM messaging_message', { queued: 1 }],
        ['another recipient’s', "UPDATE messaging_message SET recipient = 'another'", { sent: 1 }],
      ] as const)
        test(`a report of a message that is ${state} does not delay reports of other messages, fast paths: ${fastPaths}`, async (bench) => {
          const store = await bench.open({ fastPaths });
          const id = await bench.accepted(store, 5);
          const reference = `ref-${id}-s0`;
          // From here on the positions are cached.
          await bench.report(store, { reference, recipient: bench.to(0), status: 'sent' });
          await store.database.transaction((tx) =>
            tx.run(`${change} WHERE batch = ? AND position = 4`, [id]),
          );
          await bench.report(
            store,
            ...[0, 1, 2, 3, 4].map((n) => ({ reference, recipient: bench.to(n) })),
          );
          await bench.expectBatch(store, id, 'completed', { delivered: 4, ...left });
          const { data } = await store.reads.reports(bench.scope, { batchIds: [id], limit: 100 });
          assert.equal(data.filter(({ messageId }) => messageId === null).length, 1);
        });

    test('a report matches only messages of its provider', async (bench) => {
      const store = await bench.open();
      const id = await bench.accepted(store, 1);
      await store.reports.record([reportOf({ reference: `ref-${id}-s0` })], { provider: 'other' });
      await bench.expectBatch(store, id, 'completed', { sent: 1 });
      await bench.report(store, { reference: `ref-${id}-s0` });
      await bench.expectBatch(store, id, 'completed', { delivered: 1 });
    });

    test('a report and the acceptance that it names, recorded by two processes at once, meet', async (bench) => {
      const [one, other] = [await bench.open(), await bench.open()];
      for (let round = 0; round < 5; round++) {
        const id = await bench.enqueue(one);
        const [submission] = await bench.intend(one);
        await Promise.all([
          one.outcomes.record(accepted(submission!, false)),
          bench.report(other, { reference: `ref-${id}-s0` }),
        ]);
        await one.reports.matchWaiting([`ref-${id}-s0`]);
        await bench.expectBatch(one, id, 'completed', { delivered: 1 });
      }
    });

    test('a waiting report is matched by the sweep', async (bench) => {
      const store = await bench.open();
      const id = await bench.accepted(store, 1);
      await bench.report(store, { reference: `early-${id}` });
      await store.database.transaction((tx) =>
        tx.run(`UPDATE messaging_report SET reference = ? WHERE reference = ?`, [
          `ref-${id}-s0`,
          `early-${id}`,
        ]),
      );
      await store.reports.sweep(1_000);
      await bench.expectBatch(store, id, 'completed', { delivered: 1 });
    });

    const unknown = async (bench: StoreBench, store: MessageStore, changes = {}) => {
      const id = await bench.enqueue(store, 1, { sender: `S${bench.lane.slice(-8)}`, ...changes });
      const started = await bench.intend(store);
      const giveUp = async () => {
        for (const one of started)
          await store.outcomes.record({ ...headOf(one), result: 'unknown', errorCode: 'lost' });
      };
      return { id, giveUp };
    };
    const stray = (bench: StoreBench, changes: Partial<DeliveryReport> = {}) => ({
      reference: `stray-${bench.lane}`,
      messageId: null,
      recipient: bench.to(0),
      submit: { sender: `S${bench.lane.slice(-8)}`, at: new Date() },
      ...changes,
    });

    test('a report by an id that no answer gave settles the unknown message with its sender, recipient and time', async (bench) => {
      const store = await bench.open();
      const { id, giveUp } = await unknown(bench, store);
      await giveUp();
      await bench.report(store, stray(bench));
      await bench.expectBatch(store, id, 'completed', { delivered: 1 });
    });

    test('such a report waits until the answer is given up', async (bench) => {
      const store = await bench.open();
      const { id, giveUp } = await unknown(bench, store);
      await bench.report(store, stray(bench));
      await store.reports.sweep(1_000);
      await bench.expectBatch(store, id, 'sending', { sending: 1 });
      await giveUp();
      await store.reports.sweep(1_000);
      await bench.expectBatch(store, id, 'completed', { delivered: 1 });
    });

    test('such a report of another sender, recipient or time, or with two messages that fit, settles none', async (bench) => {
      const store = await bench.open();
      const sender = `S${bench.lane.slice(-8)}`;
      const { id, giveUp } = await unknown(bench, store);
      await giveUp();
      const others: Partial<DeliveryReport>[] = [
        { submit: { sender: 'OTHER', at: new Date() } },
        { recipient: bench.to(1) },
        { submit: { sender, at: new Date(Date.now() - 600_000) } },
        { submit: undefined },
      ];
      for (const [n, changes] of others.entries())
        await bench.report(
          store,
          stray(bench, { reference: `stray-${n}-${bench.lane}`, ...changes }),
        );
      const second = await unknown(bench, store);
      await second.giveUp();
      await bench.report(store, stray(bench));
      await store.reports.sweep(1_000);
      for (const one of [id, second.id])
        await bench.expectBatch(store, one, 'completed', { unknown: 1 });
    });

    test('such a report waits while another message that fits has no answer yet', async (bench) => {
      const store = await bench.open();
      const { id, giveUp } = await unknown(bench, store);
      await giveUp();
      const sender = `S${bench.lane.slice(-8)}`;
      const other = await bench.enqueue(store, 1, { sender });
      const [started] = await bench.intend(store);
      await bench.report(store, stray(bench, { reference: `ref-${other}-s0` }));
      await store.reports.sweep(1_000);
      await bench.expectBatch(store, id, 'completed', { unknown: 1 });
      await store.outcomes.record(accepted(started!));
      await store.reports.sweep(1_000);
      await bench.expectBatch(store, other, 'completed', { delivered: 1 });
      await bench.expectBatch(store, id, 'completed', { unknown: 1 });
    });

    test('such a report settles no long message, whose parts have an id each', async (bench) => {
      const store = await bench.open();
      const { id, giveUp } = await unknown(bench, store, { parts: 2 });
      await giveUp();
      await bench.report(store, stray(bench));
      await bench.expectBatch(store, id, 'completed', { unknown: 1 });
    });

    test('a message that was set back to queued and is reported is not sent again', async (bench) => {
      const store = await bench.open();
      const [reported, other] = [await bench.enqueue(store), await bench.enqueue(store)];
      for (const one of await bench.intend(store)) await store.outcomes.record(refused(one));
      await bench.report(store, { submissionId: `${reported}-s0`, recipient: bench.to(0) });
      const started = await bench.intend(store);
      assert.deepEqual(
        started.map(({ batch }) => batch),
        [other],
      );
      await bench.expectBatch(store, reported, 'completed', { delivered: 1 });
      assert.deepEqual(await store.work.plan(bench.lane, 10), []);
    });

    test('a message that is reported after it was set back and planned does not start, and other planned messages do', async (bench) => {
      const store = await bench.open();
      const [reported, other] = [await bench.enqueue(store), await bench.enqueue(store)];
      for (const one of await bench.intend(store)) await store.outcomes.record(refused(one));
      const started = await bench.intend(store, 1, 100, () =>
        bench.report(store, { submissionId: `${reported}-s0`, recipient: bench.to(0) }),
      );
      assert.deepEqual(
        started.map(({ batch }) => batch),
        [other],
      );
      await bench.intend(store);
      await bench.expectBatch(store, reported, 'completed', { delivered: 1 });
    });
  });
}
