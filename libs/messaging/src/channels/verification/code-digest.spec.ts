import * as crypto from 'node:crypto';
import { beforeAll, expect, it, jest } from '@jest/globals';

const compared: [number, number][] = [];
jest.unstable_mockModule('node:crypto', () => ({
  ...crypto,
  timingSafeEqual: (one: Uint8Array, other: Uint8Array) => {
    compared.push([one.length, other.length]);
    return crypto.timingSafeEqual(one, other);
  },
}));
let matchesDigest: (typeof import('./code-digest.js'))['matchesDigest'];
beforeAll(async () => ({ matchesDigest } = await import('./code-digest.js')));

it.each([
  ['the first digest', ['a'.repeat(43), 'b'.repeat(43)], 'a'.repeat(43), true],
  ['the last digest', ['a'.repeat(43), 'b'.repeat(43)], 'b'.repeat(43), true],
  ['no digest', ['a'.repeat(43), 'b'.repeat(43)], 'c'.repeat(43), false],
  ['no digest of a verification that does not exist', ['a'.repeat(43), 'b'.repeat(43)], '', false],
  ['a prefix', ['a'.repeat(43), 'b'.repeat(43)], 'a'.repeat(42), false],
])(
  'where %s matches, timingSafeEqual compares every digest, in one length',
  (_, given, stored, matches) => {
    compared.length = 0;
    expect(matchesDigest(given, stored)).toBe(matches);
    expect(compared).toEqual([
      [32, 32],
      [32, 32],
    ]);
  },
);
