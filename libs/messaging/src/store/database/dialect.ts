import type { Sql } from './sql.js';

export type ColumnType = 'uuid' | 'int' | 'bigint' | 'text' | 'key';

/** A column's type, and its value in a row; without a function, a row is an array of values. */
export type Column<T> = ColumnType | readonly [type: ColumnType, of: (row: T) => unknown];

/** Columns of a row source; their names start with `v_`, so they never shadow a table's column. */
export type Columns<T = readonly unknown[]> = Readonly<Record<string, Column<T>>>;

export interface Relation {
  /** A relation with the alias `v`. */
  readonly sql: string;
  /** For joins by key: hides the row count, or PostgreSQL would read small tables whole. */
  readonly keyed: string;
  readonly names: readonly string[];
}

/** Many rows as one relation: no placeholders per row, one plan. */
export interface RowSource<T = readonly unknown[]> extends Relation {
  bind(rows: readonly T[]): unknown[];
}

/** Resolves with the number of changed rows; without rows it runs no statement. */
export type RowWriter<T = readonly unknown[]> = (
  sql: Pick<Sql, 'run'>,
  rows: readonly T[],
) => Promise<number>;

export interface InsertFrom {
  /** The inserted values. @default the columns of the row source */
  readonly values?: string;
  readonly suffix?: string;
}

export interface UpdateFrom {
  readonly table: string;
  readonly rows: Relation;
  readonly set: string;
  readonly where: string;
  /** The index for `where`. @default the primary key */
  readonly index?: string;
  /**
   * The key of `table` that the first column of `rows` has. The table's rows are then locked in the
   * order of its code units, in which the caller gives `rows`, and on PostgreSQL all of them change or
   * none, so that the statement can stand alone. @default each that fits, in an order that the server chooses
   */
  readonly lockedBy?: string;
}

export interface TypeNames {
  readonly uuid: string;
  /** Up to 255 characters, indexable. */
  readonly key: string;
  /** Up to 320 characters, indexable. */
  readonly address: string;
  readonly text: string;
  readonly bytes: string;
  readonly big: string;
  readonly int: string;
  readonly small: string;
  readonly short: (length: number) => string;
}

/** SQL that differs between the three families of servers, with `?` placeholders. */
export interface Dialect {
  /** Only for migrations, whose DDL has no common form. All other code uses the members below. */
  readonly kind: 'sqlite' | 'postgres' | 'mysql';
  readonly types: TypeNames;
  /** Database time in epoch microseconds. */
  readonly now: string;
  /** Condition on a batch with work. It matches the index of such batches literally. */
  readonly hasWork: (batch: string) => string;
  /** A 64-bit integer parameter, for places where no column gives the type. */
  readonly bigint: string;
  /** Without the hint MariaDB reads a small table whole and waits for every locked row. */
  forceIndex(index: string): string;
  forUpdate(alias: string): string;
  skipLocked(alias: string): string;
  /** Statement that limits the next waits for locks of a transaction; `undefined`: it waits for none. */
  lockTimeout(milliseconds: number): string | undefined;
  greatest(a: string, b: string): string;
  /** Joins a table to a row source, the outer side: it is small and has no statistics. */
  readonly join: 'JOIN' | 'CROSS JOIN' | 'STRAIGHT_JOIN';
  /**
   * A further condition on rows found by their key, hidden from the planner. By its statistics
   * hardly any row is `sending`, so it would choose a nested loop over all rows.
   */
  residual(condition: string): string;
  div(a: string, b: string): string;
  /** A text field of a JSON object in a text column. */
  jsonText(column: string, field: string): string;
  ignoreConflict(table: string, column: string): string;
  /**
   * Suffix of an INSERT … SELECT that updates columns of an existing row; `new.` refers to the
   * rejected row. `where` is the condition of the key's partial index, where the server has one.
   */
  onConflict(key: string, set: string, where?: string): string;
  /** @param shared columns whose value all rows share, where `sharesValues` */
  rows<T = readonly unknown[]>(columns: Columns<T>, shared?: ReadonlySet<string>): RowSource<T>;
  /**
   * Whether a value that all rows share is bound once. SQLite would parse the JSON of every row for
   * it: 3 µs of CPU for each row of eleven columns, eight of them shared.
   */
  readonly sharesValues: boolean;
  /** Whether parts of a statement can read the rows that others of it have changed, by `WITH … RETURNING`. */
  readonly chains: boolean;
  /**
   * FROM clause: the rows of `table` whose `column` is in the source's only column. PostgreSQL gets
   * the array, because it uses an index for arrays and has no statistics of a relation.
   */
  whereIn(table: string, column: string, alias: string, values: Relation): string;
  updateFrom(update: UpdateFrom): string;
  /** Deletes the rows whose `key` is among the source's `v_id`. */
  deleteFrom(table: string, key: string, ids: Relation): string;
  /** A statement in the form that the server takes. */
  placeholders(sql: string): string;
  /**
   * Common table expressions that end with `heads (lane, priority, due_at)`: for each lane and
   * priority the due time of the first batch with work, and of the first deferred batch.
   */
  readonly laneHeads: string;
  /**
   * Query for a `mark` that differs in a restored dump of the database; `undefined`: the server has
   * none that only a restore changes.
   */
  readonly instanceMark: string | undefined;
}

export interface Member<T> {
  readonly name: string;
  readonly type: ColumnType;
  readonly of: (row: T) => unknown;
}

export function membersOf<T>(columns: Columns<T>): Member<T>[] {
  return Object.entries(columns).map(([name, column], index) => {
    if (typeof column !== 'string') return { name, type: column[0], of: column[1] };
    return { name, type: column, of: (row: T) => (row as readonly unknown[])[index] };
  });
}

/** Binds rows as one JSON text: an array for each row, in the order of the columns. */
export function jsonRows<T>(members: readonly Member<T>[]): RowSource<T>['bind'] {
  return (rows) => {
    const table: unknown[][] = rows.map(() => []);
    // Column by column: the engine then calls one function at a time.
    for (const { of } of members)
      for (let at = 0; at < rows.length; at++) table[at]!.push(of(rows[at] as T) ?? null);
    return [JSON.stringify(table)];
  };
}

/** Statements over rows, and their parameters for some rows. */
export type Grouped<T, S> = (rows: readonly T[]) => {
  readonly built: S;
  readonly params: unknown[];
};

/** In smaller groups columns share a value by chance, and each such set has its own statements. */
const SHARING_ROWS = 8;

/** Builds statements over rows, once for each set of columns whose value all rows share. */
export function grouped<T, S>(
  dialect: Pick<Dialect, 'rows' | 'sharesValues'>,
  columns: Columns<T>,
  build: (rows: Relation) => S,
): Grouped<T, S> {
  // The first column is the key.
  const candidates = membersOf(columns).slice(1);
  const variants = new Map<string, { readonly source: RowSource<T>; readonly built: S }>();
  return (rows) => {
    const shared =
      dialect.sharesValues && rows.length >= SHARING_ROWS
        ? candidates.filter(({ of }) => isShared(rows, of)).map(({ name }) => name)
        : [];
    const key = shared.join();
    let variant = variants.get(key);
    if (!variant) {
      const source = dialect.rows(columns, new Set(shared));
      variants.set(key, (variant = { source, built: build(source) }));
    }
    return { built: variant.built, params: variant.source.bind(rows) };
  };
}

function isShared<T>(rows: readonly T[], of: (row: T) => unknown): boolean {
  const value = of(rows[0] as T) ?? null;
  return rows.every((row) => (of(row) ?? null) === value);
}

/** `INSERT INTO` the columns that have the names of the row source, without `v_`, and `further`. */
export function into<T>(table: string, columns: Columns<T>, ...further: string[]): string {
  const names = Object.keys(columns).map((name) => name.slice(2));
  return `INSERT INTO messaging_${table} (${[...names, ...further].join(', ')})`;
}

export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

export type StatementOf<T> = (rows: readonly T[]) => Statement;

/** @param into `INSERT INTO … (…)` */
export function insertion<T = readonly unknown[]>(
  dialect: Pick<Dialect, 'rows' | 'sharesValues'>,
  into: string,
  columns: Columns<T>,
  { values, suffix = '' }: InsertFrom = {},
): StatementOf<T> {
  return statementOf(
    dialect,
    columns,
    ({ names, sql }) =>
      `${into} SELECT ${values ?? names.join(', ')} FROM ${sql} WHERE 1 = 1 ${suffix}`,
  );
}

export function updateOf<T = readonly unknown[]>(
  dialect: Pick<Dialect, 'rows' | 'sharesValues' | 'updateFrom'>,
  columns: Columns<T>,
  update: Omit<UpdateFrom, 'rows'>,
): StatementOf<T> {
  return statementOf(dialect, columns, (rows) => dialect.updateFrom({ ...update, rows }));
}

export function inserter<T = readonly unknown[]>(
  ...insert: Parameters<typeof insertion<T>>
): RowWriter<T> {
  return writer(insertion(...insert));
}

export function updater<T = readonly unknown[]>(
  ...update: Parameters<typeof updateOf<T>>
): RowWriter<T> {
  return writer(updateOf(...update));
}

function statementOf<T>(
  dialect: Pick<Dialect, 'rows' | 'sharesValues'>,
  columns: Columns<T>,
  build: (rows: Relation) => string,
): StatementOf<T> {
  const group = grouped(dialect, columns, build);
  return (rows) => {
    const { built, params } = group(rows);
    return { sql: built, params };
  };
}

function writer<T>(statementOf: StatementOf<T>): RowWriter<T> {
  return async (sql, rows) => {
    if (rows.length === 0) return 0;
    const statement = statementOf(rows);
    return sql.run(statement.sql, statement.params);
  };
}

/** Largest number of cached texts; some contain a list of conditions. */
const REMEMBERED = 1_000;

/** Translates each text once. */
export function memoise(translate: (sql: string) => string): (sql: string) => string {
  const known = new Map<string, string>();
  return (sql) => {
    let translated = known.get(sql);
    if (translated !== undefined) return translated;
    if (known.size >= REMEMBERED) known.clear();
    known.set(sql, (translated = translate(sql)));
    return translated;
  };
}
