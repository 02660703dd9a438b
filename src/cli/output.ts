import { MessagingError } from '@dundun/messaging';
import { CommanderError } from 'commander';
import { EnvironmentError } from '../config/environment.js';
import { describeError } from '../http/log-redaction.js';
import { toApiError } from '../http/error-mapping.js';

export interface OutputOptions {
  /** One line of JSON instead of a table. */
  readonly json?: boolean;
}

/** JSON without nested tables: a field, its list or its numbers by name. */
type Value = string | number | null | readonly string[] | Readonly<Record<string, number>>;

/** A row of a table; all rows of a list have the same fields. */
type Row = Readonly<Record<string, Value>>;

/** With `--json` one line, the last on stdout; else a line per field, and lists as tables. */
export function print(result: object, { json }: OutputOptions): void {
  const line = JSON.stringify(result, inSnakeCase);
  if (json) {
    process.stdout.write(`${line}\n`);
    return;
  }
  const fields = Object.entries(JSON.parse(line) as Record<string, Value | readonly Row[]>);
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields)
    process.stdout.write(
      isTable(value) ? table(name, value) : `${name.padEnd(width)}  ${shown(value)}\n`,
    );
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

function table(name: string, rows: readonly Row[]): string {
  const [first] = rows;
  if (!first) return `no ${name}\n`;
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => Object.values(row).map(shown))];
  const widths = names.map((_, n) => Math.max(...lines.map((line) => line[n]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, n) => cell.padEnd(widths[n] ?? 0)));
  return padded.map((line) => `${line.join('  ').trimEnd()}\n`).join('');
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
export function printError(error: unknown, { json }: OutputOptions): void {
  const { code, message } = described(error);
  process.stderr.write(json ? `${JSON.stringify({ error: { code, message } })}\n` : `${message}\n`);
  process.exitCode = 1;
}

function described(error: unknown): { code: string; message: string } {
  if (error instanceof CommanderError)
    return { code: 'invalid_usage', message: error.message.replace(/^error: /, '') };
  if (error instanceof EnvironmentError)
    return { code: 'invalid_configuration', message: error.message };
  const { code, message } = toApiError(error);
  if (code !== 'internal_error') return { code, message };
  // The library's own code, where the interface has none.
  if (error instanceof MessagingError) return { code: error.code, message: error.message };
  const { name, message: detail } = describeError(error);
  return { code, message: `${name}: ${detail}` };
}
