import { EnvironmentError } from '../config/environment.js';
import { describeError } from '../http/log-redaction.js';
import { toApiError } from '../http/error-mapping.js';

/** The result of a command; the fields are printed in this order. */
export type Answer = Readonly<Record<string, Value | readonly Row[]>>;

type Value = string | number | null | readonly string[] | Counts;

/** Numbers by name. */
type Counts = Readonly<Record<string, number>>;

/** A row of a table; all rows of a list have the same fields. */
export type Row = Readonly<Record<string, Value>>;

export interface OutputOptions {
  /** One line of JSON instead of a table. */
  readonly json?: boolean;
}

/** Prints one line with `--json`, the last on stdout; else a line per field. */
export function print(answer: Answer, { json }: OutputOptions): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    return;
  }
  const width = Math.max(...Object.keys(answer).map((name) => name.length));
  for (const [name, value] of Object.entries(answer))
    process.stdout.write(
      isTable(value) ? table(name, value) : `${name.padEnd(width)}  ${shown(value)}\n`,
    );
}

function isTable(value: Value | readonly Row[]): value is readonly Row[] {
  return Array.isArray(value) && value.every((row) => typeof row === 'object');
}

/** Formats columns as wide as their widest value, with the field names as header. */
function table(name: string, rows: readonly Row[]): string {
  const [first] = rows;
  if (!first) return `no ${name}\n`;
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => names.map((field) => shown(row[field] ?? null)))];
  const widths = names.map((_, n) => Math.max(...lines.map((line) => line[n]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, n) => cell.padEnd(widths[n] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function shown(value: Value): string {
  if (value === null) return '-';
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, entry]) => (Array.isArray(value) ? entry : `${name}=${entry}`))
    .join(' ');
}

/**
 * Prints the error to stderr in the form of the gateway's error responses, and sets exit code 1.
 */
export function printError(error: unknown, { json }: OutputOptions): void {
  const { code, message } = described(error);
  process.stderr.write(json ? `${JSON.stringify({ error: { code, message } })}\n` : `${message}\n`);
  process.exitCode = 1;
}

function described(error: unknown): { code: string; message: string } {
  if (error instanceof EnvironmentError)
    return { code: 'invalid_configuration', message: error.message };
  const { code, message } = toApiError(error);
  if (code !== 'internal_error') return { code, message };
  const { name, message: detail } = describeError(error);
  return { code, message: `${name}: ${detail}` };
}

/** Reports wrong usage; without `--json` the command parser has already printed it. */
export function printUsageError(message: string, { json }: OutputOptions): void {
  const error = { code: 'invalid_usage', message: message.replace(/^error: /, '') };
  if (json) process.stderr.write(`${JSON.stringify({ error })}\n`);
  process.exitCode = 1;
}
