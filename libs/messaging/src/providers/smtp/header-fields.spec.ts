import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressParser } from 'postal-mime';
import { PermanentFailure } from '../../message/errors.js';
import { wireAddress } from '../email/mail-parts.js';
import { addressList, customField, encoded, headerField } from './header-fields.js';

/** Characters and words of header injections. */
const PIECES =
  '\r,\n,\r\n,\0,\t, ,\u2028,\u0085,\u00a0,<,>,@,;,:,",\\,(,),[,],.,..,%,!,=?utf-8?Q?=0D=0A?=,Bcc: eve@evil.com,a,b,ada,example.com,evil.com,münchen.de,用户,xn--,-,_,+,\''
    .split(',')
    .concat(',');
const hostile = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((all) => all.join(''));

const address = fc
  .tuple(fc.oneof(hostile, fc.constant('ada')), fc.oneof(hostile, fc.constant('example.com')))
  .map((all) => all.join('@'));

/** The result, or `undefined` where the value was refused with the typed error. */
function tried<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof PermanentFailure) return undefined;
    throw error;
  }
}

/** One field: each line but the first is folded, and no line has another break or control. */
function expectOneField(lines: string): void {
  const [first = '', ...others] = lines.split('\r\n');
  expect(first).toMatch(/^[A-Za-z][A-Za-z0-9-]*: /);
  for (const other of others) expect(other).toMatch(/^[ \t]/);
  expect(lines.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0\u0085\u2028]/);
}

describe('a header field', () => {
  it('an address is sent as exactly the address that was given, or refused', () => {
    let sent = 0;
    fc.assert(
      fc.property(fc.oneof(hostile, address), (email) => {
        const wire = tried(() => wireAddress(email));
        if (wire === undefined) return;
        sent++;
        expect(wire).not.toMatch(/[\s\0<>(),;:\\"[\]]/);
        expect(wire.split('@')).toHaveLength(2);
        expect(wire.split('@')[0]).toBe(email.slice(0, email.lastIndexOf('@')));
        expect(addressParser(wire)).toEqual([{ name: '', address: wire }]);
      }),
      { numRuns: 4_000, seed: 1 },
    );
    expect(sent).toBeGreaterThan(20);
  });

  it('a name adds no address and no field', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 3 }), (names) => {
        const list = names.map((name, n) => ({ email: `n${n}@example.com`, name }));
        const { lines } = headerField('To', addressList(list));
        expectOneField(lines);
        const read = addressParser(lines.slice(4).replaceAll('\r\n', ''));
        expect(read.map(({ address }) => address)).toEqual(list.map(({ email }) => email));
      }),
      { numRuns: 3_000, seed: 2 },
    );
  });

  it('a subject or custom header stays one field, or is refused', () => {
    fc.assert(
      fc.property(hostile, hostile, (name, value) => {
        expectOneField(headerField('Subject', encoded(value)).lines);
        for (const known of [name, 'X-Priority', 'References']) {
          const field = tried(() => customField(known, value));
          if (field) expectOneField(field.lines);
        }
      }),
      { numRuns: 3_000, seed: 3 },
    );
  });

  it('a custom header cannot replace a field of the message', () => {
    for (const name of [
      'Bcc',
      'FROM',
      'Content-Type',
      'DKIM-Signature',
      'Return-Path',
      'Resent-To',
      'X-SMTPAPI',
    ])
      expect(() => customField(name, 'x')).toThrow(PermanentFailure);
  });

  it('an international domain is sent as A-labels', () => {
    expect(wireAddress('ada@münchen.de')).toBe('ada@xn--mnchen-3ya.de');
  });
});
