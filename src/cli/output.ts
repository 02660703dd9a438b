import { CommanderError } from 'commander';

export interface OutputOptions {
  /** One line of JSON instead of a table. */
  readonly json?: boolean;
}

interface PrintOptions extends OutputOptions {
  /** Width of the terminal. @default no limit, as in a pipe */
  readonly columns?: number | undefined;
}

/** An answer that is printed as it is, such as a file; with `--json` the field `text`. */
export class TextAnswer {
  constructor(readonly text: string) {}
}

/** JSON without nested tables: a field, its list or its numbers by name. */
type Value = string | number | null | readonly string[] | Readonly<Record<string, number>>;

/** A row of a table; all rows of a list have the same fields. */
type Row = Readonly<Record<string, Value>>;

/**
 * With `--json` one line, the last on stdout; else a line per field, and lists as tables. A table that
 * is wider than the terminal has a block of lines per row, so that ids stay whole.
 */
export function print(result: object, { json, columns = Infinity }: PrintOptions): void {
  const line = JSON.stringify(result, inSnakeCase);
  if (json) {
    process.stdout.write(`${line}\n`);
    return;
  }
  if (result instanceof TextAnswer) {
    process.stdout.write(result.text);
    return;
  }
  const fields = Object.entries(JSON.parse(line) as Record<string, Value | readonly Row[]>);
  const width = widthOf(fields);
  for (const [name, value] of fields)
    process.stdout.write(
      isTable(value) ? table(name, value, columns) : lineOf(name, value, width, columns),
    );
}

function widthOf(fields: readonly (readonly [name: string, value: unknown])[]): number {
  return Math.max(...fields.map(([name]) => name.length));
}

/** A field, with its value in several lines between words where it is long. */
function lineOf(name: string, value: Value, width: number, columns: number): string {
  const lines: string[] = [];
  for (const word of shown(value).split(' ')) {
    const last = lines.at(-1);
    const isLong = last === undefined || width + 2 + last.length + 1 + word.length > columns;
    if (isLong) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return `${name.padEnd(width)}  ${lines.join(`\n${' '.repeat(width + 2)}`)}\n`;
}

function inSnakeCase(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      entry ?? null,
    ]),
  );
}

function isTable(value: Value | readonly Row[]): value is readonly Row[] {
  return Array.isArray(value) && value.every((row) => typeof row === 'object');
}

function table(name: string, rows: readonly Row[], columns: number): string {
  const [first] = rows;
  if (!first) return `no ${name}\n`;
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => Object.values(row).map(shown))];
  const widths = names.map((_, n) => Math.max(...lines.map((line) => line[n]?.length ?? 0)));
  if (widths.reduce((sum, width) => sum + width + 2, -2) > columns)
    return rows.map((row) => blockOf(row, columns)).join('\n');
  const padded = lines.map((line) => line.map((cell, n) => cell.padEnd(widths[n] ?? 0)));
  return padded.map((line) => `${line.join('  ').trimEnd()}\n`).join('');
}

function blockOf(row: Row, columns: number): string {
  const fields = Object.entries(row);
  const width = widthOf(fields);
  return fields.map(([name, value]) => lineOf(name, value, width, columns)).join('');
}

function shown(value: Value): string {
  if (value === null) return '-';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.join(' ');
  return Object.entries(value)
    .map(([name, count]) => `${name}=${count}`)
    .join(' ');
}

/** To stderr, in the form of the gateway's error responses; sets exit code 1. */
export async function printError(error: unknown, { json }: OutputOptions): Promise<void> {
  const { code, message } = await described(error);
  process.stderr.write(json ? `${JSON.stringify({ error: { code, message } })}\n` : `${message}\n`);
  process.exitCode = 1;
}

async function described(error: unknown): Promise<{ code: string; message: string }> {
  if (error instanceof CommanderError)
    return { code: 'invalid_usage', message: error.message.replace(/^error: /, '') };
  const { describeCommandError } = await import('./command-errors.js');
  return describeCommandError(error);
}
