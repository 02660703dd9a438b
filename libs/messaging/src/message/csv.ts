/**
 * What spreadsheets read as a formula, also in the wide forms of East Asia: after spaces, at the start of a
 * cell, and after what any of them may take as the end of a cell or a line.
 */
const FORMULA = "[^\\S\\t\\r\\n']*(?:'[^\\S\\t\\r\\n']*)*[=+\\-@\\uFF1D\\uFF0B\\uFF0D\\uFF20]";
const SEPARATOR = '(^|[,;|\\t\\r\\n])';
const UNMARKED = new RegExp(`${SEPARATOR}(?=${FORMULA})`, 'g');
const MARKED = new RegExp(`${SEPARATOR}'(?=${FORMULA})`, 'g');

/** Lines of CSV. An apostrophe stands before every formula; `withoutMarks()` takes it away. */
export function csvOf(rows: readonly (readonly (string | null)[])[], end = '\r\n'): string {
  return rows.map((row) => row.map((cell) => cellOf(cell ?? '')).join(',') + end).join('');
}

/** The text of a cell that {@link csvOf} has written. */
export function withoutMarks(cell: string): string {
  return cell.replace(/^'(?='*[\t\r\n])/, '').replace(MARKED, '$1');
}

function cellOf(text: string): string {
  const marked = text.replace(UNMARKED, "$1'");
  // Spreadsheets leave such a beginning out.
  const plain = /^'*[\t\r\n]/.test(marked) ? `'${marked}` : marked;
  return /[",;\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
