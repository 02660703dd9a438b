import assert from 'node:assert/strict';
import type { ChannelDefinition } from '../message/channel-definition.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import type { DeliveryReport } from '../message/events.js';
import { BatchNotFoundError } from '../message/errors.js';
import { STATUS_RANK, STATUSES } from '../message/status.js';
import { StatusListeners } from '../ports/listeners.js';
import { type Clock, systemClock } from '../ports/clock.js';
import type { Intent } from './rows/intent.js';
import type { Cancellation } from './verbs/cancellations.js';
import { LaneLostError } from './verbs/intents.js';
import type { MessageStore } from './message-store.js';
import { ConcurrentChangeError } from './database/concurrent-change.error.js';
import { insertion, into, updateOf } from './database/dialect.js';
import type { NewBatch, OwnRows } from './rows/new-batch.js';
import type { PlainOutcome } from './rows/outcome.js';
import type { PlannedBatch } from './rows/planned-batch.js';

export interface StoreContractSetup {
  /** A store of its own process; the caller closes its stores. */
  open(options?: StoreOptions): Promise<MessageStore>;
  /** Whether other transactions may hold locks on single rows. */
  readonly locksRows: boolean;
  /** Whether two transactions may change messages of one batch at the same time. */
  readonly writesSideBySide: boolean;
  /** Resolves once a transaction waits for a lock. */
  lockWaited(): Promise<void>;
}

export interface StoreOptions {
  /** `false`: every verb takes the slow path. @default true */
  readonly fastPaths?: boolean;
  readonly listeners?: StatusListeners;
  readonly clock?: Clock;
}

export interface ContractRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

const PROVIDER = 'scripted';

const TEXTS: ChannelDefinition = {
  name: 'sms',
  addressKinds: ['phone'],
  statuses: STATUSES,
  accepted: 'sent',
  content: {},
};

/** A channel with a rank of its own for accepted messages, which retention keeps. */
const CALLS: ChannelDefinition = {
  name: 'calls',
  addressKinds: ['phone', 'email'],
  statuses: { initiated: { rank: 41, reported: true }, delivered: STATUSES.delivered },
  accepted: 'initiated',
  content: {},
  retention: 'exempt',
};

export const CONTRACT_CHANNELS = new ChannelRegistry([TEXTS, CALLS]);

/** Reads rows in a form in which two batches compare. */
const ROWS = {
  batch: `SELECT state, revision, parked_until, poll_at - completed_at AS polled_after FROM messaging_batch WHERE id = ?`,
  submission: `SELECT n, first_position, last_position, attempt, provider, outcome, reference, error_code, details
    FROM messaging_submission WHERE batch = ? ORDER BY n`,
  message: `SELECT position, submission, status, attempt, sequence, recipient, reference, error_code
    FROM messaging_message WHERE batch = ? ORDER BY position`,
  report: `SELECT CASE WHEN hash IS NULL THEN 0 ELSE 1 END AS hashed, tenant, position, provider, reference, message_id,
      recipient, status, raw_status, error_code, sequence
    FROM messaging_report WHERE batch = ? ORDER BY position, sequence, raw_status, status`,
} as const;

/**
 * Describes every verb of the store, for all drivers: alone, concurrent, conflicting, in a caller's
 * transaction, after a crash, and fast path against slow path on the same inputs.
 */
export function storeContract(setup: StoreContractSetup, { describe, it }: ContractRunner): void {
  /** In a lane and tenant of its own. */
  const test = (name: string, prove: (bench: Bench) => Promise<void>) =>
    it(name, async () => {
      const bench = new Bench(setup);
      try {
        await prove(bench);
      } finally {
        await bench.close();
      }
    });

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
      test(`an acceptance ${order} a doubt in one group keeps its reference`, async (bench) => {
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

    test('a submission of many recipients raises those that were not reported', async (bench) => {
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

    test('a refusal under an outdated fence sets nothing back', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store);
      const [submission] = await bench.intend(store);
      await store.outcomes.record({ ...headOf(submission!), result: 'refused', fence: -1 });
      await bench.expectBatch(store, id, 'sending', { sending: 1 });
      await store.outcomes.record({ ...headOf(submission!), result: 'refused', attempts: 3 });
      await bench.expectBatch(store, id, 'sending', { queued: 1 });
      const [message] = (await store.reads.messages(id, bench.scope, { limit: 1 })).data;
      assert.equal(message?.attempts, 3);
    });

    test('a refused message waits, and the last attempt fails the message', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store);
      const [submission] = await bench.intend(store);
      await store.outcomes.record({ ...headOf(submission!), result: 'refused', waitFor: 60_000 });
      assert.deepEqual(await store.work.plan(bench.lane, 10), []);
      const other = await bench.enqueue(store);
      const [last] = await bench.intend(store);
      assert.equal(last?.batch, other);
      await store.outcomes.record({ ...headOf(last!), result: 'refused', exhausted: true });
      await bench.expectBatch(store, other, 'completed', { failed: 1 });
      await bench.expectBatch(store, id, 'sending', { queued: 1 });
    });

    test('a deferred message waits alone, and the rest of its batch goes on', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 3);
      const [deferred] = await bench.intend(store, 1, 1);
      const late = { ...headOf(deferred!), result: 'refused' as const, attempts: 1 };
      await store.outcomes.record({ ...late, waitFor: 60_000 });
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
      await store.outcomes.record({
        ...headOf(deferred!),
        result: 'refused',
        attempts: 1,
        waitFor: 1,
      });
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
      await store.outcomes.record({ ...headOf(submission!), result: 'refused' });
      await bench.expectBatch(store, id, 'cancelled', { cancelled: 2 });
      const { data } = await store.reads.reports(bench.scope, { batchIds: [id], limit: 10 });
      assert.deepEqual(data, []);
    });

    test('a change that a listener refuses fails alone, and passes later', async (bench) => {
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

    test('fast path and slow path leave the same rows', async (bench) => {
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

  describe('report', () => {
    const said = (bench: Bench, reference: string): Partial<DeliveryReport>[] => [
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

    test('reports alone, in a group, repeated, by fast path and by slow path leave the same rows', async (bench) => {
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

    test('the statuses are the same with a listener, and the listener gets each change', async (bench) => {
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
        test(`a message that is ${state} does not hold up the others, fast paths: ${fastPaths}`, async (bench) => {
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

    test('a message that was set back and is reported is not sent again', async (bench) => {
      const store = await bench.open();
      const [reported, other] = [await bench.enqueue(store), await bench.enqueue(store)];
      for (const one of await bench.intend(store))
        await store.outcomes.record({ ...headOf(one), result: 'refused' });
      await bench.report(store, { submissionId: `${reported}-s0`, recipient: bench.to(0) });
      const started = await bench.intend(store);
      assert.deepEqual(
        started.map(({ batch }) => batch),
        [other],
      );
      await bench.expectBatch(store, reported, 'completed', { delivered: 1 });
      assert.deepEqual(await store.work.plan(bench.lane, 10), []);
    });

    test('a message that was set back and is reported after its plan does not start; the others do', async (bench) => {
      const store = await bench.open();
      const [reported, other] = [await bench.enqueue(store), await bench.enqueue(store)];
      for (const one of await bench.intend(store))
        await store.outcomes.record({ ...headOf(one), result: 'refused' });
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

      test(`of batches ${kind} that share a commit, the one that the database refuses fails alone`, async (bench) => {
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
      test(`rows of a channel's own are stored with their batch, once their guard holds, fast paths: ${fastPaths}`, async (bench) => {
        const store = await bench.open({ fastPaths });
        const { tenant } = bench.scope;
        const guarded = await bench.enqueue(store, 1);
        const storeOn = async (revision: number) => {
          const batch = bench.batch(1);
          await store.newBatches.storeWith([batch], ownRowsOf(store, batch, guarded, revision));
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
  });

  describe('intend', () => {
    test('the fast path and the slow path leave the same rows of single and of several messages', async (bench) => {
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
      test(`a lane that another process has taken starts nothing, fast paths: ${fastPaths}`, async (bench) => {
        const [store, next] = [await bench.open({ fastPaths }), await bench.open()];
        const id = await bench.enqueue(store);
        const lost = bench.intend(store, 1, 100, () => bench.takeOver(next));
        await assert.rejects(lost, LaneLostError);
        await bench.expectBatch(store, id, 'queued', { queued: 1 });
      });
  });

  describe('cancel and reschedule', () => {
    test('a batch that was cancelled or moved after it was planned does not start; the others do', async (bench) => {
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

    test('a cancelled batch can be cancelled again, a started one cannot', async (bench) => {
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
    const opened = async (bench: Bench): Promise<MessageStore> => {
      const store = await bench.open();
      store.cancellations.providers = [{ name: PROVIDER, channels: ['sms'] }];
      return store;
    };
    const accept = async (store: MessageStore, started: readonly Started[]): Promise<void> => {
      for (const one of started) await store.outcomes.record(accepted(one));
    };
    const next = async (store: MessageStore): Promise<Cancellation> => {
      const found = await store.cancellations.nextDue(PROVIDER);
      assert(found);
      return found;
    };
    const openOf = async (store: MessageStore): Promise<string[]> => {
      const { submissions } = await store.cancellations.open(await next(store));
      return submissions.map(({ submissionId }) => submissionId);
    };
    const end = async (store: MessageStore): Promise<void> => {
      const found = await next(store);
      await store.cancellations.answered(found, (await store.cancellations.open(found)).last);
    };
    const isEmpty = async (store: MessageStore): Promise<boolean> =>
      (await store.cancellations.firstDue()).length === 0;

    test('a cancel asks the provider for what it has accepted and has not ended', async (bench) => {
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

    test('a cancel that comes too late asks the provider all the same', async (bench) => {
      const store = await opened(bench);
      const id = await bench.accepted(store, 1);
      const code = { code: 'already_sent' };
      await assert.rejects(store.batches.cancel(id, bench.scope), code);
      await assert.rejects(store.batches.cancel(id, bench.scope), code);
      assert.deepEqual(await openOf(store), [`${id}-s0`]);
      await end(store);
      assert(await isEmpty(store));
    });

    test('what has not started, has ended, is on another channel or a step is not asked after', async (bench) => {
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
      store.cancellations.providers = [{ name: PROVIDER, channels: ['calls'] }];
      const other = await bench.accepted(store, 1);
      await assert.rejects(store.batches.cancel(other, bench.scope));
      assert(await isEmpty(store));
    });

    test('a cancel that is rolled back asks nothing', async (bench) => {
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

    test('a message in flight is asked after once it is accepted', async (bench) => {
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

    test('after a failure it is due later, and after three days no more', async (bench) => {
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

  describe('steps of notifications', () => {
    const begin = async (bench: Bench, store: MessageStore): Promise<[string, string]> => {
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
      test(`a report that ends a step has its notification due, fast paths: ${fastPaths}`, async (bench) => {
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

    test('a refusal and a cancel have the notification due', async (bench) => {
      const store = await bench.open();
      const [refused] = await begin(bench, store);
      for (const started of await bench.intend(store))
        await store.outcomes.record({ ...headOf(started), result: 'rejected', errorCode: 'no' });
      const [cancelled, batch] = await begin(bench, store);
      await store.batches.cancel(batch, bench.scope);
      assert.deepEqual([await dueAt(store, refused), await dueAt(store, cancelled)], [0, 0]);
    });

    test('what is queued is cancelled together, and what has started is left alone', async (bench) => {
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

  describe('after a crash', () => {
    test('the next holder finds the open submissions, and their outcome completes the batch', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 2);
      const [submission] = await bench.intend(store, 2);
      const next = await bench.open();
      const [open, ...others] = await next.work.open(bench.lane);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [open?.batch, open?.recipients.map(({ recipient }) => recipient)],
        [id, [bench.to(0), bench.to(1)]],
      );
      await next.outcomes.record(accepted(submission!, false));
      assert.deepEqual(await next.work.open(bench.lane), []);
      await bench.expectBatch(next, id, 'completed', { sent: 2 });
    });
  });

  describe('upkeep', () => {
    test('a recipient of any address kind is erased from what has ended, and the others stay', async (bench) => {
      const store = await bench.open();
      const keys = ['a_b@example.com', 'axb@example.com', 'platform:NG.1%', bench.to(0)];
      const ended = await bench.accepted(store, 4, { recipients: keys });
      const later = await bench.enqueue(store, 1, { recipients: keys.slice(0, 1) });
      const erase = async (key: string) => {
        const { tenant } = bench.scope;
        const ids = await store.database.transaction((tx) =>
          store.erasures.begin(tx, tenant, [key]),
        );
        return store.erasures.run(ids);
      };
      const recipients = async (id = ended) =>
        (await store.reads.recipients(id, bench.scope, { limit: 10 })).data;
      const run = (sql: string, of: string) =>
        store.database.transaction((tx) => tx.run(sql, [of]));
      assert.deepEqual(await erase(keys[0]!), { messages: 1, remaining: 1 });
      assert.deepEqual(await recipients(), keys);
      await bench.expectBatch(store, later, 'cancelled', { cancelled: 1 });
      assert.equal((await store.reads.batch(later, bench.scope)).content, null);
      assert.deepEqual(await recipients(later), ['']);
      await run('UPDATE messaging_batch SET poll_at = NULL WHERE id = ?', ended);
      assert.deepEqual(await erase(keys[2]!), { messages: 1, remaining: 0 });
      await run('UPDATE messaging_erasure SET due_at = 0 WHERE tenant = ?', bench.scope.tenant);
      await store.erasures.resume(new AbortController().signal);
      const left = ['', keys[1], '', keys[3]];
      assert.deepEqual(await recipients(), left);
      const { data } = await store.reads.messages(ended, bench.scope, { limit: 10 });
      assert.deepEqual(
        data.map(({ recipient }) => recipient),
        left,
      );
      const waiting = 'SELECT id FROM messaging_erasure WHERE tenant = ?';
      assert.deepEqual(await store.database.all(waiting, [bench.scope.tenant]), []);
    });

    test('an erased recipient of an open batch is cancelled in its place, and the others are sent', async (bench) => {
      const store = await bench.open();
      const keys = [bench.to(0), bench.to(1), bench.to(2)];
      const id = await bench.enqueue(store, 3, { recipients: keys });
      const ids = await store.database.transaction((tx) =>
        store.erasures.begin(tx, bench.scope.tenant, [keys[1]!]),
      );
      const planned = await store.work.plan(bench.lane, 10);
      assert.deepEqual(await store.erasures.run(ids), { messages: 1, remaining: 0 });
      const [again] = await store.work.plan(bench.lane, 10);
      assert.notEqual(again?.revision, planned[0]?.revision);
      assert.deepEqual(
        again?.recipients.map(({ recipient }) => recipient),
        [keys[0], '', keys[2]],
      );
      const { data } = await store.reads.recipients(id, bench.scope, { limit: 10 });
      assert.deepEqual(data, [keys[0], '', keys[2]]);
    });

    test('what waits for the former time of a clock that was set back is due again', async (bench) => {
      const hour = 3_600_000;
      let leap = 0;
      const monotonic = () => systemClock.monotonic() + leap;
      const [gone, store] = [
        await bench.open(),
        await bench.open({ clock: { ...systemClock, monotonic } }),
      ];
      const run = (sql: string, params: readonly unknown[]) =>
        store.database.transaction((tx) => tx.run(sql, params));
      const rate = `${bench.lane} rate`;
      const rows = [
        await bench.enqueue(store, 1, { validFor: hour }),
        await bench.enqueue(store, 1, { sendAt: Date.now() - 60_000 }),
        await bench.enqueue(store),
      ];
      const later = await bench.enqueue(store, 1, { sendAt: Date.now() + 3 * hour });
      await gone.lanes.acquire(bench.lane);
      await store.lanes.reserve(rate, 1, 10);
      const planned = async () => {
        const plans = await store.work.plan(bench.lane, 10);
        return plans.map(({ id }) => id);
      };
      assert.deepEqual(await planned(), rows);
      await run(
        'UPDATE messaging_batch SET available_at = available_at + ?, valid_until = valid_until + ? WHERE lane = ? AND id <> ?',
        [hour * 1_000, hour * 1_000, bench.lane, later],
      );
      await run('UPDATE messaging_lane SET lease_until = lease_until + ? WHERE lane_key = ?', [
        hour * 1_000,
        bench.lane,
      ]);
      await run(
        'UPDATE messaging_rate_slot SET reserved_until = reserved_until + ? WHERE rate_key = ?',
        [hour * 1_000, rate],
      );
      assert.deepEqual(await planned(), []);
      await store.setBackClock.correct();
      assert.deepEqual(await planned(), rows);
      const [valid] = await store.work.plan(bench.lane, 1);
      assert.ok((valid?.validFor ?? Infinity) <= hour);
      const { now } = store.database.dialect;
      assert.ok((await store.lanes.reserve(rate, 1, 10)) < 60_000);

      // While the process runs, it sees the clock go back, and corrects pauses and parked batches.
      const left = async (column: string, table: string, key: string, value: unknown) => {
        const found = await store.database.all<{ left: string | number }>(
          `SELECT ${column} - ${now} AS "left" FROM messaging_${table} WHERE ${key} = ?`,
          [value],
        );
        return Number(found[0]?.left);
      };
      const beyond = hour * 1_000 + 20_000_000;
      await run(`UPDATE messaging_lane SET paused_until = ${now} + ? WHERE lane_key = ?`, [
        beyond,
        bench.lane,
      ]);
      await run(`UPDATE messaging_batch SET parked_until = ${now} + ? WHERE id = ?`, [
        beyond,
        rows[1],
      ]);
      leap = hour;
      await store.setBackClock.correct();
      await store.setBackClock.correct();
      for (const remaining of [
        await left('paused_until', 'lane', 'lane_key', bench.lane),
        await left('parked_until', 'batch', 'id', rows[1]),
        await left('lease_until', 'lane', 'lane_key', bench.lane),
      ])
        assert.ok(remaining > 0 && remaining <= 30_000_000);
    });

    test('retention erases and deletes what has ended, but nothing of an exempt channel', async (bench) => {
      const store = await bench.open();
      const plain = await bench.accepted(store, 1);
      const kept = await bench.accepted(store, 1, { channel: 'calls' });
      await store.database.transaction((tx) =>
        tx.run(
          'UPDATE messaging_batch SET poll_at = NULL, completed_at = completed_at - ? WHERE tenant = ?',
          [10_000_000_000, bench.scope.tenant],
        ),
      );
      while (await store.purge.step(100));
      await assert.rejects(store.reads.batch(plain, bench.scope), BatchNotFoundError);
      const scope = { ...bench.scope, channel: 'calls' };
      const { content } = await store.reads.batch(kept, scope);
      assert.deepEqual(content, { kind: 'text', text: 'Hello' });
      const message = await store.reads.message(`id-${kept}-s0-0`, scope);
      assert.equal(message.recipient, bench.to(0));
    });
  });
}

interface Started extends Pick<PlainOutcome, 'batch' | 'n' | 'firstPosition' | 'lastPosition'> {
  readonly fence: number;
  readonly intended: PlainOutcome['intended'];
}

/** Calls stores as a drain does. */
/** A tag of the batch, where another batch has the revision, which goes up. */
function ownRowsOf(
  { database: { dialect } }: MessageStore,
  batch: NewBatch,
  guarded: string,
  revision: number,
): OwnRows {
  const guard = updateOf(
    dialect,
    { v_id: 'uuid', v_revision: 'int' },
    {
      table: 'messaging_batch',
      set: 'revision = revision + 1',
      where: 'id = v_id AND revision = v_revision',
    },
  );
  const columns = { v_batch: 'uuid', v_n: 'int', v_tenant: 'key', v_tag: 'key' } as const;
  const insert = insertion(dialect, into('batch_label', columns), columns);
  return {
    guard: { statement: guard([[guarded, revision]]), rows: 1 },
    insert: insert([[batch.id, 0, batch.tenant, 'own']]),
  };
}

class Bench {
  static #count = 0;
  readonly scope;
  readonly lane;
  readonly #stores: MessageStore[] = [];
  readonly #fences = new Map<MessageStore, number>();
  #batches = 0;

  constructor(private readonly setup: StoreContractSetup) {
    const tenant = `t${Date.now().toString(36)}-${Bench.#count++}`;
    this.scope = { tenant, channel: 'sms' } as const;
    this.lane = `${tenant}:sms`;
  }

  to(position: number): string {
    return String(2_348_010_000_000 + position);
  }

  async open(options: StoreOptions = {}): Promise<MessageStore> {
    const store = await this.setup.open(options);
    this.#stores.push(store);
    return store;
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
  }

  async enqueue(
    store: MessageStore,
    recipients = 1,
    changes: Partial<NewBatch> = {},
  ): Promise<string> {
    const { id } = await store.newBatches.enqueue(this.batch(recipients, changes));
    return id;
  }

  batch(recipients: number, changes: Partial<NewBatch> = {}): NewBatch {
    return {
      id: systemClock.id(),
      tenant: this.scope.tenant,
      channel: 'sms',
      lane: this.lane,
      class: 'normal',
      sender: 'ACME',
      content: { kind: 'text', text: 'Hello' },
      deliveryReport: true,
      parts: 1,
      recipients: Array.from({ length: recipients }, (_, n) => this.to(n)),
      denied: [],
      createdAt: Date.now() + this.#batches++,
      sendAt: null,
      validFor: null,
      idempotencyKey: null,
      fingerprint: null,
      ...changes,
    };
  }

  /** The steps of a drain up to the start of requests; `meanwhile` runs between plan and intent. */
  async intend(
    store: MessageStore,
    share = 1,
    limit = 100,
    meanwhile?: () => Promise<unknown>,
  ): Promise<Started[]> {
    const fence = await this.#fence(store);
    const planned = await store.work.plan(this.lane, limit);
    await meanwhile?.();
    const live = await store.intents.record(intentOf(planned, this.lane, fence, share));
    return startedOf(planned, fence, share).filter(({ batch }) => live.has(batch));
  }

  /** A batch in one submission, accepted by the provider. */
  async accepted(
    store: MessageStore,
    recipients: number,
    changes: Partial<NewBatch> = {},
  ): Promise<string> {
    const id = await this.enqueue(store, recipients, changes);
    for (const started of await this.intend(store, recipients))
      await store.outcomes.record(accepted(started, recipients === 1));
    return id;
  }

  report(store: MessageStore, ...reports: Partial<DeliveryReport>[]): Promise<void> {
    return store.reports.record(reports.map(reportOf), { provider: PROVIDER });
  }

  async expectBatch(
    store: MessageStore,
    id: string,
    status: string,
    counts: Record<string, number>,
  ): Promise<void> {
    const batch = await store.reads.batch(id, this.scope);
    assert.deepEqual({ status: batch.status, counts: batch.counts }, { status, counts });
  }

  async loggedStatuses(store: MessageStore, id: string): Promise<unknown[]> {
    const { data } = await store.reads.reports(this.scope, { batchIds: [id], limit: 100 });
    return data.map(({ status, sequence }) => [status, sequence]);
  }

  async rows(store: MessageStore, id: string): Promise<unknown> {
    const tables = Object.entries(ROWS).map(async ([table, sql]) => {
      const rows = await store.database.all<Record<string, unknown>>(sql, [id]);
      return [
        table,
        rows.map((row) =>
          Object.fromEntries(
            Object.entries(row).map(([name, value]) => [
              name,
              String(value).replaceAll(id, 'batch'),
            ]),
          ),
        ),
      ];
    });
    return Object.fromEntries(await Promise.all(tables));
  }

  takeOver(store: MessageStore): Promise<unknown> {
    return this.#fence(store);
  }

  /** Batch and chunks of a new batch, without values that differ from run to run. */
  async enqueuedRows(store: MessageStore, id: string, at: number) {
    const [batch] = await store.database.all<Record<string, unknown>>(
      `SELECT tenant, lane, priority, sender, content, delivery_report, parts, recipient_count, created_at, send_at,
         available_at, valid_until, state, fingerprint FROM messaging_batch WHERE id = ?`,
      [id],
    );
    const chunks = await store.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? ORDER BY n',
      [id],
    );
    const number = (value: unknown) => (value === null ? null : Number(value));
    return {
      ...batch,
      created_at: number(batch?.['created_at']),
      send_at: number(batch?.['send_at']),
      available_at: Number(batch?.['available_at']) > (at + 3_000_000) * 1_000,
      valid_until: batch?.['valid_until'] !== null,
      recipients: chunks.map(({ recipients }) => recipients),
    };
  }

  /** The lane's fence, read by taking the lane over with another process. */
  async #fence(store: MessageStore): Promise<number> {
    for (const [holder, fence] of this.#fences)
      if (holder !== store) {
        await holder.lanes.release(this.lane, fence, null, true);
        this.#fences.delete(holder);
      }
    const known = this.#fences.get(store);
    if (known !== undefined) return known;
    const lease = await store.lanes.acquire(this.lane);
    assert(lease);
    this.#fences.set(store, lease.fence);
    return lease.fence;
  }
}

function* submissionsOf(planned: readonly PlannedBatch[], share: number) {
  for (const batch of planned)
    for (let from = 0; from < batch.recipients.length; from += share)
      yield {
        batch,
        n: batch.nextSubmission + from / share,
        recipients: batch.recipients.slice(from, from + share),
      };
}

function intentOf(
  planned: readonly PlannedBatch[],
  lane: string,
  fence: number,
  share: number,
): Intent {
  return {
    lane,
    fence,
    firstSentAt: Date.now(),
    batches: planned.map(({ id, revision, more, moreRequeued }) => ({
      id,
      revision,
      pending: more,
      requeued: moreRequeued,
      parkUntil: null,
    })),
    submissions: [...submissionsOf(planned, share)].map(({ batch, n, recipients }) => ({
      batch: batch.id,
      n,
      firstPosition: recipients[0]?.position as number,
      lastPosition: recipients.at(-1)?.position as number,
      members: null,
      attempt: 1,
      content: null,
      provider: PROVIDER,
      recipients,
    })),
    deferred: [],
  };
}

function startedOf(planned: readonly PlannedBatch[], fence: number, share: number): Started[] {
  return [...submissionsOf(planned, share)].map(({ batch, n, recipients }) => ({
    batch: batch.id,
    n,
    fence,
    firstPosition: recipients[0]?.position as number,
    lastPosition: recipients.at(-1)?.position as number,
    intended: {
      positions: recipients.map(({ position }) => position),
      whole: n === 0 && !batch.more && recipients.length === batch.recipients.length,
      submission: {
        tenant: batch.tenant,
        channel: batch.channel,
        sender: batch.sender,
        recipients: recipients.map(({ recipient }) => recipient),
        deliveryReport: 'yes',
        attempt: 1,
      },
    },
  }));
}

function headOf({ batch, n, fence, firstPosition, lastPosition }: Started) {
  return { batch, n, fence, firstPosition, lastPosition, provider: PROVIDER };
}

/** @param named whether the answer has an id for the first message */
function accepted(started: Started, named = true): PlainOutcome {
  const { batch, n, firstPosition, intended } = started;
  return {
    ...headOf(started),
    result: 'accepted',
    reference: `ref-${batch}-s${n}`,
    ...(named && {
      messageIds: new Map([[firstPosition, `id-${batch}-s${n}-${firstPosition}`]]),
    }),
    intended,
  };
}

function reportOf(changes: Partial<DeliveryReport>): DeliveryReport {
  return {
    reference: null,
    messageId: null,
    recipient: null,
    status: 'delivered',
    rawStatus: 'DELIVRD',
    errorCode: null,
    providerTime: new Date('2026-01-01T00:00:00Z'),
    ...changes,
  };
}
