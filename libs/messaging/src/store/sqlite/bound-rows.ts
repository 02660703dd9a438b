import type { RowWriter } from '../database/dialect.js';

/** Rows per statement: few texts, so that each is prepared once. */
const SIZES = [256, 64, 16, 4, 1];

/** Bound values take half the time of values in JSON; one that all rows share is bound once. */
export function boundRows(columns: readonly string[], statement: string): RowWriter {
  const texts = new Map<string, string>();
  const textOf = (size: number, own: readonly number[]): string => {
    const key = `${size}:${own.join()}`;
    const known = texts.get(key);
    if (known) return known;
    const values = columns.map((_, column) =>
      own.includes(column) ? `column${own.indexOf(column) + 1}` : '?',
    );
    const row = `(${own.map(() => '?').join(', ')})`;
    const rows = Array.from({ length: size }, () => row).join(', ');
    const text = `WITH v(${columns.join(', ')}) AS (SELECT ${values.join(', ')} FROM (VALUES ${rows})) ${statement}`;
    texts.set(key, text);
    return text;
  };
  return async (sql, rows) => {
    let written = 0;
    for (let from = 0; from < rows.length;) {
      const size = SIZES.find((one) => one <= rows.length - from) ?? 1;
      const part = rows.slice(from, from + size);
      const [first] = part as [readonly unknown[]];
      const own: number[] = [];
      const params: unknown[] = [];
      for (let column = 0; column < columns.length; column++)
        if (column === 0 || part.some((row) => row[column] !== first[column])) own.push(column);
        else params.push(first[column]);
      for (const row of part) for (const column of own) params.push(row[column]);
      written += await sql.run(textOf(size, own), params);
      from += size;
    }
    return written;
  };
}
