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

/**
 * One JSON line per event. An object logged as `{ message, ...fields }` keeps its fields. Secrets
 * and phone numbers are removed from every line.
 */
export class PinoLogger implements LoggerService {
  readonly #pino: Logger;

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

  error = this.#write.bind(this, 'error');
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
    this.#pino[level](fields, typeof text === 'string' ? text : undefined);
  }
}

function fieldsOf(message: unknown): Readonly<Record<string, unknown>> {
  if (message instanceof Error) return { message: message.message };
  const isObject = typeof message === 'object' && message !== null;
  return isObject ? { ...message } : { message: String(message as string) };
}
