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

/** Names the wrong parts of one value: a message about the whole, or an error for each part. */
export type FieldCheck = (
  value: unknown,
  field: { readonly name: string; readonly of: object },
) => string | readonly FieldError[] | undefined;

/** Most wrong entries of a list, or unknown fields, that one answer names. */
export const MOST_ERRORS = 10;

/** Longest name of an unknown field that an answer repeats, in characters. */
const LONGEST_NAME = 64;

/** A rule of the gateway as a class-validator rule. */
export function Rule(name: string, check: FieldCheck): PropertyDecorator {
  return ValidateBy(
    {
      name,
      validator: {
        validate: (value: unknown, args) =>
          args === undefined ||
          check(value, { name: args.property, of: args.object }) === undefined,
      },
    },
    // class-validator keeps one text for each rule; `findings()` runs the check again for the parts.
    { message: 'is wrong', context: { check } },
  );
}

interface Forms {
  readonly field: string;
  readonly dtos: Readonly<Record<string, Type<object>>>;
}

const FORMS = Symbol('forms');

/** The request has one of these forms, by the value of `field`. */
export function OneOfForms(field: string, dtos: Forms['dtos']): ClassDecorator {
  return applyDecorators(
    SetMetadata<symbol, Forms>(FORMS, { field, dtos }),
    ApiExtraModels(...Object.values(dtos)),
    ApiSchema({
      oneOf: Object.values(dtos).map(({ name }) => ({ $ref: `#/components/schemas/${name}` })),
    } as ApiSchemaOptions),
  );
}

function formsOf(dto: Type): Forms | undefined {
  return Reflect.getOwnMetadata(FORMS, dto) as Forms | undefined;
}

/**
 * `plain` as a DTO whose class-validator rules hold and which has no unknown fields.
 *
 * @param make the DTO of the known fields, where values are converted
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

/** What is wrong with the fields of `plain`, unknown fields first. */
export function errorsOf(dto: Type<object>, plain: object): readonly FieldError[] {
  return checked(dto, plain).errors;
}

// Values stay as they are, and unknown fields are found here: class-transformer and class-validator
// take minutes over the 460,000 fields that fit into one body.
function checked<T extends object>(
  declared: Type<T>,
  plain: object,
  make?: (known: Fields) => T,
): { instance: T; errors: FieldError[] } {
  const dto = formOf(declared, plain as Fields);
  const fields = fieldsOf(dto);
  const errors: FieldError[] = [];
  checkUnknown(plain as Fields, fields, errors, foreignFields(declared, dto));
  const given: Record<string, unknown> = {};
  for (const name of fields) if (Object.hasOwn(plain, name)) given[name] = (plain as Fields)[name];
  const instance = make ? make(given) : Object.assign(new dto(), given);
  for (const error of validateSync(instance)) errors.push(...findings(error, instance));
  return { instance, errors };
}

/** The first broken rule of a field, as the interface tells it. */
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

function formOf<T extends object>(declared: Type<T>, plain: Fields): Type<T> {
  const forms = formsOf(declared);
  const value = forms && plain[forms.field];
  return forms && typeof value === 'string' && Object.hasOwn(forms.dtos, value)
    ? (forms.dtos[value] as Type<T>)
    : declared;
}

/** Fields that the other forms have, and the remedy for each. */
function foreignFields(declared: Type, dto: Type): ReadonlyMap<string, string | undefined> {
  const { field, dtos } = formsOf(declared) ?? { field: '', dtos: {} };
  const foreign = new Map<string, string | undefined>();
  for (const [value, form] of Object.entries(dtos))
    for (const name of fieldsOf(form))
      // Without a form, no field can be foreign to it.
      foreign.set(name, dto === declared ? undefined : `goes with ${field} ${value} alone`);
  return foreign;
}

/**
 * Adds an error for each of the first ten fields of `request` that are not in `fields`: a body has
 * room for half a million, and the answer would be ten times as long.
 */
export function checkUnknown(
  request: Fields,
  fields: ReadonlySet<string>,
  errors: FieldError[],
  foreign: ReadonlyMap<string, string | undefined> = new Map(),
): void {
  let unknown = 0;
  for (const name in request) {
    if (fields.has(name)) continue;
    const message = foreign.has(name) ? foreign.get(name) : 'is not a field of this request';
    if (message === undefined) continue;
    const path = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
    errors.push({ path, message });
    if (++unknown === MOST_ERRORS) return;
  }
}

const known = new WeakMap<object, ReadonlySet<string>>();

/** Fields of a DTO: those that have a rule. */
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
