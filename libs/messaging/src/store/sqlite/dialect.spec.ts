import { expect, it } from '@jest/globals';
import { SQLITE_DIALECT } from './dialect.js';

it('SQLite gets no bare LIMIT ?, for which it would prepare the statement at each run', () => {
  const { placeholders } = SQLITE_DIALECT;
  expect(placeholders('SELECT a FROM (SELECT 1 AS a LIMIT ?) LIMIT ? OFFSET ?')).toBe(
    'SELECT a FROM (SELECT 1 AS a LIMIT +?) LIMIT +? OFFSET ?',
  );
});
