import { expect, it } from '@jest/globals';
import { keepNewest } from './keep-newest.js';

it('keeps the entries of a map that were set last', () => {
  const map = new Map([1, 2, 3, 4].map((key) => [key, key]));
  keepNewest(map, 4);
  expect([...map.keys()]).toEqual([1, 2, 3, 4]);
  keepNewest(map, 2);
  expect([...map.keys()]).toEqual([3, 4]);
});
