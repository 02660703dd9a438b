import { describe, expect, it } from '@jest/globals';
import { csvOf } from './csv.js';

describe('the CSV of the dashboard', () => {
  it('quotes separators, and marks every cell that a spreadsheet would calculate', () => {
    const formulas = ['=1', '+1', '-1', '@A1', '\t1', '\uFF1D1', '\uFF0B1', '\uFF0D1', '\uFF20A1'];
    expect(csvOf([formulas, ['a,b', 'a"b', 'a\nb', null]])).toBe(
      `${formulas.map((cell) => `'${cell}`).join(',')}\r\n"a,b","a""b","a\nb",\r\n`,
    );
  });
});
