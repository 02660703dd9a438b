import assert from 'node:assert/strict';
import type { Columns } from '../../../../libs/messaging/src/store/database/dialect.js';
import { systemClock } from '../../../../libs/messaging/src/ports/clock.js';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import {
  type StoreTable,
  storeColumns,
} from '../../../../libs/messaging/src/store/schema/tables.js';
import { headOf, refused as refusal, type StoreBench, type StoreContract } from './store-bench.js';

/** Letters that latin1 does not have, and one that needs four bytes in UTF-8. */
const wordOf = (mark: string) => `Café 年 عربي 👍${mark}`;

/** Columns with words of the library, digests or lists of numbers. */
const OWN_WORDS: Partial<Record<StoreTable, readonly string[]>> = {
  lane: ['owner'],
  hold: ['reason'],
  instance: ['mark'],
  batch: ['channel'],
  batch_attachment: ['digest'],
  notification: ['status'],
  erasure: ['places'],
  submission: ['reason'],
};

export function textContract({ describe, test }: StoreContract): void {
  describe('texts', () => {
    for (const fastPaths of [true, false])
      test(`every text column of the store keeps the letters of all scripts, fast paths: ${fastPaths}`, async (bench) => {
        const store = await bench.open({ fastPaths });
        const mark = `é${fastPaths ? 1 : 2}`;
        await writeEverything(bench, store, mark);
        const missing: string[] = [];
        for (const [table, columns] of textColumns())
          for (const column of columns) {
            const rows = await store.database.all<{ value: string | null }>(
              `SELECT ${column} AS value FROM messaging_${table}`,
            );
            if (!rows.some(({ value }) => value?.includes('年') && value.includes(`👍${mark}`)))
              missing.push(`${table}.${column}`);
            for (const { value } of rows) assert.doesNotMatch(value ?? '', /\?|�/);
          }
        assert.deepEqual(missing, []);
      });

    test('texts are compared byte by byte: other cases, accents and trailing spaces are other texts', async (bench) => {
      const store = await bench.open();
      const keys = ['Café', 'café', 'Cafe', 'Café ', 'CAFÉ', 'Café 👍', 'Café 😀'];
      const sends = keys.map((idempotencyKey) =>
        bench.enqueue(store, 1, { idempotencyKey, fingerprint: idempotencyKey }),
      );
      assert.equal(new Set(await Promise.all(sends)).size, keys.length);
      for (const idempotencyKey of keys) {
        const batch = bench.batch(1, { idempotencyKey, fingerprint: idempotencyKey });
        assert.equal((await store.newBatches.enqueue(batch)).replayed, true);
      }
    });
  });
}

function textColumns(): (readonly [table: string, columns: readonly string[]])[] {
  const isText = 'text';
  const types = { uuid: '', key: isText, address: isText, text: isText, bytes: '', big: '' };
  const all = storeColumns({ ...types, int: '', small: '', short: () => isText });
  return Object.entries(all).map(([table, columns]) => {
    const own = OWN_WORDS[table as StoreTable] ?? [];
    const texts = columns.filter((column) => / text\b/.test(column));
    return [
      table,
      texts.map((column) => column.split(' ')[0]!).filter((name) => !own.includes(name)),
    ];
  });
}

/** Calls every verb that stores texts of its caller or of a provider. */
async function writeEverything(
  bench: StoreBench,
  store: MessageStore,
  mark: string,
): Promise<void> {
  const word = wordOf(mark);
  const text = `${word} "q" \\ '`;
  const address = `年ñ👍${mark}@example.com`;
  const tenant = `${bench.scope.tenant} ${text}`;
  const { database } = store;
  const lane = `${bench.lane} ${text}`;
  const place = (sql: string, params: unknown[]) =>
    database.transaction((tx) => tx.run(sql, params));
  const provider = word;
  await database.transaction((tx) =>
    store.holds.place(tx, { lanes: lane, reason: 'own', note: text }),
  );
  await store.providerPauses.pause({ provider, pausedFor: 60_000, reason: text, trips: 1 });
  await store.lanes.reserve(text, 1, 1);
  const digest = 'a'.repeat(64);
  const batch = bench.batch(2, {
    tenant,
    channel: 'calls',
    lane,
    sender: text,
    content: { kind: 'text', text },
    recipients: [address, `2${address}`],
    hasPersonal: true,
    personal: [{ name: text, variables: { [text]: text } }, undefined],
    labels: { tags: [word], metadata: { [text]: text } },
    attachments: [
      { filename: text, contentType: 'a/b', digest, content: Buffer.from(text), size: 1 } as never,
    ],
    idempotencyKey: text,
    fingerprint: text,
  });
  await store.newBatches.enqueue(batch);
  // Without data and a key: the fast path of databases that have one.
  const plain = bench.batch(1, { tenant, lane, sender: text, content: batch.content });
  await store.newBatches.enqueue(plain);
  const [read] = (await store.reads.batches({ tenants: [tenant] }, { limit: 2 })).data.slice(-1);
  assert.deepEqual(
    { id: read?.id, sender: read?.sender, content: read?.content },
    { id: batch.id, sender: text, content: batch.content },
  );
  assert.deepEqual((await store.data.labels([batch.id])).get(batch.id), batch.labels);
  assert.deepEqual(await store.data.personal([{ batch: batch.id, position: 0 }]), [
    batch.personal![0],
  ]);

  const lease = (await store.lanes.acquire(lane))!;
  const planned = (await store.work.plan(lane, 10)).find(({ id }) => id === batch.id)!;
  assert.deepEqual(planned.recipients[0]?.recipient, address);
  const started = planned.recipients.map(({ position, recipient }) => ({
    batch: batch.id,
    n: position,
    fence: lease.fence,
    firstPosition: position,
    lastPosition: position,
    intended: {
      positions: [position],
      guarded: false,
      whole: false,
      submission: {
        tenant,
        channel: 'calls',
        sender: text,
        recipients: [recipient],
        deliveryReport: true,
        attempt: 1,
      },
    },
  }));
  await store.intents.record({
    lane,
    fence: lease.fence,
    firstSentAt: Date.now(),
    batches: [{ id: batch.id, revision: 0, pending: false, requeued: false, deferUntil: null }],
    submissions: started.map(({ n }) => ({
      batch: batch.id,
      n,
      firstPosition: n,
      lastPosition: n,
      members: text,
      attempt: 1,
      content: { content: { kind: 'text', text } },
      provider,
      reason: null,
      recipients: [planned.recipients[n]!],
    })),
    deferred: [],
  });
  const [accepted, refused] = started;
  await store.doubts.record({
    ...refused!,
    errorCode: text,
    errorText: text,
    countedFailures: 0,
  });
  await store.outcomes.record({
    ...headOf(accepted!),
    provider,
    result: 'accepted',
    reference: text,
    messageIds: new Map([[0, text]]),
    details: { [text]: text },
    intended: accepted!.intended,
  });
  await store.outcomes.record({
    ...refusal(refused!, { deferFor: 60_000, errorCode: text, errorText: text, refusedBy: text }),
    provider,
  });
  const report = {
    messageId: text,
    reference: text,
    recipient: address,
    status: 'delivered',
    rawStatus: text,
    errorCode: word,
    providerTime: null,
    details: { answer: text } as never,
  };
  await store.reports.record([report, { ...report, messageId: `${text} other` }], { provider });
  const view = await store.reads.message(text, { tenant, channel: 'calls' });
  assert.deepEqual([view.id, view.status], [`${batch.id}-0`, 'delivered']);
  await store.lanes.pause(lease, 1, { provider, reason: text });
  await store.lanes.release(lane, lease.fence, text, false);
  await database.transaction((tx) =>
    store.operators.link(tx, { batchId: batch.id, position: 0 }, plain.id, text),
  );
  await database.transaction((tx) => store.erasures.begin(tx, tenant, [address]));
  await place(
    `INSERT INTO messaging_notification (id, tenant, status, steps, plan, created_at, idempotency_key, fingerprint)
     SELECT v_id, v_tenant, 'pending', v_text, v_text, 1, v_text, v_text FROM ${database.dialect.rows(NOTIFICATION).sql}`,
    database.dialect.rows(NOTIFICATION).bind([[systemClock.id(), tenant, text]]),
  );
}

const NOTIFICATION: Columns = { v_id: 'uuid', v_tenant: 'key', v_text: 'text' };
