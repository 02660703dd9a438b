import { afterAll, describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { type Columns, grouped } from '../../../libs/messaging/src/store/database/dialect.js';
import { SQLITE_DIALECT } from '../../../libs/messaging/src/store/sqlite/dialect.js';

type Row = readonly [id: string, number: number, text: string | null, flag: boolean];

const COLUMNS: Columns<Row> = {
  v_id: ['uuid', ([id]) => id],
  v_number: ['bigint', ([, number]) => number],
  v_text: ['text', ([, , text]) => text],
  v_flag: ['int', ([, , , flag]) => flag],
};

const select = grouped(
  SQLITE_DIALECT,
  COLUMNS,
  ({ sql, names }) =>
    `SELECT ${names.join(', ')}, typeof(v_number) AS number_type, typeof(v_text) AS text_type, typeof(v_flag) AS flag_type FROM ${sql}`,
);

describe('rows of SQLite statements', () => {
  const database = new Database(':memory:');
  afterAll(() => {
    database.close();
  });

  const read = (rows: readonly Row[]) => {
    const { built, params } = select(rows);
    return { params, found: database.prepare(built).all(params) };
  };
  const rowsOf = (count: number, number: (n: number) => number, text: string | null): Row[] =>
    Array.from({ length: count }, (_, n) => [`id-${n}`, number(n), text, true]);

  it('a SQLite statement binds values that all rows share once, with their JSON types', () => {
    const shared = read(rowsOf(20, () => 1_795_408_070_886_000, null));
    expect(shared.params).toHaveLength(4);
    expect(shared.found).toHaveLength(20);
    expect(shared.found[19]).toMatchObject({
      v_id: 'id-19',
      v_number: 1_795_408_070_886_000,
      number_type: 'integer',
      v_text: null,
      text_type: 'null',
      v_flag: 1,
      flag_type: 'integer',
    });
  });

  it('a SQLite statement binds values that differ with their rows', () => {
    const mixed = read([...rowsOf(20, (n) => n, 'a'), ['last', 7, 'b', true]]);
    expect(mixed.params).toHaveLength(2);
    expect(mixed.found[20]).toMatchObject({ v_id: 'last', v_number: 7, v_text: 'b', v_flag: 1 });
    expect(mixed.found[5]).toMatchObject({ v_id: 'id-5', v_number: 5, number_type: 'integer' });
  });

  it('a SQLite statement binds every value of a small group with its row', () => {
    const few = read(rowsOf(2, () => 1, 'a'));
    expect(few.params).toHaveLength(1);
    expect(few.found[1]).toMatchObject({ v_id: 'id-1', v_number: 1, v_text: 'a', v_flag: 1 });
  });
});
