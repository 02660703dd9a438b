import { expect, it } from '@jest/globals';
import { digestId, timedDigestId } from './digest-id.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;
const AT = Date.UTC(2026, 0, 1);

it('the same fields give the same id, other fields another one', () => {
  expect(digestId('a', 1, null)).toMatch(UUID);
  expect(digestId('a', 1, null)).toBe(digestId('a', 1, null));
  expect(digestId('a', 1, null)).not.toBe(digestId('a', '1', null));
  expect(timedDigestId(AT, 'a')).toMatch(UUID);
  expect(timedDigestId(AT, 'a')).toBe(timedDigestId(AT, 'a'));
  expect(timedDigestId(AT, 'a')).not.toBe(timedDigestId(AT, 'b'));
  expect(timedDigestId(AT, 'a')).not.toBe(timedDigestId(AT + 1, 'a'));
});

it('ids are in the order of their time; ids without a time differ as well', () => {
  const ids = [null, Date.UTC(1990, 0, 1), AT, AT + 1].map((time) => timedDigestId(time, 'a'));
  expect([...ids].sort()).toEqual(ids);
  expect(timedDigestId(null, 'a')).toMatch(UUID);
  expect(timedDigestId(null, 'a')).not.toBe(timedDigestId(null, 'b'));
});
