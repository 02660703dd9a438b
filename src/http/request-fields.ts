import { type FieldError, isPhoneNumber } from '@dundun/messaging';

const MOST_ERRORS = 10;
/** Of a field's name as it is shown, in characters. */
const LONGEST_NAME = 64;

/**
 * Checks a list of phone numbers in one pass: 100,000 of them must not become as many validation
 * contexts. What is wrong is added to `errors` as `to[3]`, the first ten.
 * @param alsoRight takes what may stand where a number does
 */
export function checkNumbers(
  path: string,
  list: unknown,
  errors: FieldError[],
  alsoRight: (entry: unknown) => boolean = () => false,
): void {
  if (!Array.isArray(list) || list.length === 0) {
    errors.push({ path, message: 'must be a list of at least one phone number' });
    return;
  }
  let bad = 0;
  for (let index = 0; index < list.length && bad < MOST_ERRORS; index++) {
    const entry: unknown = list[index];
    if (isPhoneNumber(entry) || alsoRight(entry)) continue;
    errors.push({ path: `${path}[${index}]`, message: numberRemedy(entry) });
    bad++;
  }
}

/** What to do about what is no phone number. */
export function numberRemedy(entry: unknown): string {
  if (typeof entry !== 'string') return 'must be a string of digits, such as "2348012345678"';
  const digits = entry.replace(/^\+|[\s\-().]/g, '');
  if (digits !== entry && isPhoneNumber(digits))
    return 'must be digits alone: leave out the plus, spaces, dashes and brackets';
  return 'must be 7 to 15 digits with country code, without a leading zero, such as 2348012345678';
}

/**
 * Names the fields of `request` that are none of `fields`, the first ten: a body has room for half a
 * million, and the answer would be ten times as long.
 */
export function checkUnknown(
  request: Readonly<Record<string, unknown>>,
  fields: ReadonlySet<string>,
  errors: FieldError[],
): void {
  let unknown = 0;
  for (const name in request) {
    if (fields.has(name)) continue;
    errors.push({ path: nameShown(name), message: 'is not a field of this request' });
    if (++unknown === MOST_ERRORS) return;
  }
}

function nameShown(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}
