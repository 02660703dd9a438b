import { Logger } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { MessagingError } from '../../message/errors.js';
import type { LockHolder, MigrationLock } from '../driver.js';
import { driverOf } from '../open-store.js';

const LOCK = 741_852_963;

/** Longest wait, in ms, for a session with the lock that runs nothing. */
const TIMEOUT = 30_000;

/** Time, in ms, between two looks at the lock; a longer one is a stall of this process. */
const LOOK = 250;

/** Time, in ms, between two lines of the log. */
const LOGGED = 10_000;

/** Another session has the lock and makes no progress, or has a table that a migration needs. */
export class MigrationLockedError extends MessagingError {
  constructor(message: string, options?: ErrorOptions) {
    super('migration_locked', message, options);
  }
}

export interface MigrationLockOptions {
  /** Longest wait, in ms, for a session with the lock that runs nothing. @default 30_000 */
  readonly timeout?: number | undefined;
  /** Called while the session with the lock works, and after each migration. */
  readonly onProgress?: (() => void) | undefined;
}

const logger = new Logger('Migrations');

/**
 * Runs `work` while no other process of this database migrates; on SQLite at once. It works on other
 * connections than the one that holds the lock, for as long as it needs.
 * @throws MigrationLockedError where another session holds the lock and runs nothing for `timeout`
 */
export async function withMigrationLock<T>(
  dataSource: DataSource,
  work: () => Promise<T>,
  options: MigrationLockOptions = {},
): Promise<T> {
  const { dialect } = driverOf(dataSource);
  if (dialect.kind === 'sqlite') return work();
  return underLock(dataSource, options, async (runner) => {
    // Shows the others that this process is alive.
    const beat = setInterval(() => void runner.query('SELECT 1').catch(() => undefined), 1_000);
    try {
      return await work();
    } finally {
      clearInterval(beat);
    }
  });
}

/**
 * Runs `work` on the one connection that holds the lock: it is held for as long as the statements of
 * `work` run on the server, also after the death of this process, and never longer.
 */
export async function underLock<T>(
  dataSource: DataSource,
  { timeout = TIMEOUT, onProgress }: MigrationLockOptions,
  work: (runner: QueryRunner, lock: MigrationLock) => Promise<T>,
): Promise<T> {
  const { migrationLock: lock } = driverOf(dataSource);
  const runner = dataSource.createQueryRunner();
  try {
    await take(lock, runner, timeout, onProgress);
    const result = await work(runner, lock).catch(async (error: unknown) => {
      // A lost connection has already given up its lock.
      await lock.release(runner, LOCK, false).catch(() => undefined);
      throw error;
    });
    await lock.release(runner, LOCK, true);
    return result;
  } finally {
    await runner.release();
  }
}

async function take(
  lock: MigrationLock,
  runner: QueryRunner,
  timeout: number,
  onProgress: MigrationLockOptions['onProgress'],
): Promise<void> {
  let idle = 0;
  let logged = -Infinity;
  const began = performance.now();
  for (let last = began; ;) {
    if (await lock.take(runner, LOCK)) return;
    const holder = await lock.holder(runner, LOCK);
    const now = performance.now();
    idle = holder?.works ? 0 : idle + Math.min(now - last, 4 * LOOK);
    last = now;
    if (holder?.works) onProgress?.();
    if (idle > timeout) throw lockedBy(holder, timeout);
    if (now - logged > LOGGED) {
      logged = now;
      const message = 'waits for the migration of another process';
      const ms = Math.round(now - began);
      logger.log({ message, session: holder?.session ?? null, works: holder?.works ?? null, ms });
    }
    await wait(LOOK * (0.5 + Math.random() / 2));
  }
}

function lockedBy(holder: LockHolder | undefined, timeout: number): MigrationLockedError {
  const session = holder ? `The session ${holder.session}` : 'Another session';
  return new MigrationLockedError(
    `${session} has held the migration lock of this database (${LOCK}) for ${timeout / 1_000} s and runs no statement; end that session, or its process, and start again`,
  );
}

/**
 * Tells of a migration that runs on the lock's connection, until it has ended, and asks by another
 * connection whether its session works.
 */
export async function withProgress<T>(
  dataSource: DataSource,
  lock: MigrationLock,
  migration: string,
  onProgress: MigrationLockOptions['onProgress'],
  work: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  let logged = began;
  let isAsking = false;
  const look = async (): Promise<void> => {
    const runner = dataSource.createQueryRunner();
    try {
      if (!(await lock.holder(runner, LOCK))?.works) return;
      onProgress?.();
      if (performance.now() - logged < LOGGED) return;
      logged = performance.now();
      const ms = Math.round(performance.now() - began);
      logger.log({ message: 'a migration runs', migration, ms });
    } finally {
      await runner.release();
    }
  };
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    void look()
      .catch(() => undefined)
      .finally(() => (isAsking = false));
  }, 1_000);
  try {
    const result = await work();
    onProgress?.();
    return result;
  } finally {
    clearInterval(timer);
  }
}
