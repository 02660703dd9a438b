import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Verp } from './verp.js';

const key = (n: number) => Buffer.alloc(32, n);
const submission = '019a0f3e-7c55-7000-8000-0123456789ab-s42';

describe('a return address with its submission', () => {
  it('a return address gives its submission back, in any letter case', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(999_999), (uuid, n) => {
        const verp = new Verp([key(1)]);
        const id = `${uuid}-s${n}`;
        const address = verp.addressOf(id, 'bounce.example.com') as string;
        expect(verp.submissionOf(address)).toBe(id);
        expect(verp.submissionOf(address.toUpperCase())).toBe(id);
      }),
    );
  });

  it('the local part of a return address has at most 64 octets', () => {
    const address = new Verp([key(1)]).addressOf(
      '019a0f3e-7c55-7000-8000-0123456789ab-s999999',
      'bounce.example.com',
    ) as string;
    expect(address.indexOf('@')).toBeLessThanOrEqual(64);
    expect(address).toMatch(/^b\+[0-9a-f]{32}-s999999\.[a-z2-7]{20}@bounce\.example\.com$/);
  });

  it('a changed return address is no return address', () => {
    const verp = new Verp([key(1)]);
    const address = verp.addressOf(submission, 'bounce.example.com') as string;
    for (let index = 0; index < address.indexOf('@'); index++)
      for (const letter of ['a', '7', '-']) {
        if (address[index] === letter) continue;
        const changed = address.slice(0, index) + letter + address.slice(index + 1);
        expect(verp.submissionOf(changed)).toBeUndefined();
      }
    expect(verp.submissionOf(`x${address}`)).toBeUndefined();
    expect(verp.submissionOf('@')).toBeUndefined();
  });

  it('an old key still verifies after a rotation, and a removed one no longer does', () => {
    const address = new Verp([key(1)]).addressOf(submission, 'b.example') as string;
    expect(new Verp([key(2), key(1)]).submissionOf(address)).toBe(submission);
    expect(new Verp([key(2)]).submissionOf(address)).toBeUndefined();
    expect(new Verp([key(2), key(1)]).addressOf(submission, 'b.example')).not.toBe(address);
  });

  it('an id of another form has no return address', () => {
    expect(new Verp([key(1)]).addressOf('order-7', 'b.example')).toBeUndefined();
  });
});
