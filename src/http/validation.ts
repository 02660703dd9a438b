import type { FieldError } from '@dundun/messaging';
import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiSchema, type ApiSchemaOptions, PickType } from '@nestjs/swagger';
import {
  getMetadataStorage,
  ValidateBy,
  type ValidationArguments,
  type ValidationError,
  validateSync,
  ValidationTypes,
} from 'class-validator';
import { invalidFields } from './api-error.js';

type Fields = Readonly<Record<string, unknown>>;

/** A JSON Schema (2020-12), as used in OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns the error of a value, or the errors of its parts. */
type Check = (
  value: unknown,
  request: Fields,
  name: string,
) => string | readonly FieldError[] | undefined;

/** Most wrong list entries, or unknown fields, in one response. */
export const MOST_ERRORS = 10;

/** Longest name of an unknown field in a response, in characters. */
const LONGEST_NAME = 64;

const SCHEMAS = Symbol('schemas');

/** Makes the decorated property a known field; derived DTOs have it too. */
export function Known(schema: JsonSchema): PropertyDecorator {
  return (prototype, name) => {
    const schemas = new Map(schemasOf(prototype)).set(String(name), schema);
    Reflect.defineMetadata(SCHEMAS, schemas, prototype);
  };
}

/** The schemas by field, of a DTO's prototype. */
export function schemasOf(prototype: object): ReadonlyMap<string, JsonSchema> {
  return (Reflect.getMetadata(SCHEMAS, prototype) ?? new Map()) as ReadonlyMap<string, JsonSchema>;
}

/** A DTO with these fields of another one. */
export function FieldsOf<T extends object, Name extends keyof T & string>(
  dto: Type<T>,
  names: readonly Name[],
): Type<Pick<T, Name>> {
  const picked = PickType(dto, names);
  const known = [...schemasOf(dto.prototype as object)];
  const isPicked = (name: string) => names.some((one) => one === name);
  const own = new Map(known.filter(([name]) => isPicked(name)));
  Reflect.defineMetadata(SCHEMAS, own, picked.prototype as object);
  return picked;
}

/** A check of our own as a rule of class-validator; at most one per field. */
export function Rule(check: Check): PropertyDecorator {
  const validate = (value: unknown, { object, property }: ValidationArguments): boolean =>
    !check(value, object as Fields, property)?.length;
  // A rule of class-validator has one text: `errorsIn()` runs the check again for its errors.
  return ValidateBy(
    { name: 'check', validator: { validate } },
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
 * Refuses unknown fields. `make` converts the values of the known fields.
 * @throws ApiError 422 naming each wrong field
 */
export function validated<T extends object>(dto: Type<T>, plain: object, make?: Make): T {
  const { instance, errors } = checked(dto, plain, make);
  if (errors.length > 0) throw invalidFields(errors);
  return instance as T;
}

/** The errors of `plain`, unknown fields first. */
export function errorsOf(dto: Type<object>, plain: object): readonly FieldError[] {
  return checked(dto, plain).errors;
}

type Make = (dto: Type<object>, known: Fields) => object;

// Bodies are not converted, and unknown fields are found here: for the 460,000 that fit into one body
// class-transformer takes over 90 s, and class-validator's whitelist makes an error of each.
function checked(
  declared: Type<object>,
  plain: object,
  make: Make = (dto, known) => Object.assign(new dto(), known),
): { instance: object; errors: FieldError[] } {
  const request = plain as Fields;
  const { field, dtos } = shapeOf(declared).forms;
  const form = dtos === NO_FORMS.dtos ? undefined : formOf(dtos, request[field]);
  const dto = form ?? declared;
  const { schemas, rules } = shapeOf(dto);
  const errors = unknownFields(request, (name) => {
    if (schemas.has(name)) return undefined;
    const other = Object.keys(dtos).find((value) =>
      schemasOf(dtos[value]?.prototype as object).has(name),
    );
    if (other === undefined) return 'is not a field of this request';
    // Without a selected form, no field belongs to another form.
    return form && `goes with ${field} ${other} alone`;
  });
  const known: Record<string, unknown> = {};
  for (const name of schemas.keys()) if (Object.hasOwn(request, name)) known[name] = request[name];
  const instance = make(dto, known);
  // After a broken rule, class-validator gives the errors, if any.
  if (!rules.every((holds) => holds(instance as Fields)))
    for (const error of validateSync(instance)) errors.push(...errorsIn(error));
  return { instance, errors };
}

function formOf(dtos: Forms['dtos'], value: unknown): Type<object> | undefined {
  return Object.entries(dtos).find(([name]) => name === value)?.[1];
}

type Holds = (instance: Fields) => boolean;

/** Rules that the decorators of a DTO declare. */
interface Shape {
  readonly forms: Forms;
  readonly schemas: ReadonlyMap<string, JsonSchema>;
  /** One for each field. */
  readonly rules: readonly Holds[];
}

/** Gain: 6 µs of a send; class-validator collects the rules at each call. */
const SHAPES = new WeakMap<Type<object>, Shape>();

function shapeOf(dto: Type<object>): Shape {
  let shape = SHAPES.get(dto);
  if (!shape) {
    const forms = (Reflect.getOwnMetadata(FORMS, dto) ?? NO_FORMS) as Forms;
    shape = { forms, schemas: schemasOf(dto.prototype as object), rules: rulesOf(dto) };
    SHAPES.set(dto, shape);
  }
  return shape;
}

function rulesOf(dto: Type<object>): Holds[] {
  const { CONDITIONAL_VALIDATION, CUSTOM_VALIDATION } = ValidationTypes;
  const storage = getMetadataStorage();
  const all = storage.getTargetValidationMetadatas(dto, '', false, false);
  return Object.entries(storage.groupByPropertyName(all)).map(([property, rules]) => {
    const conditions = rules.filter(({ type }) => type === CONDITIONAL_VALIDATION);
    const checks = rules.filter(({ type }) => type !== CONDITIONAL_VALIDATION);
    // Rules for entries and nested objects are left to class-validator.
    if (
      checks.some(({ type, each, validateIf }) => type !== CUSTOM_VALIDATION || each || validateIf)
    )
      return () => false;
    const validators = checks.flatMap(({ constraintCls, constraints }) =>
      storage
        .getTargetValidatorConstraints(constraintCls)
        .map(({ instance }) => ({ instance, constraints })),
    );
    return (object) => {
      const value = object[property];
      for (const { constraints } of conditions) if (!constraints[0](object, value)) return true;
      for (const { instance, constraints } of validators) {
        const given = { value, object, property, constraints, targetName: dto.name };
        if (instance.validate(value, given) !== true) return false;
      }
      return true;
    };
  });
}

function errorsIn(broken: ValidationError): readonly FieldError[] {
  const { target, property: path, value, constraints = {}, contexts = {} } = broken;
  const [[rule, message] = ['', '']] = Object.entries(constraints);
  const { check } = (contexts[rule] ?? {}) as { check?: Check };
  const found = check?.(value, target as Fields, path) ?? message;
  return typeof found === 'string' ? [{ path, message: found }] : found;
}

/**
 * The first ten fields with a problem: a body can have half a million unknown fields, and the
 * response would be ten times as long.
 */
function unknownFields(
  request: Fields,
  problemOf: (name: string) => string | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const name in request) {
    const message = problemOf(name);
    if (message === undefined) continue;
    const path = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
    errors.push({ path, message });
    if (errors.length === MOST_ERRORS) break;
  }
  return errors;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
