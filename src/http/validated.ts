import type { FieldError } from '@dundun/messaging';
import { getMetadataStorage, validateSync } from 'class-validator';
import { invalidFields } from './api-error.js';
import { checkUnknown } from './request-fields.js';

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = new WeakMap<object, ReadonlySet<string>>();

/**
 * `plain` as a DTO, its class-validator rules held and unknown fields refused.
 *
 * Values stay as they are, and unknown fields are looked for here: class-transformer and
 * class-validator take minutes over what fits into one body.
 * @param made the DTO of the known fields, where values are to be turned into others
 * @throws ApiError 422 naming each field.
 */
export function validated<T extends object>(
  dto: new () => T,
  plain: object,
  made: (known: Fields) => T = (known) => Object.assign(new dto(), known),
): T {
  const fields = knownFields(dto);
  const unknown: FieldError[] = [];
  checkUnknown(plain as Fields, fields, unknown);
  const known = [...fields].filter((name) => Object.hasOwn(plain, name));
  const instance = made(Object.fromEntries(known.map((name) => [name, (plain as Fields)[name]])));
  const wrong = validateSync(instance).flatMap(({ property: path, constraints = {} }) =>
    Object.values(constraints)
      .slice(0, 1)
      .map((message) => ({ path, message })),
  );
  if (wrong.length + unknown.length > 0) throw invalidFields([...wrong, ...unknown]);
  return instance;
}

/** Those that have a rule. */
function knownFields(dto: new () => object): ReadonlySet<string> {
  let fields = fieldsOf.get(dto);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    fields = new Set(rules.map(({ propertyName }) => propertyName));
    fieldsOf.set(dto, fields);
  }
  return fields;
}
