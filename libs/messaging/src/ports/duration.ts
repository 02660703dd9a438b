import ms, { type StringValue } from 'ms';
import { MessagingConfigError } from '../message/errors.js';

/** `'30s'`, `'10m'`, `'24h'`, `'3d'`, or milliseconds. */
export type Duration = string | number;

/** @throws MessagingConfigError naming `option` where the value is no positive duration */
export function milliseconds(option: string, value: Duration): number {
  const parsed = typeof value === 'number' ? value : parse(value);
  if (typeof parsed !== 'number' || !Number.isFinite(parsed) || parsed < 0)
    throw new MessagingConfigError(
      `${option}: ${JSON.stringify(value)} is no duration; write '30s', '10m', '24h' or milliseconds`,
    );
  return Math.round(parsed);
}

/** The `ms` package throws for a value that is no text, or too long a text. */
function parse(value: unknown): number | undefined {
  const isText = typeof value === 'string' && value.length > 0 && value.length <= 32;
  return isText ? ms(value as StringValue) : undefined;
}
