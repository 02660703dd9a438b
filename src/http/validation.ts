import type { FieldError } from '@dundun/messaging';
import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import {
  getMetadataStorage,
  ValidateBy,
  type ValidationError,
  validateSync,
} from 'class-validator';
import { invalidFields } from './api-error.js';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the error of a value, or the errors of its parts. */
export type FieldCheck = (
  value: unknown,
  field: { readonly name: string; readonly of: object },
) => string | readonly FieldError[] | undefined;

/** Most wrong list entries, or unknown fields, in one response. */
export const MOST_ERRORS = 10;

const UNKNOWN_FIELD = 'is not a field of this request';

/** Longest name of an unknown field in a response, in characters. */
const LONGEST_NAME = 64;

export function Rule(name: string, check: FieldCheck): PropertyDecorator {
  return ValidateBy(
    {
      name,
      validator: {
        validate: (value: unknown, args) =>
          args === undefined || !check(value, { name: args.property, of: args.object })?.length,
      },
    },
    // class-validator keeps one text per rule; `findings()` runs the check again for the details.
    { message: 'is wrong', context: { check } },
  );
}

interface Forms {
  readonly field: string;
  readonly dtos: Readonly<Record<string, Type<object>>>;
}

const FORMS = Symbol('forms');
const NO_FORMS: Forms = { field: '', dtos: {} };

/** Requires one of several forms of the request, selected by the value of `field`. */
export function OneOfForms(field: string, dtos: Forms['dtos']): ClassDecorator {
  return applyDecorators(
    SetMetadata<symbol, Forms>(FORMS, { field, dtos }),
    ApiExtraModels(...Object.values(dtos)),
    ApiSchema({
      oneOf: Object.values(dtos).map(({ name }) => ({ $ref: `#/components/schemas/${name}` })),
    } as ApiSchemaOptions),
  );
}

/**
 * Refuses unknown fields. `make` builds the DTO from the known fields and converts values.
 * @throws ApiError 422 naming each wrong field
 */
export function validated<T extends object>(
  dto: Type<T>,
  plain: object,
  make?: (known: Fields) => T,
): T {
  const { instance, errors } = checked(dto, plain, make);
  if (errors.length > 0) throw invalidFields(errors);
  return instance;
}

/** The errors of `plain`, unknown fields first. */
export function errorsOf(dto: Type<object>, plain: object): readonly FieldError[] {
  return checked(dto, plain).errors;
}

// Values are not converted, and unknown fields are found here: class-transformer and
// class-validator take minutes for the 460,000 fields that fit into one body.
function checked<T extends object>(
  declared: Type<T>,
  plain: object,
  make?: (known: Fields) => T,
): { instance: T; errors: FieldError[] } {
  const request = plain as Fields;
  const { field, dtos } = (Reflect.getOwnMetadata(FORMS, declared) ?? NO_FORMS) as Forms;
  const form = Object.entries(dtos).find(([value]) => value === request[field])?.[1];
  const dto = (form ?? declared) as Type<T>;
  const fields = fieldsOf(dto);
  const errors: FieldError[] = [];
  checkUnknown(request, fields, errors, (name) => {
    const other = Object.keys(dtos).find((value) => fieldsOf(dtos[value] as Type).has(name));
    if (other === undefined) return UNKNOWN_FIELD;
    // Where no form is selected, no field belongs to another form.
    return form && `goes with ${field} ${other} alone`;
  });
  const given: Record<string, unknown> = {};
  for (const name of fields) if (Object.hasOwn(plain, name)) given[name] = request[name];
  const instance = make ? make(given) : Object.assign(new dto(), given);
  for (const error of validateSync(instance)) errors.push(...findings(error, instance));
  return { instance, errors };
}

/** The first broken rule of a field, as an error of the interface. */
function findings(
  { property, value, constraints = {}, contexts }: ValidationError,
  of: object,
): readonly FieldError[] {
  const [rule] = Object.keys(constraints);
  if (rule === undefined) return [];
  const check = (contexts?.[rule] as { check?: FieldCheck } | undefined)?.check;
  const found = check?.(value, { name: property, of }) ?? constraints[rule] ?? 'is wrong';
  return typeof found === 'string' ? [{ path: property, message: found }] : found;
}

/**
 * Adds errors for the first ten unknown fields of `request`: a body can have half a million, and
 * the response would be ten times as long.
 */
export function checkUnknown(
  request: Fields,
  fields: ReadonlySet<string>,
  errors: FieldError[],
  problemOf: (name: string) => string | undefined = () => UNKNOWN_FIELD,
): void {
  let unknown = 0;
  for (const name in request) {
    const message = fields.has(name) ? undefined : problemOf(name);
    if (message === undefined) continue;
    const path = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
    errors.push({ path, message });
    if (++unknown === MOST_ERRORS) return;
  }
}

const known = new WeakMap<object, ReadonlySet<string>>();

/** Fields of a DTO: the properties with a rule. */
export function fieldsOf(dto: Type): ReadonlySet<string> {
  let fields = known.get(dto);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    fields = new Set(rules.map(({ propertyName }) => propertyName));
    known.set(dto, fields);
  }
  return fields;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
