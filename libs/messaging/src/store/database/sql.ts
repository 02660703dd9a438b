import type { EntityManager } from 'typeorm';

/** Statements on one connection or transaction, written with `?`. */
export interface Sql {
  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]>;
  /** Resolves with the number of rows changed. */
  run(sql: string, params?: readonly unknown[]): Promise<number>;
}

/** A transaction; `manager` is for listeners. */
export interface Transaction extends Sql {
  readonly manager: EntityManager;
}
