import { expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvOf, withoutMarks } from './csv.js';

it('every cell that a spreadsheet would calculate is marked, and separators are quoted', () => {
  const formulas = ['=1', '+1', '-1', '@A1', '\t1', '\uFF1D1', '\uFF0B1', '\uFF0D1', '\uFF20A1'];
  expect(csvOf([formulas, ['a,b', 'a"b', 'a\nb', null]])).toBe(
    `${formulas.map((cell) => `'${cell}`).join(',')}\r\n"a,b","a""b","a\nb",\r\n`,
  );
});

it.each([
  ['  =1', "'  =1"],
  ['\u00A0@A1', "'\u00A0@A1"],
  ['\n=1', `"'\n'=1"`],
  ['\r\n+1', `"'\r\n'+1"`],
  ['a;=1', `"a;'=1"`],
  ['a; =1', `"a;' =1"`],
  ['a,-1', `"a,'-1"`],
  ['a\t=1', "a\t'=1"],
  ['a|@A1', "a|'@A1"],
  ['a\n  =1', `"a\n'  =1"`],
  ["'=1", "''=1"],
  ['a=1', 'a=1'],
  ['a - b', 'a - b'],
])('%j is no formula in any spreadsheet', (cell, written) => {
  expect(csvOf([[cell]])).toBe(`${written}\r\n`);
});

it('what is written is read back', () => {
  const part = fc.constantFrom(
    '=',
    '-',
    "'",
    ' ',
    '\t',
    '\r',
    '\n',
    ';',
    ',',
    '|',
    '"',
    'a',
    '\u00A0',
  );
  fc.assert(
    fc.property(
      fc.array(
        fc.array(part).map((parts) => parts.join('')),
        { minLength: 2 },
      ),
      (row) => {
        const [read = []] = parse(csvOf([row]), { record_delimiter: '\r\n' }) as string[][];
        expect(read.map(withoutMarks)).toEqual(row);
      },
    ),
  );
});
