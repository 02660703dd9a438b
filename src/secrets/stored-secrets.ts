import { withMigrationLock } from '@dundun/messaging/migrations';
import { Logger } from '@nestjs/common';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { whileLocked } from '../config/database.js';
import { type Environment, EnvironmentError } from '../config/environment.js';
import {
  keyIdOf,
  type SecretColumn,
  type SecretKeys,
  UnreadableSecretError,
} from './secret-keys.js';
import { secretKeysOf } from './secrets.js';
import { CHECK_VALUE, ONLY, SecretsKeyEntity } from './secrets.tables.js';

type KeySettings = Pick<Environment, 'SECRETS_KEY' | 'SECRETS_KEY_PREVIOUS'>;

export interface Rotation {
  /** The id of the key that all secrets are encrypted under now. */
  readonly keyId: string;
  readonly rewritten: number;
  /** False: a file of the database may hold former bytes until the next start. */
  readonly purged: boolean;
}

/** The text that the check value holds. */
const KNOWN = 'dundun';

/** Rows per transaction. */
const SLICE = 500;

/**
 * Checks `SECRETS_KEY` against the secrets of the database, and encrypts those that are stored in
 * clear. @throws EnvironmentError that names the variable
 */
export async function adoptSecretsKey(
  dataSource: DataSource,
  environment: KeySettings,
  columns: readonly SecretColumn[],
): Promise<void> {
  const keys = secretKeysOf(environment);
  const stored = await checkSecretsKey(dataSource, environment);
  if (!keys) return;
  const known = keys.ids;
  const isDone = stored?.purgeDue === 0 && !(await hasOthers(dataSource, columns, known));
  if (!isDone) await withMigrationLock(dataSource, () => encrypt(dataSource, keys, columns, known));
}

/**
 * Checks `SECRETS_KEY` against the secrets of the database, and changes nothing.
 * @returns the row of the check value @throws EnvironmentError that names the variable
 */
export async function checkSecretsKey(
  dataSource: DataSource,
  environment: KeySettings,
): Promise<SecretsKeyEntity | null> {
  const keys = secretKeysOf(environment);
  const find = () => dataSource.manager.findOneBy(SecretsKeyEntity, { id: ONLY });
  const stored = await whileLocked(find);
  if (!keys && stored) throw keyError('is missing, and the secrets of this database are encrypted');
  if (keys && stored) checkKey(keys, stored);
  return stored;
}

/** Encrypts every secret under `SECRETS_KEY`. @throws EnvironmentError */
export function rotateSecretsKey(
  dataSource: DataSource,
  environment: KeySettings,
  columns: readonly SecretColumn[],
): Promise<Rotation> {
  const keys = secretKeysOf(environment);
  if (!keys)
    throw new EnvironmentError([
      'SECRETS_KEY: is missing; set the new key, and the former one as SECRETS_KEY_PREVIOUS',
    ]);
  return withMigrationLock(dataSource, async () => {
    const rotated = await encrypt(dataSource, keys, columns, [keys.id]);
    return { keyId: keys.id, ...rotated };
  });
}

/**
 * Encrypts the secrets that are not under one of the keys `done`, and purges their former bytes. A
 * crash leaves `purge_due`, and the next start continues.
 */
async function encrypt(
  dataSource: DataSource,
  keys: SecretKeys,
  columns: readonly SecretColumn[],
  done: readonly string[],
): Promise<Pick<Rotation, 'rewritten' | 'purged'>> {
  const others = await hasOthers(dataSource, columns, done);
  const { checkValue, purgeDue } = await transaction(dataSource, (manager) =>
    claim(manager, keys, others),
  );
  let rewritten = 0;
  try {
    for (const column of columns) rewritten += await reseal(dataSource, keys, column, done);
  } catch (error) {
    if (error instanceof UnreadableSecretError) throw keyError(`does not open ${error.message}`);
    throw error;
  }
  // The last one: under the new key only once all others are.
  if (!done.includes(keyIdOf(checkValue) ?? ''))
    await store(dataSource, { checkValue: checkOf(keys) });
  const purged = purgeDue === 0 || (await purge(dataSource, columns));
  if (purged && purgeDue !== 0) await store(dataSource, { purgeDue: 0 });
  return { rewritten, purged };
}

/** The row of the check value, made where there is none, and marked where a purge becomes due. */
async function claim(
  manager: EntityManager,
  keys: SecretKeys,
  others: boolean,
): Promise<SecretsKeyEntity> {
  const stored = await manager.findOneBy(SecretsKeyEntity, { id: ONLY });
  if (stored) checkKey(keys, stored);
  const claimed = {
    id: ONLY,
    checkValue: stored?.checkValue ?? checkOf(keys),
    purgeDue: others ? 1 : (stored?.purgeDue ?? 0),
  };
  return manager.save(SecretsKeyEntity, claimed);
}

/** @throws EnvironmentError where none of the keys is that of the database */
function checkKey(keys: SecretKeys, { checkValue }: SecretsKeyEntity): void {
  try {
    if (keys.open(CHECK_VALUE, ONLY, checkValue) === KNOWN) return;
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
  }
  throw keyError(
    `is not the key of this database's secrets (${keyIdOf(checkValue)}), and neither is SECRETS_KEY_PREVIOUS`,
  );
}

function checkOf(keys: SecretKeys): string {
  return keys.seal(CHECK_VALUE, ONLY, KNOWN);
}

function keyError(problem: string): EnvironmentError {
  return new EnvironmentError([
    `SECRETS_KEY: ${problem}; set the key they were encrypted with, or set it as SECRETS_KEY_PREVIOUS beside a new one`,
  ]);
}

async function store(dataSource: DataSource, change: Partial<SecretsKeyEntity>): Promise<void> {
  await transaction(dataSource, (manager) =>
    manager.update(SecretsKeyEntity, { id: ONLY }, change),
  );
}

/** Secrets of a column that are in clear, or under none of these keys. */
function othersOf({ table, column, key }: SecretColumn, done: readonly string[]): string {
  const isOther = done.map((id) => `AND ${column} NOT LIKE 'enc1.${id}.%'`).join(' ');
  return `SELECT ${key} AS id, ${column} AS stored FROM ${table}
    WHERE ${column} IS NOT NULL ${isOther} ORDER BY ${key}`;
}

async function hasOthers(
  dataSource: DataSource,
  columns: readonly SecretColumn[],
  done: readonly string[],
): Promise<boolean> {
  for (const column of columns) {
    const rows = await dataSource.query<unknown[]>(`${othersOf(column, done)} LIMIT 1`);
    if (rows.length > 0) return true;
  }
  return false;
}

/** Never overwrites a secret that another process changes meanwhile. Returns the number of rows. */
async function reseal(
  dataSource: DataSource,
  keys: SecretKeys,
  place: SecretColumn,
  done: readonly string[],
): Promise<number> {
  const { table, column, key } = place;
  const [one, two, three] =
    dataSource.options.type === 'postgres' ? ['$1', '$2', '$3'] : ['?', '?', '?'];
  for (let count = 0; ;) {
    const rows = await dataSource.query<{ id: string; stored: string }[]>(
      `${othersOf(place, done)} LIMIT ${SLICE}`,
    );
    if (rows.length === 0) return count;
    const sealed = rows.map(({ id, stored }) => {
      const secret = keyIdOf(stored) === undefined ? stored : keys.open(place, id, stored);
      return [keys.seal(place, id, secret), id, stored];
    });
    await transaction(dataSource, async (manager) => {
      for (const values of sealed)
        await manager.query(
          `UPDATE ${table} SET ${column} = ${one} WHERE ${key} = ${two} AND ${column} = ${three}`,
          values,
        );
    });
    count += rows.length;
  }
}

/** Waits for the lock of SQLite, which has one writer. */
function transaction<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return whileLocked(() => dataSource.transaction(work));
}

/** Rewrites the tables, so that their files hold no former bytes. Never throws. */
async function purge(dataSource: DataSource, columns: readonly SecretColumn[]): Promise<boolean> {
  const tables = [...new Set([CHECK_VALUE, ...columns].map(({ table }) => table))];
  try {
    await rewriteTables(dataSource, tables);
    return true;
  } catch (error) {
    const message =
      'former bytes of secrets may remain in the database; the next start tries again';
    new Logger('Secrets').warn({ message, err: error });
    return false;
  }
}

/** In transactions: a pooler would leave a setting of the session to another client. */
async function rewriteOnPostgres(runner: QueryRunner, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const [index] = (await runner.query(
      'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = $1::regclass AND indisprimary',
      [table],
    )) as { name: string }[];
    // Writes the rows to a new file, as VACUUM FULL does, which runs in no transaction.
    await runner.query(`START TRANSACTION; SET LOCAL lock_timeout = '30s';
      CLUSTER ${table} USING ${index?.name}; ALTER TABLE ${table} SET WITHOUT CLUSTER; COMMIT`);
  }
}

async function rewriteOnMysql(runner: QueryRunner, tables: readonly string[]): Promise<void> {
  await runner.query('SET SESSION lock_wait_timeout = 30');
  try {
    for (const table of tables) await runner.query(`OPTIMIZE TABLE ${table}`);
  } finally {
    await runner.query('SET SESSION lock_wait_timeout = DEFAULT');
  }
}

async function rewriteTables(dataSource: DataSource, tables: readonly string[]): Promise<void> {
  const { type } = dataSource.options;
  const runner = dataSource.createQueryRunner();
  try {
    if (type === 'better-sqlite3') {
      await whileLocked(() => runner.query('VACUUM'));
      // The log still holds the pages from before.
      await whileLocked(() => truncateLog(runner));
      return;
    }
    if (type === 'postgres') await rewriteOnPostgres(runner, tables);
    else await rewriteOnMysql(runner, tables);
  } finally {
    await runner.release();
  }
}

async function truncateLog(runner: QueryRunner): Promise<void> {
  const [log] = (await runner.query('PRAGMA wal_checkpoint(TRUNCATE)')) as { busy: number }[];
  if (log?.busy) throw new Error('database is locked by a reader of its log');
}
