import { describe, expect, it } from '@jest/globals';
import { csvPieces } from './csv-pieces.js';

const HEADER = 'phone,name\n';

describe('csvPieces()', () => {
  it('csvPieces() leaves a short file whole', () => {
    const csv = `${HEADER}2348012345601,Ada\n`;
    expect(csvPieces(csv)).toEqual([{ csv, lines: 0 }]);
    expect(csvPieces(HEADER)).toEqual([{ csv: HEADER, lines: 0 }]);
    expect(csvPieces('\uFEFFphone')).toEqual([{ csv: 'phone', lines: 0 }]);
  });

  it('csvPieces() cuts between rows, with the header in each piece and the line of the file', () => {
    const rows = Array.from({ length: 9 }, (_, n) => `234801234560${n},"A\nB ""${n}"""\r\n`);
    const pieces = csvPieces(HEADER + rows.join(''), 60);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.map(({ csv }) => csv.replace(HEADER, '')).join('')).toBe(rows.join(''));
    const file = (HEADER + rows.join('')).split('\n');
    for (const { csv, lines } of pieces) {
      expect(csv.startsWith(HEADER)).toBe(true);
      const [, first] = csv.split('\n');
      expect(file[1 + lines]).toBe(first);
    }
  });

  it('csvPieces() puts a row that is longer than a piece into one of its own', () => {
    const long = `1,${'x'.repeat(50)}\n`;
    expect(csvPieces(`${HEADER}1,a\n${long}2,b\n`, 20)).toEqual([
      { csv: `${HEADER}1,a\n`, lines: 0 },
      { csv: HEADER + long, lines: 1 },
      { csv: `${HEADER}2,b\n`, lines: 2 },
    ]);
  });
});
