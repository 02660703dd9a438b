import { expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DataSource, type MigrationInterface } from 'typeorm';
import { SilentTypeOrmLogger } from '../../../src/config/database.js';
import { MESSAGING_MIGRATIONS, migrateDatabase } from '@dundun/messaging/migrations';
import { BatchData } from '../../../libs/messaging/src/store/reads/batch-data.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { BATCH_TEXT_MIGRATIONS } from '../../../libs/messaging/src/store/schema/batch-text.js';
import { describeEachDatabase } from '../../support/databases.js';

// Migrates a database once for each of its statements.
jest.setTimeout(300_000);

const LONG = `${'"é\n'.repeat(700_000)}😀`;

const email = (text: string) => ({ kind: 'email', subject: 'Hello', text, html: `<p>${text}</p>` });

const CONTENTS = [
  { ...email(LONG), $labels: { tags: ['vip'], metadata: {} }, $personal: true },
  { kind: 'text', text: 'short' },
  email('short'),
  { ...email('y'.repeat(5_000)), to: [{ email: 'ada@example.com' }] },
];

class BrokenOff extends Error {}

const isBytes = (value: unknown): value is Buffer => Buffer.isBuffer(value);

describeEachDatabase('batches of the version before', (database) => {
  const open = (migrations: readonly (new () => MigrationInterface)[]) =>
    new DataSource({
      ...database.options({ entities: [], migrations: [...migrations] }),
      logger: new SilentTypeOrmLogger(),
    }).initialize();

  /** @returns false: it came to its end before any statement it had not made before */
  async function isBrokenOff(source: DataSource, made: Set<string>): Promise<boolean> {
    const create = source.createQueryRunner.bind(source);
    source.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner);
      return Object.assign(runner, {
        query: async (sql: string, ...rest: [unknown[]?]) => {
          const answer: unknown = await query(sql, ...rest);
          const values = (rest[0] ?? []).map((value) => (isBytes(value) ? value.length : value));
          const statement = [sql, ...values].join();
          if (!/batch_text|_new|messaging_batch SET/.test(sql) || made.has(statement))
            return answer;
          made.add(statement);
          throw new BrokenOff(sql);
        },
      });
    };
    try {
      await migrateDatabase(source);
      return false;
    } catch (error) {
      if (error instanceof BrokenOff) return true;
      throw error;
    } finally {
      await source.destroy();
    }
  }

  it('a migration that is interrupted after any statement goes on, and every content is read whole', async () => {
    const before = await open(
      MESSAGING_MIGRATIONS.filter((one) => !BATCH_TEXT_MIGRATIONS.includes(one as never)),
    );
    await migrateDatabase(before);
    const store = databaseOf(before);
    const ids = CONTENTS.map((): string => randomUUID());
    const bytes = Buffer.alloc(3_000_000, 7);
    for (const [n, id] of ids.entries()) {
      await before.transaction(async (manager) => {
        const tx = store.join(manager);
        const add = (table: string, row: Record<string, unknown>) =>
          tx.run(
            `INSERT INTO messaging_${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(
              row,
            )
              .map(() => '?')
              .join(', ')})`,
            Object.values(row),
          );
        await add('batch', {
          id,
          channel: 'email',
          lane: 'l',
          priority: 1,
          sender: 's',
          delivery_report: 1,
          parts: 1,
          recipient_count: 1,
          created_at: 1,
          available_at: 1,
          state: 0,
          content: JSON.stringify(CONTENTS[n]),
        });
        await add('batch_personal', { batch: id, n: 0, entries: `{"name":"${n}"}` });
        await add('batch_attachment', { batch: id, digest: 'd', n: 0, bytes });
      });
    }
    await before.destroy();

    const made = new Set<string>();
    while (await isBrokenOff(await open(MESSAGING_MIGRATIONS), made));
    expect(made.size).toBeGreaterThan(8);

    const source = await open([]);
    const data = new BatchData(databaseOf(source));
    const rows: { id: string; content: string }[] = await source.query(
      'SELECT id, content FROM messaging_batch',
    );
    const contents = rows.map(({ id, content }) => ({ batch: id, content }));
    expect(Math.max(...contents.map(({ content }) => content.length))).toBeLessThan(1_000);
    const read = await data.reader(contents);
    for (const { batch, content } of contents) {
      const { $labels, $personal, ...whole } = CONTENTS[ids.indexOf(batch)] as never as {
        $labels?: object;
        $personal?: boolean;
      };
      const stored = read(batch, content);
      expect(stored?.content).toEqual(whole);
      expect([stored?.labels, stored?.hasPersonal]).toEqual([$labels, $personal]);
      const info = { filename: 'f', contentType: 'a/b', size: bytes.length, sha256: 'd' };
      expect((await data.attachments(batch, [info]))?.[0]?.content.equals(bytes)).toBe(true);
      expect(await data.personal([{ batch, position: 0 }])).toEqual([
        { name: String(ids.indexOf(batch)) },
      ]);
    }
    await source.destroy();
  });
});
