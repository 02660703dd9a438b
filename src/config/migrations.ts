import { setTimeout as wait } from 'node:timers/promises';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';

/** Names of the migrations this database has not had; none are run and nothing is created. */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  return pending.map(({ name }) => name);
}

/** No table at all of the ones migrations make. */
export async function isEmptyDatabase(dataSource: DataSource): Promise<boolean> {
  const executed = await new MigrationExecutor(dataSource).getExecutedMigrations();
  return executed.length === 0;
}

const LOCK = 7_238_455;

/** Milliseconds a replica waits for the one that migrates before it. */
const PATIENCE = 300_000;

/**
 * Runs what is pending, one process at a time: servers have a lock for it; on SQLite the loser of
 * the race waits and finds the work done.
 * @throws where somebody else holds the lock for `patience` milliseconds
 */
export async function runMigrations(dataSource: DataSource, patience = PATIENCE): Promise<void> {
  const lock = lockOf(dataSource, patience);
  if (!lock) return raced(dataSource);
  await locked(dataSource, lock, () => dataSource.runMigrations({ transaction: 'each' }));
}

/**
 * What replicas that start together do one after the other, after their migrations. On SQLite the
 * transactions of `work` see to that themselves.
 */
export function oneAtATime<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const lock = lockOf(dataSource, PATIENCE);
  return lock ? locked(dataSource, lock, work) : work();
}

function lockOf({ options }: DataSource, patience: number): Lock | undefined {
  switch (options.type) {
    case 'postgres':
      return {
        take: [
          `SET lock_timeout = ${patience}`,
          `SELECT 1 AS taken FROM pg_advisory_lock(${LOCK})`,
        ],
        give: ['RESET lock_timeout', `SELECT pg_advisory_unlock(${LOCK})`],
      };
    case 'mysql':
    case 'mariadb':
      return {
        take: [`SELECT GET_LOCK('dundun_migrations', ${patience / 1_000}) AS taken`],
        give: ["SELECT RELEASE_LOCK('dundun_migrations')"],
      };
    default:
      return undefined;
  }
}

interface Lock {
  readonly take: readonly string[];
  readonly give: readonly string[];
}

async function locked<T>(
  dataSource: DataSource,
  { take, give }: Lock,
  work: () => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await isTaken(runner, take)))
      throw new Error(
        'Another session holds the migration lock and does not end; wait for its migration, or end that session, and start again',
      );
    return await work();
  } finally {
    // On a connection that is gone there is nothing to give back.
    for (const statement of give) await runner.query(statement).catch(() => undefined);
    await runner.release();
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
  // MySQL says 0 after the time, and NULL where something went wrong.
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
