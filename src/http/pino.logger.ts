import type { LoggerService } from '@nestjs/common';
import {
  type DestinationStream,
  type Level,
  type LevelWithSilent,
  type Logger,
  pino,
  stdTimeFunctions,
} from 'pino';
import { describeError, scrub } from './log-redaction.js';

/** Contexts of Nest's own log lines at start, which are not logged. */
const START_CONTEXTS = new Set([
  'InstanceLoader',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

const SAMPLED: ReadonlySet<Level> = new Set(['warn', 'error']);

/** Warnings and errors of a kind that are written within a window of so many milliseconds. */
const MOST_OF_A_KIND = 10;
const WINDOW = 10_000;

/** Words that differ from line to line: numbers, lanes, addresses, JSON. */
const OWN_WORD = /\S*[\d:@]\S*/g;

/**
 * One JSON line per event. An object logged as `{ message, ...fields }` keeps its fields. Secrets
 * and phone numbers are removed from every line. Of many warnings or errors of a kind, as while the disk is
 * full, some are written and the rest are counted, unless the level is `debug` or lower.
 */
export class PinoLogger implements LoggerService {
  readonly #pino: Logger;
  /** Lines of each kind in its present window. */
  readonly #kinds = new Map<string, number>();

  constructor(level: LevelWithSilent, destination: DestinationStream) {
    this.#pino = pino(
      {
        level,
        base: { pid: process.pid },
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { err: describeError },
        redact: {
          paths: ['authorization', 'token', 'secret', '*.authorization', '*.token', '*.secret'],
          censor: '[redacted]',
        },
        hooks: { streamWrite: scrub },
      },
      destination,
    );
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.#write(START_CONTEXTS.has(String(rest.at(-1))) ? 'debug' : 'info', message, ...rest);
  }

  /** Nest logs an error that prevents a start, and throws it: the command or the process tells it. */
  error(message: unknown, ...rest: unknown[]): void {
    this.#write(rest.at(-1) === 'ExceptionHandler' ? 'debug' : 'error', message, ...rest);
  }

  warn = this.#write.bind(this, 'warn');
  debug = this.#write.bind(this, 'debug');
  verbose = this.#write.bind(this, 'trace');
  fatal = this.#write.bind(this, 'fatal');

  /** Nest passes `(message, stack?, context?)` for errors, otherwise `(message, context?)`. */
  #write(level: Level, message: unknown, ...rest: readonly unknown[]): void {
    if (!this.#pino.isLevelEnabled(level)) return;
    const err = [message, ...rest].find((value) => value instanceof Error);
    const context = typeof rest.at(-1) === 'string' ? rest.at(-1) : undefined;
    const stack = typeof rest[0] === 'string' && rest.length > 1 ? rest[0] : undefined;
    const { message: text, ...own } = fieldsOf(message);
    const fields = { context, stack, ...(err ? { err } : {}), ...own };
    if (SAMPLED.has(level) && this.#isLeftOut(level, context, String(text), fields.err)) return;
    this.#pino[level](fields, typeof text === 'string' ? text : undefined);
  }

  #isLeftOut(level: Level, context: unknown, text: string, err: unknown): boolean {
    if (this.#pino.isLevelEnabled('debug')) return false;
    const cause = err instanceof Error ? err.message : '';
    const kind = [level, context, text, cause].join(' ').replace(OWN_WORD, '#');
    const lines = (this.#kinds.get(kind) ?? 0) + 1;
    this.#kinds.set(kind, lines);
    if (lines === 1)
      setTimeout(() => {
        const leftOut = (this.#kinds.get(kind) ?? 0) - MOST_OF_A_KIND;
        this.#kinds.delete(kind);
        if (leftOut > 0)
          this.#pino[level]({ context, left_out: leftOut }, `more lines like: ${text}`);
      }, WINDOW).unref();
    return lines > MOST_OF_A_KIND;
  }
}

function fieldsOf(message: unknown): Readonly<Record<string, unknown>> {
  if (message instanceof Error) return { message: message.message };
  const isObject = typeof message === 'object' && message !== null;
  return isObject ? { ...message } : { message: String(message as string) };
}
