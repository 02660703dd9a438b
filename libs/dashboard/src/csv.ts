/** Lines of CSV; a spreadsheet reads no cell as a formula. */
export function csvOf(rows: readonly (readonly (string | null)[])[]): string {
  return rows.map((row) => `${row.map((cell) => cellOf(cell ?? '')).join(',')}\r\n`).join('');
}

/** Also the wide forms, which spreadsheets of East Asia calculate. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;

function cellOf(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
