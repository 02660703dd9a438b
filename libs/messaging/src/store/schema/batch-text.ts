import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { Dialect } from '../database/dialect.js';
import { driverOf } from '../open-store.js';
import { cutContent, LONG_TEXT, readContent, wholeOf } from '../rows/stored-content.js';
import { INSERT_TEXT, type TextRow, textPiecesOf, textsOf } from '../rows/batch-data.js';
import { columnsSql, entitiesOf } from './columns.js';

const COLUMNS = {
  /** UTF-8 of a long text of a batch's content, in pieces; see `cutContent()`. */
  batch_text: {
    batch: 'uuid NOT NULL',
    /** Number of the text in the content. */
    n: 'int NOT NULL',
    piece: 'int NOT NULL',
    bytes: 'bytes NOT NULL',
  },
} as const;

const PRIMARY_KEYS = { batch_text: 'batch, n, piece' } as const;

export const BATCH_TEXT_ENTITIES = entitiesOf(COLUMNS, PRIMARY_KEYS);

/** Tables with large columns that SQLite kept `WITHOUT ROWID`. */
const LARGE = ['batch_personal', 'batch_attachment', 'inbound_text'];

/** Batches whose contents one statement looks at. */
const STEP = 500;

/**
 * Moves long texts out of the contents of batches, one batch at a time. Each step may be the last
 * before the process dies: the next run repeats it, and skips what is moved.
 */
class BatchTexts1790000000910 implements MigrationInterface {
  readonly name = 'BatchTexts1790000000910';

  async up(runner: QueryRunner): Promise<void> {
    const driver = driverOf(runner.dataSource);
    const { dialect } = driver;
    // SQLite compares keys of a table without row ids by whole rows, and here a row has megabytes.
    const options = dialect.kind === 'sqlite' ? '' : await driver.tableOptions(runner);
    for (const [table, columns] of Object.entries(COLUMNS))
      await runner.query(
        `CREATE TABLE IF NOT EXISTS messaging_${table} (${columnsSql(columns, dialect.types).join(', ')},
          PRIMARY KEY (${PRIMARY_KEYS[table as keyof typeof COLUMNS]}))${options}`,
      );
    if (dialect.kind === 'sqlite') for (const table of LARGE) await giveRowIds(runner, table);
    await moveTexts(runner, dialect);
  }

  async down(runner: QueryRunner): Promise<void> {
    await returnTexts(runner, driverOf(runner.dataSource).dialect);
    await runner.query('DROP TABLE IF EXISTS messaging_batch_text');
  }
}

/** Within a savepoint: there may be a transaction around it. */
async function giveRowIds(runner: QueryRunner, name: string): Promise<void> {
  const table = `messaging_${name}`;
  const [made] = (await runner.query('SELECT sql FROM sqlite_schema WHERE name = ?', [table])) as {
    sql: string;
  }[];
  const [, columns] = /\((.*)\) WITHOUT ROWID$/s.exec(made?.sql ?? '') ?? [];
  if (columns === undefined) return;
  const indexes = (await runner.query(
    'SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND type = ? AND sql IS NOT NULL',
    [table, 'index'],
  )) as { sql: string }[];
  await runner.query('SAVEPOINT give_row_ids');
  try {
    await runner.query(`CREATE TABLE ${table}_new (${columns})`);
    await runner.query(`INSERT INTO ${table}_new SELECT * FROM ${table}`);
    await runner.query(`DROP TABLE ${table}`);
    await runner.query(`ALTER TABLE ${table}_new RENAME TO ${table}`);
    for (const { sql } of indexes) await runner.query(sql);
  } catch (error) {
    await runner.query('ROLLBACK TO give_row_ids');
    throw error;
  } finally {
    await runner.query('RELEASE give_row_ids');
  }
}

async function moveTexts(runner: QueryRunner, dialect: Dialect): Promise<void> {
  const query = queryOf(runner, dialect);
  const length = dialect.kind === 'mysql' ? 'char_length' : 'length';
  for await (const id of batchesWhere(query, `${length}(b.content) > ${LONG_TEXT}`)) {
    const [row] = await query<{ content: string }>(CONTENT, [id]);
    const { json, texts } = cutContent(row?.content ?? '{}');
    if (texts.length === 0) continue;
    // Of a run that died.
    await query('DELETE FROM messaging_batch_text WHERE batch = ?', [id]);
    for (const { n, piece, bytes } of textPiecesOf(texts))
      await query(INSERT_TEXT, [id, n, piece, bytes]);
    await query(SET_CONTENT, [json, id]);
  }
}

/** Puts the texts back where the version before finds them. */
async function returnTexts(runner: QueryRunner, dialect: Dialect): Promise<void> {
  const query = queryOf(runner, dialect);
  for await (const id of batchesWhere(query, `b.content LIKE '%"$texts":[%'`)) {
    const [row] = await query<{ content: string }>(CONTENT, [id]);
    const pieces = await query<TextRow>(
      'SELECT batch, n, piece, bytes FROM messaging_batch_text WHERE batch = ? ORDER BY n, piece',
      [id],
    );
    const stored = readContent(row?.content ?? '{}', textsOf(pieces));
    await query(SET_CONTENT, [JSON.stringify(wholeOf(stored)), id]);
  }
}

const CONTENT = 'SELECT content FROM messaging_batch WHERE id = ?';
const SET_CONTENT = 'UPDATE messaging_batch SET content = ? WHERE id = ?';

type Query = <T>(sql: string, params: readonly unknown[]) => Promise<T[]>;

function queryOf(runner: QueryRunner, dialect: Dialect): Query {
  return (sql, params) => runner.query(dialect.placeholders(sql), params as unknown[]);
}

async function* batchesWhere(query: Query, condition: string): AsyncGenerator<string> {
  for (let after = FIRST; ;) {
    const found = await query<{ id: string; fits: string | number }>(
      `SELECT b.id, CASE WHEN ${condition} THEN 1 ELSE 0 END AS fits
       FROM messaging_batch b WHERE b.id > ? ORDER BY b.id LIMIT ${STEP}`,
      [after],
    );
    for (const { id, fits } of found) if (Number(fits) === 1) yield id;
    const last = found.at(-1);
    if (!last) return;
    after = last.id;
  }
}

/** Before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

export const BATCH_TEXT_MIGRATIONS = [BatchTexts1790000000910];
