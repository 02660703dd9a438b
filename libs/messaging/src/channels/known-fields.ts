import { type FieldError, MessageValidationError } from '../message/errors.js';

/** The fields that a message may have; one for each key of its type. */
export type KnownFields<T> = Readonly<Record<T extends unknown ? keyof T : never, true>>;

/** Fields that every message may have. */
export const LABEL_FIELDS = { tags: true, metadata: true } as const;

/** Most changes of a letter between a wrong name and the one that it is taken for. */
const MOST_CHANGES = 2;

/**
 * Refuses a message with a field that no message of its kind has, such as `bdoy`: it would be sent
 * without what the caller meant. Fields that are `undefined` are not there.
 * @throws MessageValidationError
 */
export function refuseUnknownFields(message: object, known: Readonly<Record<string, true>>): void {
  const errors = unknownFieldsOf(message, known);
  if (errors.length > 0) throw new MessageValidationError(errors);
}

const NONE: readonly FieldError[] = [];

/** At most ten. */
export function unknownFieldsOf(
  message: object,
  known: Readonly<Record<string, true>>,
): readonly FieldError[] {
  const isUnknown = (field: string) =>
    !Object.hasOwn(known, field) && (message as Record<string, unknown>)[field] !== undefined;
  const fields = Object.keys(message);
  if (!fields.some(isUnknown)) return NONE;
  return fields
    .filter(isUnknown)
    .slice(0, 10)
    .map((field) => ({
      path: /^\w{1,64}$/.test(field) ? field : 'message',
      message: `there is no such field${suggestion(field, Object.keys(known))}`,
    }));
}

function suggestion(field: string, known: readonly string[]): string {
  const given = field.slice(0, 64).toLowerCase();
  const [nearest] = known
    .map((name) => ({ name, changes: changesBetween(given, name.toLowerCase()) }))
    .filter(({ name, changes }) => changes <= MOST_CHANGES && changes < name.length)
    .toSorted((one, other) => one.changes - other.changes);
  return nearest ? `; did you mean ${nearest.name}?` : `; there are ${known.join(', ')}`;
}

/** Letters to add, drop or replace (Levenshtein). */
function changesBetween(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let n = 0; n < one.length; n++) {
    const row = [n + 1];
    for (let place = 0; place < other.length; place++)
      row.push(
        Math.min(
          (row[place] ?? 0) + 1,
          (before[place + 1] ?? 0) + 1,
          (before[place] ?? 0) + (one[n] === other[place] ? 0 : 1),
        ),
      );
    before = row;
  }
  return before.at(-1) ?? 0;
}
