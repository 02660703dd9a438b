import assert from 'node:assert/strict';
import { Purge } from '../../../../libs/messaging/src/store/upkeep/purge.js';
import { LONG_TEXT } from '../../../../libs/messaging/src/store/rows/stored-content.js';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import { accepted, type StoreContract } from './store-bench.js';

/** A character of two code units stands across the end of a piece. */
const LONG = `${'"\n'.repeat(524_287)}x😀${'é'.repeat(700_000)}`;

export function longTextContract({ describe, test }: StoreContract): void {
  describe('long texts', () => {
    const rowsOf = async (store: MessageStore, id: string) => {
      const [row] = await store.database.all<{ content: string | null }>(
        'SELECT content FROM messaging_batch WHERE id = ?',
        [id],
      );
      const pieces = await store.database.all(
        'SELECT n, piece FROM messaging_batch_text WHERE batch = ?',
        [id],
      );
      return { content: row?.content, pieces: pieces.length };
    };

    test('a content with long texts is planned and shown whole, and its batch has a short row', async (bench) => {
      const store = await bench.open();
      const email = {
        kind: 'email',
        from: { email: 'hello@example.com' },
        subject: 'Hello',
        text: LONG,
        html: `<p>${'h'.repeat(LONG_TEXT)}</p>`,
        headers: { a: 'short', b: 'b'.repeat(LONG_TEXT + 1) },
      } as const;
      const labels = { tags: ['vip'], metadata: {} };
      const contents = [
        { kind: 'text', text: 'x'.repeat(LONG_TEXT) },
        { kind: 'text', text: 'y'.repeat(LONG_TEXT + 1) },
        email,
      ] as const;
      const ids: string[] = [];
      for (const content of contents)
        for (const key of [null, 'key'])
          ids.push(
            await bench.enqueue(store, 1, {
              content,
              labels,
              idempotencyKey: key && `${key} ${ids.length}`,
              fingerprint: key,
            }),
          );
      const planned = await store.work.plan(bench.lane, 10);
      assert.deepEqual(
        planned.map(({ id, content }) => [id, content]),
        ids.map((id, n) => [id, contents[Math.floor(n / 2)]]),
      );
      for (const [n, id] of ids.entries()) {
        const view = await store.reads.batch(id, bench.scope);
        assert.deepEqual(view.content, contents[Math.floor(n / 2)]);
        const { content, pieces } = await rowsOf(store, id);
        assert.ok(content && content.length < 2 * LONG_TEXT);
        assert.equal(pieces, [0, 1, 4][Math.floor(n / 2)]);
      }
      const { data } = await store.reads.batches({ tenants: [bench.scope.tenant] }, { limit: 10 });
      assert.deepEqual(
        data.map(({ content }) => content),
        ids.map((_, n) => contents[Math.floor(n / 2)]).toReversed(),
      );
      const found = await store.records.contents([`${ids[5]}-0`]);
      assert.deepEqual(found.get(`${ids[5]}-0`), email);
    });

    test('a content that was erased after its row was read is not planned', async (bench) => {
      const store = await bench.open();
      const id = await bench.enqueue(store, 1, { content: { kind: 'text', text: LONG } });
      await store.database.transaction((tx) =>
        tx.run('DELETE FROM messaging_batch_text WHERE batch = ?', [id]),
      );
      assert.deepEqual(await store.work.plan(bench.lane, 10), []);
      assert.equal((await store.reads.batch(id, bench.scope)).content, null);
    });

    test('retention erases long texts with their content', async (bench) => {
      const store = await bench.open();
      const content = { kind: 'text', text: LONG } as const;
      const id = await bench.enqueue(store, 1, { content, deliveryReport: false });
      for (const started of await bench.intend(store))
        await store.outcomes.record(accepted(started));
      assert.equal((await rowsOf(store, id)).pieces, 2);
      await store.database.transaction((tx) =>
        tx.run('UPDATE messaging_batch SET completed_at = 1, poll_at = NULL WHERE id = ?', [id]),
      );
      const purge = new Purge(store.database, { content: 1, messages: undefined }, 0);
      while (await purge.step(10));
      assert.deepEqual(await rowsOf(store, id), { content: null, pieces: 0 });
    });

    test('a mailbox is erased from a content whose long texts stay', async (bench) => {
      const store = await bench.open();
      const to = [{ email: 'ada@example.com' }, { email: 'eve@example.com' }];
      const id = await bench.enqueue(store, 2, {
        channel: 'calls',
        content: {
          kind: 'email',
          from: { email: 'hello@example.com' },
          to,
          subject: 'Hello',
          text: LONG,
        },
        recipients: to.map(({ email }) => email),
      });
      const scope = { ...bench.scope, channel: 'calls' };
      const before = await store.reads.batch(id, scope);
      const ids = await store.database.transaction((tx) =>
        store.erasures.begin(tx, bench.scope.tenant, ['ada@example.com']),
      );
      await store.erasures.run(ids);
      const { content } = await store.reads.batch(id, scope);
      assert.deepEqual(content, { ...before.content, to: [to[1]] });
    });
  });
}
