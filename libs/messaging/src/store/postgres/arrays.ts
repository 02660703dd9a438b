const QUOTE = 34;
const BACKSLASH = 92;

/** Consecutive rows mostly share a value: its text is reused. The driver would check each type. */
export function arrayOf(
  rows: readonly (readonly unknown[])[],
  column: number,
  isText: boolean,
): string {
  const written = isText ? quoted : String;
  let list = '';
  let before: unknown;
  let text = 'NULL';
  for (const row of rows) {
    const value = row[column] as string | number | bigint | null | undefined;
    if (value !== before) {
      before = value;
      text = value === null || value === undefined ? 'NULL' : written(String(value));
    }
    list += list === '' ? text : `,${text}`;
  }
  return `{${list}}`;
}

function quoted(text: string): string {
  if (!/[\\"]/.test(text)) return `"${text}"`;
  let escaped = '"';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit !== QUOTE && unit !== BACKSLASH) continue;
    escaped += `${text.slice(from, at)}\\`;
    from = at;
  }
  return `${escaped}${text.slice(from)}"`;
}
