import type { QueryRunner } from 'typeorm';

interface TransactionState {
  isTransactionActive: boolean;
  transactionDepth: number;
}

/** Tells TypeORM of a transaction it did not begin, so that what a listener saves through the manager joins it. */
export function began(runner: QueryRunner): void {
  Object.assign(runner as unknown as TransactionState, {
    isTransactionActive: true,
    transactionDepth: 1,
  });
}

/** Tells TypeORM that it is over. */
export function ended(runner: QueryRunner): void {
  Object.assign(runner as unknown as TransactionState, {
    isTransactionActive: false,
    transactionDepth: 0,
  });
}

/** 1 in a transaction, one more in each savepoint within it. */
export function depthOf(runner: QueryRunner): number {
  return (runner as unknown as TransactionState).transactionDepth;
}

/**
 * SQLite undoes a transaction by itself where it cannot go on, as where the disk is full. Whoever swallows
 * the error writes on outside any transaction: each statement is kept, whatever is told of the transaction.
 */
export function isUndone({ dataSource: { driver } }: QueryRunner): boolean {
  const { databaseConnection } = driver as { databaseConnection?: { inTransaction?: boolean } };
  return databaseConnection?.inTransaction === false;
}
