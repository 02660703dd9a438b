import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ApiError } from './api-error.js';
import { parseInSlices } from './sliced-json.js';

const MiB = 1_048_576;

interface Parsed {
  readonly value: unknown;
  /** Lengths of the pieces, and the fields that they were in. */
  readonly pieces: readonly (readonly [length: number, field: string | undefined])[];
}

async function parsed(json: string, most = 1e6, isGone = () => false): Promise<Parsed> {
  const pieces: [number, string | undefined][] = [];
  const parse = (text: string, field: string | undefined): unknown => {
    pieces.push([text.length, field]);
    return JSON.parse(text) as unknown;
  };
  const value = await parseInSlices(Buffer.from(json), { most, parse, isGone });
  return { value, pieces };
}

/** Blanks that make a value large wherever they may be. */
const WIDE = ' \t\r\n'.repeat(70_000);

const isMalformed = (error: unknown): boolean =>
  error instanceof SyntaxError || (error instanceof ApiError && error.code === 'malformed_json');

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('parseInSlices', () => {
  it.each<[string, unknown]>([
    ['a long list', numbers(300_000)],
    ['a long list of a field', { from: 'ACME', to: numbers(200_000).map(String), body: '"[{,:' }],
    [
      'long lists within lists of objects',
      {
        a: [{ b: 1, c: numbers(100_000), d: [] }, { c: [numbers(100_000), {}] }],
        e: numbers(100_000).map((n) => ({ n, variables: { [`v${n}`]: `{"x":[${n}],` } })),
        f: null,
      },
    ],
    [
      'an object of many fields',
      Object.fromEntries(numbers(1_000).map((n) => [`f${n}`, 'x'.repeat(2_000)])),
    ],
    ['a long text', { text: 'é\\"\n\u{1f600}'.repeat(300_000), list: ['\\'.repeat(600_000)] }],
    ['a long text alone', '\\"'.repeat(300_000)],
  ])('%s is parsed as by JSON.parse, in pieces', async (_what, value) => {
    const { value: found, pieces } = await parsed(JSON.stringify(value));
    expect(found).toEqual(value);
    expect(pieces.length).toBeGreaterThan(2);
    for (const [length] of pieces) expect(length).toBeLessThan(MiB);
  });

  it('a text of escapes is cut between characters', async () => {
    for (const escapes of ['\\ud83d\\ude00', 'x\\ud83d\\ude00', '\\\\', '\\\\u\\"', '\\u00e9é'])
      for (const prefix of ['', 'a', 'ab', 'abc', 'abcd', 'abcde']) {
        const json = `["${prefix}${escapes.repeat(100_000)}"]`;
        const { value } = await parsed(json);
        expect(JSON.stringify(value) === JSON.stringify(JSON.parse(json))).toBe(true);
      }
  });

  it('a piece of a body is parsed with the field that contains it', async () => {
    const json = JSON.stringify({ a: 1, b: { c: [numbers(200_000)] }, d: 'x'.repeat(MiB) });
    const { pieces } = await parsed(json);
    expect(new Set(pieces.map(([, field]) => field))).toEqual(new Set([undefined, 'b', 'd']));
  });

  /** Each with blanks for every underscore, which makes its parts large. */
  const MALFORMED = [
    '[_,1]',
    '[1_,]',
    '[1_,,2]',
    '[[_],]',
    '[[_]1]',
    '[1[_]]',
    '["a":[_]]',
    '[[_]:1]',
    '[_}',
    '{_]',
    '[_',
    '_]',
    '[_]]',
    '[_] x',
    'x [_]',
    '[_][_]',
    '{"a":1_,}',
    '{"a":[_],}',
    '{"a"[_]}',
    '{[_]}',
    '{"a":1 [_]}',
    '{"a":"b":[_]}',
    '{"a":1,,"b":[_]}',
    '{"a":[_] "b":1}',
    '["_]',
    '["\n_"]',
    '["\\x_"]',
    '["_\\"]',
  ];
  it.each(MALFORMED)('%s with many blanks is malformed', async (json) => {
    // Within a text, a line break would be malformed.
    const isText = /"_|_"|_\\/.test(json);
    const wide = json.replaceAll('_', isText ? ' '.repeat(300_000) : WIDE);
    expect(() => JSON.parse(wide)).toThrow(SyntaxError);
    const error = await parsed(wide).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(isMalformed(error)).toBe(true);
  });

  it('random values with random blanks are parsed as by JSON.parse', async () => {
    // Underscores stand for blanks that make a value large.
    const json = fc
      .tuple(
        fc.jsonValue({ stringUnit: fc.constantFrom('a', '"', '\\', 'é', '\u{1f600}') }),
        fc.infiniteStream(fc.nat(9)),
      )
      .map(([value, chances]) =>
        JSON.stringify(value).replaceAll(/[[\]{},:]/g, (mark) =>
          chances.next().value === 0 ? `${mark}_` : mark,
        ),
      );
    await fc.assert(
      fc.asyncProperty(json, async (text) => {
        const { value } = await parsed(text.replaceAll('_', WIDE));
        expect(value).toEqual(JSON.parse(text.replaceAll('_', '')));
      }),
      { numRuns: 200 },
    );
  });

  it('fields of one name, of numbers as names, and after a long one are the last of each', async () => {
    const long = JSON.stringify(numbers(100_000));
    for (const json of [
      `{"a":${long},"a":5}`,
      `{"a":[1],"a":${long},"b":2}`,
      `{"7":1,"3":${long},"5":{"2":${long},"1":0}}`,
      `[{"":${long}},"${'x'.repeat(600_000)}",[]]`,
    ])
      expect((await parsed(json)).value).toEqual(JSON.parse(json));
  });

  it('a short name is never cut, and a name longer than a piece is malformed', async () => {
    const names = Object.fromEntries(numbers(1_000).map((n) => [`${'n'.repeat(1_000)}${n}`, n]));
    expect((await parsed(JSON.stringify(names))).value).toEqual(names);
    const error = await parsed(`{"${'n'.repeat(600_000)}":1}`).catch((caught: unknown) => caught);
    expect(isMalformed(error)).toBe(true);
  });

  it.each([
    [
      'fields',
      `{${numbers(11)
        .map((n) => `"${n}":0`)
        .join()}}`,
      /at most 10 fields/,
    ],
    ['lists', `[${'[],'.repeat(10)}0]`, /at most 10 fields, and as many lists/],
  ])('too many %s are refused before they are parsed', async (_what, json, message) => {
    await expect(parsed(json, 10)).rejects.toThrow(message);
    await expect(parsed(json, 10)).rejects.toMatchObject({ code: 'invalid_field' });
  });

  it('an object of too many fields is refused, and many objects of few are not', async () => {
    const objects = numbers(2_000).map((n) => ({ [`a${n}`]: n, b: {} }));
    expect((await parsed(JSON.stringify(objects))).value).toEqual(objects);
    const fields = Object.fromEntries(numbers(1_001).map((n) => [`f${n}`, {}]));
    await expect(parsed(JSON.stringify([fields]))).rejects.toThrow(/1000 fields in one object/);
  });

  it('lists too deep within each other are refused', async () => {
    expect((await parsed('['.repeat(100) + ']'.repeat(100))).pieces).toHaveLength(1);
    await expect(parsed('['.repeat(101) + ']'.repeat(101))).rejects.toThrow(/at most 100 lists/);
  });

  it('parsing stops for a client that has disconnected', async () => {
    let asked = 0;
    const json = JSON.stringify(numbers(1_000_000));
    const parsing = parsed(json, 10, () => ++asked > 10);
    await expect(parsing).rejects.toMatchObject({ code: 'malformed_json' });
    expect(asked).toBe(11);
  });
});
