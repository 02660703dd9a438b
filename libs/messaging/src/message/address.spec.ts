import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Address,
  addressKey,
  addressOf,
  addressOfKey,
  maskAddress,
  readAddress,
} from './address.js';

it.each([
  ['+234 801 234 5678', { kind: 'phone', value: '2348012345678' }],
  ['Ada.L+x@Example.COM', { kind: 'email', value: 'Ada.L+x@example.com' }],
  ['ada@bücher.example', { kind: 'email', value: 'ada@xn--bcher-kva.example' }],
  ['platform:NG.1@x', { kind: 'platform', value: 'NG.1@x' }],
] as [string, Address][])('%j is read as an address and back from its key', (text, address) => {
  expect(readAddress(text)).toEqual(address);
  expect(addressOfKey(addressKey(address))).toEqual(address);
  expect(readAddress(address)).toEqual(address);
});

it.each([
  '',
  '0801234567',
  'NG.1',
  '@example.com',
  'a@b',
  'a@[127.0.0.1]',
  'a@127.0.0.1',
  'a b@example.com',
  'a..b@example.com',
  '"a"@example.com',
  'a@exa mple.com',
  'a@example.com/x',
  'a@example.com:80',
  `${'a'.repeat(65)}@example.com`,
  'a@-example.com',
  'a@ex\0ample.com',
  'platform:',
  'platform:a b',
  null,
  7,
  {},
  { kind: 'pigeon', value: 'x' },
  { kind: 'phone', value: 'x' },
])('%j is not an address', (text) => {
  expect(readAddress(text)).toBeUndefined();
});

it('a domain with letters beyond ASCII is read however often', () => {
  const read = new Set<string | undefined>();
  for (let n = 0; n < 20_000; n++) read.add(readAddress(`ada@bücher${n % 7}.example`)?.kind);
  expect([...read]).toEqual(['email']);
});

it('a text is read only as one of the kinds asked for', () => {
  expect(readAddress('2348012345678', ['email'])).toBeUndefined();
  expect(readAddress('NG.1', ['platform'])).toEqual({ kind: 'platform', value: 'NG.1' });
  expect(readAddress('NG.1', ['phone', 'platform'])).toBeUndefined();
});

it('any text is read without an error, and its address is normalised', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress()), (text) => {
      const read = readAddress(text);
      expect(read && addressOf(read.kind, read.value)).toEqual(read);
    }),
  );
});

it('a masked address is not read as an address', () => {
  const masked = ['2348012345678', 'ada@example.com', 'platform:NG.123456789', 'platform:NG.1'];
  expect(masked.map((key) => maskAddress(addressOfKey(key)))).toEqual([
    '23480******78',
    'a***@example.com',
    'platform:NG.1***',
    'platform:***',
  ]);
});
