import type { EntityManager } from 'typeorm';

/** Statements on one connection or transaction, with `?` placeholders. */
export interface Sql {
  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]>;
  /** Resolves with the number of changed rows. */
  run(sql: string, params?: readonly unknown[]): Promise<number>;
}

/** `manager` is for listeners. */
export interface Transaction extends Sql {
  readonly manager: EntityManager;
}

export interface AlsoOption {
  /** Runs in the transaction of the change, such as to record its author. @default nothing */
  readonly also?: (manager: EntityManager) => Promise<unknown>;
}
