import type { EntityManager, QueryRunner } from 'typeorm';

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

/** Statements on a runner; `textOf` makes the database's own of one written with `?`. */
export function statementsOn(
  runner: QueryRunner,
  manager: EntityManager,
  textOf: (sql: string) => string,
): Transaction {
  return {
    manager,
    all: <T>(sql: string, params?: readonly unknown[]) =>
      runner.query(textOf(sql), params as unknown[]) as Promise<T[]>,
    run: async (sql: string, params?: readonly unknown[]): Promise<number> => {
      const result = await runner.query(textOf(sql), params as unknown[], true);
      return (
        result.affected ?? (result.raw as { affectedRows?: number } | undefined)?.affectedRows ?? 0
      );
    },
  };
}
