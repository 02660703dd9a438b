import type { Sql } from '../database/sql.js';

/**
 * Rows per statement: few texts, so that each is prepared once, and few statements for any number
 * of rows.
 */
const SIZES = [256, 128, 64, 32, 16, 8, 4, 2, 1] as const;

/** Inserts rows on SQLite with bound values, which take half the time of values read from JSON. */
export class BoundRows {
  readonly #statements: ReadonlyMap<number, string>;

  /**
   * @param into SQL before the rows: `INSERT INTO … (…)`
   * @param row `(?, …)`
   * @param after SQL after the rows
   */
  constructor(into: string, row: string, after: string) {
    this.#statements = new Map(
      SIZES.map((size) => [
        size,
        `${into} VALUES ${Array.from({ length: size }, () => row).join(', ')} ${after}`,
      ]),
    );
  }

  /** Resolves with the number of inserted rows. */
  async insert(tx: Pick<Sql, 'run'>, rows: readonly (readonly unknown[])[]): Promise<number> {
    let written = 0;
    for (let from = 0; from < rows.length;) {
      const size = SIZES.find((one) => one <= rows.length - from) ?? 1;
      const params: unknown[] = [];
      for (const end = from + size; from < end; from++)
        for (const value of rows[from] as readonly unknown[]) params.push(value);
      written += await tx.run(this.#statements.get(size) as string, params);
    }
    return written;
  }
}
