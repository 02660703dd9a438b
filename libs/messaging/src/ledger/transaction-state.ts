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
