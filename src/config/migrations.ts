import { setTimeout as wait } from 'node:timers/promises';
import { type DataSource, MigrationExecutor } from 'typeorm';

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

/**
 * Runs what is pending, one process at a time: servers have a lock for it; on SQLite the loser of
 * the race waits and finds the work done.
 */
export async function runMigrations(dataSource: DataSource): Promise<void> {
  switch (dataSource.options.type) {
    case 'postgres':
      return locked(
        dataSource,
        'SELECT pg_advisory_lock(7238455)',
        'SELECT pg_advisory_unlock(7238455)',
      );
    case 'mysql':
    case 'mariadb':
      return locked(
        dataSource,
        "SELECT GET_LOCK('dundun_migrations', 300)",
        "SELECT RELEASE_LOCK('dundun_migrations')",
      );
    default:
      return raced(dataSource);
  }
}

async function locked(dataSource: DataSource, lock: string, unlock: string): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query(lock);
    await dataSource.runMigrations({ transaction: 'each' });
    await runner.query(unlock);
  } finally {
    await runner.release();
  }
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
