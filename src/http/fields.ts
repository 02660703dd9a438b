import {
  type FieldError,
  FIRST_REPORTED_RANK,
  isPhoneNumber,
  type MessageStatus,
  type ReportedStatus,
  STATUS_RANK,
} from '@dundun/messaging';
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsUUID, Max, Min, ValidateIf } from 'class-validator';
import { ApiError } from './api-error.js';
import { parseTimestamp, TIMESTAMP_RULE } from './rfc3339.js';
import { errorsOf, type FieldCheck, isObject, MOST_ERRORS, Rule } from './validation.js';

/** A JSON Schema (2020-12), as used in OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface FieldOptions extends JsonSchema {
  /** `'in the document'`: the rules also run where the field is missing. @default false */
  readonly optional?: boolean | 'in the document';
}

export const PHONE_NUMBER = {
  type: 'string',
  pattern: '^[1-9][0-9]{6,14}$',
  description: 'Digits with country code, no plus.',
  examples: ['2348012345678'],
} as const;

export const NULLABLE_TEXT = { type: 'string', nullable: true } as const;

/** The fields of a DTO as a plain object type, for responses. */
export type Plain<T> = { readonly [Name in keyof T]: T[Name] };

/** Schema and rules of a field in one decorator; every decorator below is one of these. */
export function Field(
  { optional = false, ...schema }: FieldOptions,
  ...rules: readonly PropertyDecorator[]
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...schema, required: optional === false } as ApiPropertyOptions),
    // `null` is a value, and differs from a missing field.
    ...(optional === true ? [ValidateIf((_request, value) => value !== undefined)] : []),
    ...rules,
  );
}

export function PhoneNumber(options: FieldOptions = {}): PropertyDecorator {
  return Field({ ...PHONE_NUMBER, ...options }, Rule('phoneNumber', numberRemedy));
}

export const RECIPIENT: JsonSchema = {
  type: 'string',
  pattern: '^(?:[1-9][0-9]{6,14})?$',
  description: 'Digits with country code; empty after erasure.',
  examples: ['2348012345678'],
};

export function numberRemedy(entry: unknown): string | undefined {
  if (isPhoneNumber(entry)) return undefined;
  if (typeof entry !== 'string') return 'must be a string of digits, such as "2348012345678"';
  const digits = entry.replace(/^\+|[\s\-().]/g, '');
  if (digits !== entry && isPhoneNumber(digits))
    return 'must be digits alone: leave out the plus, spaces, dashes and brackets';
  return 'must be 7 to 15 digits with country code, without a leading zero, such as 2348012345678';
}

export const REPORTED_STATUSES = (Object.keys(STATUS_RANK) as MessageStatus[]).filter(
  (status): status is ReportedStatus =>
    STATUS_RANK[status] >= FIRST_REPORTED_RANK && status !== 'cancelled',
);

export const GROUP_ID: JsonSchema = {
  type: 'string',
  pattern: '^grp_[0-9A-Za-z]{10,}$',
  examples: ['grp_4yGq0cXo2vGdXk1w8bTzRs'],
};

/** An RFC 3339 time with an offset; responses use UTC. */
export function Timestamp(options: FieldOptions = {}): PropertyDecorator {
  return Field(
    { type: 'string', format: 'date-time', examples: ['2026-11-20T13:20:28.001Z'], ...options },
    Rule('timestamp', (value) =>
      parseTimestamp(value) === undefined ? TIMESTAMP_RULE : undefined,
    ),
  );
}

export function Uuid({
  message = 'must be a UUID',
  ...options
}: MessageOption = {}): PropertyDecorator {
  return Field(
    {
      type: 'string',
      format: 'uuid',
      examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd'],
      ...options,
    },
    IsUUID('all', { message }),
  );
}

interface MessageOption extends FieldOptions {
  readonly message?: string;
}

interface TextOptions extends MessageOption {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A JSON Schema pattern: not anchored. */
  readonly pattern?: string;
}

/** A text without NUL and lone surrogates, which databases refuse. */
export function Text({ message, ...options }: TextOptions = {}): PropertyDecorator {
  const { minLength = 0, maxLength = Infinity, pattern = '' } = options;
  const form = new RegExp(pattern);
  const remedy = message ?? lengthRule(options);
  return Field(
    { type: 'string', ...options },
    Rule('text', (value) => {
      const isValid = isText(value, maxLength) && value.length >= minLength && form.test(value);
      return isValid ? undefined : remedy;
    }),
  );
}

function lengthRule({ minLength = 0, maxLength }: TextOptions): string {
  if (maxLength === undefined) return minLength > 0 ? TEXT_RULE : 'must be a text';
  return minLength > 0
    ? `must be ${minLength} to ${maxLength} characters`
    : `must be a text of at most ${maxLength} characters`;
}

export function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most && !/[\0\p{Cs}]/u.test(value);
}

export function Choice(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  const last = values.at(-1) ?? '';
  const rest = values.slice(0, -1).join(', ');
  const message = rest === '' ? `must be ${last}` : `must be ${rest} or ${last}`;
  return Field({ type: 'string', enum: [...values], ...options }, IsIn(values, { message }));
}

export function Flag(options: FieldOptions = {}): PropertyDecorator {
  return Field({ type: 'boolean', ...options }, IsBoolean({ message: 'must be true or false' }));
}

interface NumberOptions extends FieldOptions {
  readonly minimum: number;
  readonly maximum?: number;
}

export function WholeNumber(options: NumberOptions): PropertyDecorator {
  const { minimum, maximum } = options;
  const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  const rule = { message: `must be a whole number ${range}` };
  return Field(
    { type: 'integer', ...options },
    IsInt(rule),
    Min(minimum, rule),
    ...(maximum === undefined ? [] : [Max(maximum, rule)]),
  );
}

export function Price(options: FieldOptions = {}): PropertyDecorator {
  return Field({ type: 'number', nullable: true, description: 'null: not known.', ...options });
}

export interface ListRule {
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The remedy for a wrong entry. */
  readonly entry: (entry: unknown) => string | undefined;
  /** The remedy for a value that is not such a list. */
  readonly message: string;
}

export function List(
  options: FieldOptions & { readonly items: JsonSchema },
  rule: ListRule,
): PropertyDecorator {
  const { entry: _entry, message: _message, ...sizes } = rule;
  return Field(
    { type: 'array', ...sizes, ...options },
    Rule('list', (value, { name }) => listErrors(name, value, rule)),
  );
}

/** Errors of wrong entries as `to[3]`, the first ten, in one pass over the list. */
export function listErrors(
  path: string,
  list: unknown,
  { minItems = 0, maxItems = Infinity, entry, message }: ListRule,
): FieldError[] {
  if (!Array.isArray(list) || list.length < minItems || list.length > maxItems)
    return [{ path, message }];
  const errors: FieldError[] = [];
  for (let index = 0; index < list.length && errors.length < MOST_ERRORS; index++) {
    const remedy = entry(list[index]);
    if (remedy !== undefined) errors.push({ path: `${path}[${index}]`, message: remedy });
  }
  return errors;
}

/** A boolean, or an object of another DTO. */
export function FlagOr(dto: Type<object>, options: FieldOptions = {}): PropertyDecorator {
  const check: FieldCheck = (value, { name }) => {
    if (typeof value === 'boolean') return undefined;
    if (!isObject(value)) return 'must be true, false or a JSON object';
    const errors = errorsOf(dto, value);
    return errors.map(({ path, message }) => ({ path: `${name}.${path}`, message }));
  };
  const anyOf = [{ type: 'boolean' }, { $ref: `#/components/schemas/${dto.name}` }];
  const field = Field({ anyOf, ...options }, Rule('flagOr', check));
  return (target, key) => {
    field(target, key);
    ApiExtraModels(dto)(target.constructor);
  };
}

/** A text that callers send under any of these names; the decorated field has the first. */
export function TextUnder(names: Names, options: FieldOptions = {}): PropertyDecorator {
  const check: FieldCheck = (_value, { of }) => {
    const { text, field } = readText(of as Readonly<Record<string, unknown>>, names);
    return text === undefined ? [{ path: field, message: TEXT_RULE }] : [];
  };
  return Field(
    { type: 'string', minLength: 1, ...options, optional: 'in the document' },
    Rule('textUnder', check),
  );
}

/** The same text under an alternative name. */
export function SameText(options: FieldOptions = {}): PropertyDecorator {
  return Field({ type: 'string', minLength: 1, ...options, optional: true });
}

export const TEXT_RULE = 'must be a text of at least one character';

type Names<Name extends string = string> = readonly [Name, ...Name[]];

/** The text, and its name. @throws ApiError `conflicting_fields` where two names differ */
export function readText<Name extends string>(
  request: Readonly<Partial<Record<Name, unknown>>>,
  names: Names<Name>,
): { readonly text: string | undefined; readonly field: Name } {
  const field = names.find((name) => request[name] !== undefined) ?? names[0];
  const text = request[field];
  const other = names.find((name) => request[name] !== undefined && request[name] !== text);
  if (other !== undefined)
    throw new ApiError('conflicting_fields', `${field} and ${other} differ; send one of them`, {
      details: [
        { path: field, message: `differs from ${other}` },
        { path: other, message: `differs from ${field}` },
      ],
    });
  return { text: typeof text === 'string' && text !== '' ? text : undefined, field };
}
