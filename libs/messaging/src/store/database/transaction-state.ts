import type { QueryRunner } from 'typeorm';

interface TransactionState {
  isTransactionActive: boolean;
  transactionDepth: number;
}

/** Marks a transaction as begun in TypeORM, so that a listener's saves by the manager join it. */
export function began(runner: QueryRunner): void {
  Object.assign(runner as unknown as TransactionState, {
    isTransactionActive: true,
    transactionDepth: 1,
  });
}

export function ended(runner: QueryRunner): void {
  Object.assign(runner as unknown as TransactionState, {
    isTransactionActive: false,
    transactionDepth: 0,
  });
}

/** 1 in a transaction, plus one for each savepoint within it. */
export function depthOf(runner: QueryRunner): number {
  return (runner as unknown as TransactionState).transactionDepth;
}

/**
 * Whether SQLite rolled back the transaction by itself, for example because the disk is full. Code
 * that ignores that error would continue outside any transaction, where each statement commits.
 */
export function isUndone({ dataSource: { driver } }: QueryRunner): boolean {
  const { databaseConnection } = driver as { databaseConnection?: { inTransaction?: boolean } };
  return databaseConnection?.inTransaction === false;
}
