import type { FieldError } from '@dundun/messaging';
import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import { invalidFields } from './api-error.js';

type Fields = Readonly<Record<string, unknown>>;

/** A JSON Schema (2020-12), as used in OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns the error of a value, or the errors of its parts. */
export type FieldCheck = (
  value: unknown,
  field: { readonly name: string; readonly of: Fields },
) => string | readonly FieldError[] | undefined;

export interface FieldRule {
  readonly schema: JsonSchema;
  readonly check: FieldCheck;
  /** Runs before the check: the values of a query are texts. */
  readonly convert?: ((value: unknown) => unknown) | undefined;
}

/** Most wrong list entries, or unknown fields, in one response. */
export const MOST_ERRORS = 10;

/** Longest name of an unknown field in a response, in characters. */
const LONGEST_NAME = 64;

const RULES = Symbol('rules');

/** The rule of the decorated field; derived DTOs have it too. */
export function Rule(rule: FieldRule): PropertyDecorator {
  return (prototype, name) => {
    const rules = new Map(rulesOf(prototype)).set(String(name), rule);
    Reflect.defineMetadata(RULES, rules, prototype);
  };
}

/** The rules by field, of a DTO's prototype. */
export function rulesOf(prototype: object): ReadonlyMap<string, FieldRule> {
  return (Reflect.getMetadata(RULES, prototype) ?? new Map()) as ReadonlyMap<string, FieldRule>;
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

/** Refuses unknown fields. @throws ApiError 422 naming each wrong field */
export function validated<T extends object>(dto: Type<T>, plain: object): T {
  const { instance, errors } = checked(dto, plain);
  if (errors.length > 0) throw invalidFields(errors);
  return instance as T;
}

/** The errors of `plain`, unknown fields first. */
export function errorsOf(dto: Type<object>, plain: object): readonly FieldError[] {
  return checked(dto, plain).errors;
}

function checked(
  declared: Type<object>,
  plain: object,
): { instance: object; errors: FieldError[] } {
  const request = plain as Fields;
  const { field, dtos } = (Reflect.getOwnMetadata(FORMS, declared) ?? NO_FORMS) as Forms;
  const form = Object.entries(dtos).find(([value]) => value === request[field])?.[1];
  const dto = form ?? declared;
  const rules = rulesOf(dto.prototype as object);
  const errors = unknownFields(request, (name) => {
    if (rules.has(name)) return undefined;
    const other = Object.keys(dtos).find((value) =>
      rulesOf(dtos[value]?.prototype as object).has(name),
    );
    if (other === undefined) return 'is not a field of this request';
    // Where no form is selected, no field belongs to another form.
    return form && `goes with ${field} ${other} alone`;
  });
  const instance = new dto() as Record<string, unknown>;
  for (const [name, { convert }] of rules)
    if (Object.hasOwn(request, name))
      instance[name] = convert ? convert(request[name]) : request[name];
  for (const [name, { check }] of rules) {
    const found = check(instance[name], { name, of: instance }) ?? [];
    errors.push(...(typeof found === 'string' ? [{ path: name, message: found }] : found));
  }
  return { instance, errors };
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
