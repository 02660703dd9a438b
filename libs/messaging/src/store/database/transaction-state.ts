import type { QueryRunner } from 'typeorm';

/** Tells TypeORM of a transaction, so that a listener's saves by the manager join it. */
export function setInTransaction(runner: QueryRunner, isTransactionActive: boolean): void {
  Object.assign(runner, { isTransactionActive, transactionDepth: isTransactionActive ? 1 : 0 });
}

/**
 * A method to put back after it was replaced. Not bound: each time would put one more bound function
 * around the last one.
 */
export function methodOf<K extends keyof QueryRunner>(
  runner: QueryRunner,
  name: K,
): QueryRunner[K] {
  return Reflect.get(runner, name) as QueryRunner[K];
}

/** 1 in a transaction, plus one for each savepoint within it. */
export function depthOf(runner: QueryRunner): number {
  return (runner as unknown as { transactionDepth: number }).transactionDepth;
}

/**
 * Whether SQLite rolled back the transaction by itself, for example because the disk is full. Code
 * that ignores that error would continue outside any transaction, where each statement commits.
 */
export function isUndone(runner: QueryRunner): boolean {
  return inTransaction(runner) === false;
}

/** Whether SQLite has a transaction open on the connection, whatever TypeORM counts. */
export function isOpen(runner: QueryRunner): boolean {
  return inTransaction(runner) === true;
}

function inTransaction({ dataSource: { driver } }: QueryRunner): boolean | undefined {
  const { databaseConnection } = driver as { databaseConnection?: { inTransaction?: boolean } };
  return databaseConnection?.inTransaction;
}
