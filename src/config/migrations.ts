import { setTimeout as wait } from 'node:timers/promises';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';

export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  return pending.map(({ name }) => name);
}

/** Whether no migration has run on this database. */
export async function isEmptyDatabase(dataSource: DataSource): Promise<boolean> {
  const executed = await new MigrationExecutor(dataSource).getExecutedMigrations();
  return executed.length === 0;
}

const LOCK = 7_238_455;

/** Longest wait for another replica's migrations, in milliseconds. */
const LOCK_TIMEOUT = 300_000;

/**
 * One process migrates at a time, under a lock of the server; on SQLite the others wait for it.
 * @throws where another session holds the lock for `timeout` milliseconds
 */
export function runMigrations(dataSource: DataSource, timeout = LOCK_TIMEOUT): Promise<unknown> {
  if (dataSource.options.type === 'better-sqlite3') return raced(dataSource);
  return oneAtATime(dataSource, () => dataSource.runMigrations({ transaction: 'each' }), timeout);
}

/** One replica at a time, after the migrations; SQLite serialises the transactions by itself. */
export async function oneAtATime<T>(
  dataSource: DataSource,
  work: () => Promise<T>,
  timeout = LOCK_TIMEOUT,
): Promise<T> {
  const lock = lockOf(dataSource, timeout);
  if (!lock) return work();
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await isTaken(runner, lock.take)))
      throw new Error(
        'Another session holds the migration lock and does not end; wait for its migration, or end that session, and start again',
      );
    return await work();
  } finally {
    // A lost connection has already released its locks.
    for (const statement of lock.give) await runner.query(statement).catch(() => undefined);
    await runner.release();
  }
}

interface Lock {
  readonly take: readonly string[];
  readonly give: readonly string[];
}

function lockOf({ options }: DataSource, timeout: number): Lock | undefined {
  switch (options.type) {
    case 'postgres':
      return {
        take: [`SET lock_timeout = ${timeout}`, `SELECT 1 AS taken FROM pg_advisory_lock(${LOCK})`],
        give: ['RESET lock_timeout', `SELECT pg_advisory_unlock(${LOCK})`],
      };
    case 'mysql':
    case 'mariadb':
      return {
        take: [`SELECT GET_LOCK('dundun_migrations', ${timeout / 1_000}) AS taken`],
        give: ["SELECT RELEASE_LOCK('dundun_migrations')"],
      };
    default:
      return undefined;
  }
}

async function isTaken(runner: QueryRunner, take: readonly string[]): Promise<boolean> {
  let taken: unknown;
  try {
    for (const statement of take)
      taken = ((await runner.query(statement)) as { taken?: unknown }[])[0]?.taken;
  } catch (error) {
    if (error instanceof Error && /lock timeout/.test(error.message)) return false;
    throw error;
  }
  // MySQL returns 0 after the timeout, and NULL after an error.
  return Number(taken) === 1;
}

const RACE_LASTS = 30_000;

async function raced(dataSource: DataSource): Promise<void> {
  const deadline = performance.now() + RACE_LASTS;
  for (let left = Number.POSITIVE_INFINITY; ;) {
    try {
      await dataSource.runMigrations({ transaction: 'each' });
      return;
    } catch (error) {
      const pending = (await pendingMigrations(dataSource)).length;
      const othersWork = pending < left || isLocked(error);
      if (!othersWork || performance.now() > deadline) throw error;
      left = pending;
      await wait(20 + Math.random() * 80);
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && /SQLITE_BUSY|database is locked/.test(`${error.message}`);
}
