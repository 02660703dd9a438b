import type { Parse } from './parsers.js';

/** A value that is written as a text: a variable of the environment, or a key of a carrier. */
export interface Setting<T> {
  readonly parse: Parse<T>;
  /** As written. */
  readonly default?: string;
  /**
   * The value is never shown, not even in errors. `whole`: of at least 24 bytes in production; `part`:
   * an address that may hold a password, or a key as long as its service makes it.
   */
  readonly secret?: 'whole' | 'part';
}

/** Fewest bytes of a secret in production. */
const MIN_SECRET = 24;

/** Defect of a secret in production; `undefined`: none. */
export function weaknessOf(
  written: string,
  secret: Setting<unknown>['secret'],
): string | undefined {
  if (!secret) return undefined;
  const bytes = Buffer.from(written.replace(/^whsec_/, ''), 'base64');
  // The samples of docs/environments say so.
  if (`${written} ${bytes.toString('latin1')}`.includes('change-me'))
    return 'is the sample of docs/environments; set a secret of your own';
  const size = written.startsWith('whsec_') ? bytes.length : Buffer.byteLength(written);
  return secret === 'whole' && size < MIN_SECRET
    ? `is shorter than ${MIN_SECRET} bytes; openssl rand -hex 32 makes one that is long enough`
    : undefined;
}

/** @param shown its value, unless that is secret */
export function wrongVariable(name: string, shown: string | undefined, rule: string): string {
  return `${name}${shown === undefined ? '' : ` ${JSON.stringify(shown)}`}: ${rule}`;
}

/**
 * A variable without a value that a choice, such as `CARRIER=http`, needs.
 * @param remedy what to write @default to take the choice back
 */
export function missingVariable(
  name: string,
  choice: string,
  remedy: string | undefined,
  usual: string | undefined,
): string {
  const [chooser = ''] = choice.split('=');
  const back = usual === undefined ? `leave ${chooser} out` : `set ${chooser}=${usual}`;
  return `${name}: is missing; ${choice} needs it${remedy ? `; ${remedy}` : `, or ${back}`}`;
}
