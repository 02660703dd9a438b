import assert from 'node:assert/strict';
import { BatchNotFoundError } from '../../../../libs/messaging/src/message/errors.js';
import { systemClock } from '../../../../libs/messaging/src/ports/clock.js';
import type { StoreContract } from './store-bench.js';

export function upkeepContract({ describe, test }: StoreContract): void {
  describe('upkeep', () => {
    test('reads at one moment do not see what commits beside them, and no commit waits for them', async (bench) => {
      const store = await bench.open();
      const other = await bench.open();
      await bench.enqueue(store);
      const count = async (sql: Pick<typeof store.database, 'all'>) => {
        const [row] = await sql.all<{ n: number | string }>(
          'SELECT count(*) AS n FROM messaging_batch WHERE tenant = ?',
          [bench.scope.tenant],
        );
        return Number(row?.n);
      };
      const counts = await store.database.snapshot(async (sql) => {
        const before = await count(sql);
        await bench.enqueue(store);
        await bench.enqueue(other);
        await new Promise((resolve) => setImmediate(resolve));
        return [before, await count(sql), await count(store.database)];
      });
      assert.deepEqual(counts, [1, 1, 3]);
      await assert.rejects(
        store.database.snapshot(() => Promise.reject(new Error('stopped'))),
        /stopped/,
      );
      assert.equal(await store.database.snapshot(count), 3);
    });

    test('a recipient of any address kind is erased from ended batches, and other recipients stay', async (bench) => {
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

    test('the message of an erased recipient of an open batch is cancelled, and other messages are sent', async (bench) => {
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

    test('erasures of a tenant that run at the same time share walks, and each erases its own recipient', async (bench) => {
      const store = await bench.open();
      const { tenant } = bench.scope;
      const keys = Array.from({ length: 30 }, (_, n) => bench.to(n));
      const id = await bench.enqueue(store, keys.length, { recipients: keys });
      const erased = keys.slice(0, 25);
      const ids = await store.database.transaction((tx) =>
        store.erasures.begin(tx, tenant, erased),
      );
      const all = store.database.all.bind(store.database);
      let walks = 0;
      store.database.all = (sql, params) => {
        if (sql.includes('LIKE ?')) walks++;
        return all(sql, params);
      };
      const answers = await Promise.all(ids.map((one) => store.erasures.run([one])));
      assert.deepEqual(
        answers,
        erased.map(() => ({ messages: 1, remaining: 0 })),
      );
      assert.ok(walks < 10, `${walks} walks`);
      const { data } = await store.reads.recipients(id, bench.scope, { limit: 100 });
      assert.deepEqual(data, [...erased.map(() => ''), ...keys.slice(25)]);
    });

    test('lanes and batches that wait for the former time of a clock that was set back become due', async (bench) => {
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
      const slot = await store.lanes.reserve(rate, 1, 10);
      assert.ok(slot.first - slot.now < 60_000);

      // While the process runs, it sees the clock go back, and corrects pauses and deferred batches.
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

    test('retention erases and deletes ended batches, except those of an exempt channel', async (bench) => {
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
