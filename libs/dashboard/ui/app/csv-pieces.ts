/** Characters of one request: below 1 MB in any encoding, the least limit of bodies in use. */
const LENGTH = 250_000;

export interface CsvPiece {
  /** Rows below the header of the file. */
  readonly csv: string;
  /** Added to a line of the piece, it is the line of the file. */
  readonly lines: number;
}

/** Cuts a file between rows, so that one of any size is imported in requests of a usual size. */
export function csvPieces(csv: string, length = LENGTH): CsvPiece[] {
  const text = csv.replace(/^\uFEFF/, '');
  const ends = rowEnds(text);
  const header = text.slice(0, ends[0]);
  const inHeader = linesOf(header);
  const pieces: CsvPiece[] = [];
  let from = header.length;
  let line = inHeader;
  const add = (to: number): void => {
    const rows = text.slice(from, to);
    if (rows.trim()) pieces.push({ csv: header + rows, lines: line - inHeader });
    line += linesOf(rows);
    from = to;
  };
  for (const [n, end] of ends.entries())
    if (n > 0 && (ends[n + 1] ?? text.length) - from > length) add(end);
  add(text.length);
  return pieces.length > 0 ? pieces : [{ csv: text, lines: 0 }];
}

/** Places behind the line breaks outside quotation marks. */
function rowEnds(text: string): number[] {
  const ends: number[] = [];
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === '\n' && !isQuoted) ends.push(at + 1);
  }
  return ends;
}

const linesOf = (text: string): number => text.split('\n').length - 1;
