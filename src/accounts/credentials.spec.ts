import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import type { CredentialKind } from './accounts.tables.js';
import {
  CredentialVerifier,
  fingerprint,
  isWellFormed,
  newSecret,
  randomBase62,
} from './credentials.js';

describe('newSecret', () => {
  it.each<[CredentialKind, RegExp]>([
    ['api_token', /^tok_[0-9A-Za-z]{49}$/],
    ['api_key', /^svk_[0-9A-Za-z]{49}$/],
  ])('a new %s has its form and a valid checksum', (kind, form) => {
    for (let n = 0; n < 200; n++) {
      const secret = newSecret(kind);
      expect(secret).toMatch(form);
      expect(isWellFormed(secret)).toBe(true);
    }
  });

  it('secret characters are uniformly distributed', () => {
    const drawn = 62 * 4_000;
    const counts = new Map<string, number>();
    for (const character of randomBase62(drawn))
      counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = drawn / 62;
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    );
    expect(counts.size).toBe(62);
    // 61 degrees of freedom: above 130 once in a million runs; modulo bias on a byte gives over 900.
    expect(chiSquare).toBeLessThan(130);
  });
});

describe('isWellFormed', () => {
  const secret = newSecret('api_token');

  it('a secret with one changed character is refused', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: secret.length - 1 }),
        fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'),
        (index, character) => {
          fc.pre(secret[index] !== character);
          expect(isWellFormed(secret.slice(0, index) + character + secret.slice(index + 1))).toBe(
            false,
          );
        },
      ),
    );
  });

  it("a token with a key's prefix is refused", () => {
    expect(isWellFormed(secret.replace('tok_', 'svk_'))).toBe(false);
    expect(isWellFormed(secret.slice(0, -1))).toBe(false);
    expect(isWellFormed(`${secret}A`)).toBe(false);
    expect(isWellFormed('')).toBe(false);
  });
});

describe('fingerprint', () => {
  it('the fingerprint is SHA-256 in hex', () => {
    expect(fingerprint('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

describe('CredentialVerifier', () => {
  const token = newSecret('api_token');
  const key = newSecret('api_key');
  const manager = { find: () => Promise.reject(new Error('the database was read')) };
  const verifier = new CredentialVerifier({ manager } as unknown as DataSource);

  it('the secret of a well-formed header is looked up', async () => {
    const read = 'the database was read';
    await expect(verifier.verify(`Bearer ${token}`, 'api_token')).rejects.toThrow(read);
    await expect(verifier.verify(`bearer ${key}`, 'api_key')).rejects.toThrow(read);
  });

  it.each([
    [undefined, 'missing header'],
    ['', 'missing header'],
    [token, 'missing Bearer'],
    [`Basic ${token}`, 'missing Bearer'],
    [`Bearer  ${token}`, 'white space'],
    [`Bearer ${token} `, 'white space'],
    [`Bearer ${token.slice(0, 20)} ${token.slice(20)}`, 'white space'],
    [`Bearer ${token}\t`, 'white space'],
    ['Bearer ', 'white space'],
    [`Bearer ${token.slice(0, -1)}`, 'malformed or bad checksum'],
    ['Bearer <API_TOKEN>', 'malformed or bad checksum'],
    [`Bearer ${key}`, 'wrong kind'],
  ])('%j is refused without a database read: %s', async (header, cause) => {
    expect(await verifier.verify(header, 'api_token')).toEqual({ cause });
  });
});
