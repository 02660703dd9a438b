import type { Sql } from './sql.js';

/** Column types of row sources; every dialect has the same words for them. */
export type ColumnType = 'uuid' | 'int' | 'bigint' | 'text' | 'key';

/** Columns of a row source. Their names start with `v_`, so that they never shadow a table's column. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** Many rows as one relation from one statement's parameters: no placeholders per row, one plan. */
export interface RowSource {
  /** A relation to put after FROM or JOIN, already named `v`. */
  readonly sql: string;
  /**
   * The same relation, for a join with a table by its key. PostgreSQL does not learn how many rows there
   * are: by their number its planner would read a table of some megabytes whole, for each statement.
   */
  readonly keyed: string;
  readonly names: readonly string[];
  bind(rows: readonly (readonly unknown[])[]): unknown[];
}

/** Inserts rows; resolves with the number written. */
export type RowInserter = (
  sql: Pick<Sql, 'run'>,
  rows: readonly (readonly unknown[])[],
) => Promise<number>;

export interface UpdateFrom {
  readonly table: string;
  readonly rows: RowSource;
  readonly set: string;
  readonly where: string;
  /** The index that finds the rows of `where`. @default the primary key */
  readonly index?: string;
}

/** Names of the column types in CREATE TABLE. */
export interface TypeNames {
  readonly uuid: string;
  /** Up to 255 characters, may be indexed. */
  readonly key: string;
  /** An address: up to 320 characters, may be indexed. */
  readonly address: string;
  readonly text: string;
  readonly big: string;
  readonly int: string;
  readonly small: string;
  /** A text of so many characters at most. */
  readonly short: (length: number) => string;
}

export interface LaneClock {
  /** Moves the clocks of lanes on; `bind` gives its parameters. */
  readonly advance: string;
  bind(lanes: readonly string[]): unknown[];
  /** The clock of the lane `v_lane`. */
  readonly at: string;
}

/**
 * The words in which the three families of servers differ. Statements are written with `?`. The drivers
 * implement it: `postgres/dialect.ts`, `mysql/dialect.ts`, `sqlite/dialect.ts`.
 */
export interface Dialect {
  /** For migrations, whose DDL has no common form. Everything else asks for the word it needs. */
  readonly kind: 'sqlite' | 'postgres' | 'mysql';
  readonly types: TypeNames;
  /** Database time in epoch microseconds. */
  readonly now: string;
  /** The batch `batch` has something left to start, in the words of the index of such batches. */
  readonly hasWork: (batch: string) => string;
  /**
   * A clock of each lane, where the server's counts milliseconds only: it tells batches apart that are
   * accepted within one. `undefined`: {@link now} is exact.
   */
  readonly laneClock: LaneClock | undefined;
  /** A parameter that is a 64-bit integer, where no column gives it a type. */
  readonly bigint: string;
  /**
   * After a table that is locked: the index that finds its rows. MariaDB reads a small table whole, and
   * would wait for every row that another transaction has locked.
   */
  forceIndex(index: string): string;
  /** Locks the rows of the named alias until the transaction ends. */
  forUpdate(alias: string): string;
  /** The same, without the rows that another transaction has locked. */
  skipLocked(alias: string): string;
  /** The greater of two expressions. */
  greatest(a: string, b: string): string;
  /** Joins what follows to a row source. The source is the outer side: it is small and has no statistics. */
  readonly join: 'JOIN' | 'CROSS JOIN' | 'STRAIGHT_JOIN';
  /**
   * A further condition on rows found by their key. Hidden from a planner that trusts statistics: by
   * those hardly a row is ever `sending`, and the planner would compare every row with every row.
   */
  residual(condition: string): string;
  /** Integer division. */
  div(a: string, b: string): string;
  /** Suffix of an INSERT … SELECT that leaves existing rows alone. */
  ignoreConflict(table: string, column: string): string;
  /**
   * Suffix of an INSERT … SELECT that sets columns of an existing row; `new.` names the row not inserted.
   * `where` is the condition of the key's index, where the server has one.
   */
  onConflict(key: string, set: string, where?: string): string;
  rows(columns: Columns): RowSource;
  /**
   * Inserts many rows of `columns`.
   * @param into `INSERT INTO … (…)`
   * @param suffix SQL after the rows, such as {@link onConflict}
   */
  inserter(into: string, columns: Columns, suffix: string): RowInserter;
  /**
   * After FROM: the rows of `table` whose `column` is among the source's one column. PostgreSQL takes the
   * array itself, because it uses an index for one; it has no statistics of a relation.
   */
  whereIn(table: string, column: string, alias: string, values: RowSource): string;
  updateFrom(update: UpdateFrom): string;
  /** Deletes the rows of `table` whose `key` is in the source's `v_id`. */
  deleteFrom(table: string, key: string, ids: RowSource): string;
  /** A member of a JSON text, as text; null where it is not there. */
  jsonField(column: string, name: string): string;
  /** The driver's own placeholders in place of `?`. */
  placeholders(sql: string): string;
  /**
   * Common table expressions, the last one `heads (lane, priority, due_at)`: when the first batch with
   * work of each lane and priority is due, and the first of those put aside.
   */
  readonly laneHeads: string;
}

/** Inserts from a row source. */
export function insertFrom(rows: RowSource, into: string, suffix: string): RowInserter {
  const statement = `${into} SELECT ${rows.names.join(', ')} FROM ${rows.sql} WHERE 1 = 1 ${suffix}`;
  return (sql, given) => sql.run(statement, rows.bind(given));
}
