import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readRecipients } from './address.js';
import { addressIdentity } from './phone-identity.js';
import { withoutTrunkPrefix } from './phone-number.js';

const RULE = /^[1-9][0-9]{6,14}$/;
const digits = fc
  .tuple(fc.constantFrom(...'123456789'), fc.stringMatching(/^[0-9]{6,14}$/))
  .map(([first, rest]) => first + rest);
const numbers = (to: readonly unknown[]) => readRecipients(to, ['phone']);

it('recipients are de-duplicated in order of first appearance', () => {
  const few = fc.constantFrom('2348012345678', '447911123456', '999999999999999', '1000000');
  fc.assert(
    fc.property(fc.array(fc.oneof(few, digits), { maxLength: 300 }), (to) => {
      const dialled = to.map((number) => withoutTrunkPrefix(number) ?? number);
      expect(numbers(to)).toMatchObject({ recipients: [...new Set(dialled)], errors: [] });
    }),
  );
});

it('numbers that differ in one digit stay apart', () => {
  const to = Array.from({ length: 20_000 }, (_, n) => [
    `23480${10_000_000 + n}`,
    `${100_000 + n}00000000`,
    `${n + 1}4294967296`.padStart(7, '1'),
  ]).flat();
  const valid = to.filter(
    (number) =>
      RULE.test(number) &&
      withoutTrunkPrefix(number) === undefined &&
      addressIdentity(number) === number,
  );
  expect(numbers(valid).recipients).toEqual([...new Set(valid)]);
});

it('recognises one number in several spellings, and as an address', () => {
  expect(
    numbers([
      '+234 801-234 5678',
      '2348012345678',
      ' (234)8012345678 ',
      { kind: 'phone', value: '+2348012345678' },
    ]),
  ).toMatchObject({ recipients: ['2348012345678'], errors: [] });
});

it('names the first ten wrong entries by their place', () => {
  const to = ['2348012345678', '0123', 7, ...Array.from({ length: 20 }, () => 'x')];
  const { errors } = numbers(to);
  expect(errors).toHaveLength(10);
  expect(errors.map(({ path }) => path).slice(0, 3)).toEqual(['to[1]', 'to[2]', 'to[3]']);
});

it('reads e-mail addresses and platform ids as the channel has them, each once', () => {
  const to = [
    'Ada@Example.com',
    'Ada@EXAMPLE.com',
    { kind: 'platform', value: 'u-42' },
    'platform:u-42',
    '2348012345678',
  ];
  expect(readRecipients(to, ['email', 'platform'])).toMatchObject({
    recipients: ['Ada@example.com', 'platform:u-42'],
    errors: [{ path: 'to[4]', message: expect.stringMatching(/e-mail address.*, or /) }],
  });
});

it('keeps group ids among the recipients where the channel has groups', () => {
  const to = ['grp_0123456789', '2348012345678', 'grp_0123456789'];
  expect(readRecipients(to, ['phone'], true)).toEqual({
    recipients: ['grp_0123456789', '2348012345678'],
    groups: new Map([['grp_0123456789', 'to[0]']]),
    errors: [],
  });
  expect(readRecipients(to, ['phone']).errors.map(({ path }) => path)).toEqual(['to[0]', 'to[2]']);
});
