import { type FieldError, readAddress } from '@dundun/messaging';
import { isPhoneNumber, withoutTrunkPrefix } from '@dundun/messaging/values';
import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiProperty,
  type ApiPropertyOptions,
  ApiSchema,
  type ApiSchemaOptions,
} from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsUUID, Max, Min, ValidateIf } from 'class-validator';
import { ApiError } from './api-error.js';
import { parseTimestamp, TIMESTAMP_RULE } from './rfc3339.js';
import {
  errorsOf,
  isObject,
  type JsonSchema,
  Known,
  MOST_ERRORS,
  Rule,
  schemasOf,
} from './validation.js';

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

export const RECIPIENT: JsonSchema = {
  type: 'string',
  pattern: '^(?:[1-9][0-9]{6,14})?$',
  description: 'Digits with country code; empty after erasure.',
  examples: ['2348012345678'],
};

export const GROUP_ID: JsonSchema = {
  type: 'string',
  pattern: '^grp_[0-9A-Za-z]{10,}$',
  examples: ['grp_4yGq0cXo2vGdXk1w8bTzRs'],
};

/** The fields of a DTO as a plain object type, for responses. */
export type Plain<T> = { readonly [Name in keyof T]: T[Name] };

/** Schema and rules of a field in one decorator; every decorator below is one of these. */
export function Field(
  { optional = false, ...schema }: FieldOptions,
  ...rules: readonly PropertyDecorator[]
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...schema, required: optional === false } as ApiPropertyOptions),
    Known(schema),
    // `null` is a value, and differs from a missing field: `IsOptional()` would skip it.
    ...(optional === true ? [ValidateIf((_request, value) => value !== undefined)] : []),
    ...rules,
  );
}

/** Details of a bounce; `null` for any other status. */
export function Bounce(): PropertyDecorator {
  return Field({
    type: 'object',
    nullable: true,
    additionalProperties: { type: ['string', 'number', 'null'] },
    description:
      'Of a bounce: `category` (`recipient`, `mailbox_full`, `block`, `content`, `other`), `smtp_code`, `enhanced_code`, `diagnostic`, `remote_mta`.',
    examples: [null],
  });
}

/** In the document: at least one of these fields must be there. */
export function RequiresOneOf(...names: readonly string[]): ClassDecorator {
  const anyOf = names.map((name) => ({ required: [name], properties: { [name]: true } }));
  return ApiSchema({ anyOf } as unknown as ApiSchemaOptions);
}

export function PhoneNumber(options: FieldOptions = {}): PropertyDecorator {
  return Field({ ...PHONE_NUMBER, ...options }, Rule(numberRemedy));
}

/** A filter by the number of a message, which may be older than the refusal of trunk zeros. */
export function SentNumber(options: FieldOptions = {}): PropertyDecorator {
  return Field({ ...PHONE_NUMBER, optional: true, ...options }, Rule(digitsRemedy));
}

export function numberRemedy(entry: unknown): string | undefined {
  const right = isPhoneNumber(entry) ? withoutTrunkPrefix(entry) : undefined;
  if (right === undefined) return digitsRemedy(entry);
  return `must be ${right}: the number has a prefix that is dialled within its country only`;
}

function digitsRemedy(entry: unknown): string | undefined {
  if (isPhoneNumber(entry)) return undefined;
  if (typeof entry !== 'string') return 'must be a string of digits, such as "2348012345678"';
  const digits = entry.replace(/^\+|[\s\-().]/g, '');
  if (digits !== entry && isPhoneNumber(digits))
    return 'must be digits alone: leave out the plus, spaces, dashes and brackets';
  return 'must be 7 to 15 digits with country code, without a leading zero, such as 2348012345678';
}

export const EMAIL_RULE = 'must be an e-mail address, such as ada@example.com';

export function emailRemedy(value: unknown): string | undefined {
  return typeof value === 'string' && readAddress(value, ['email']) ? undefined : EMAIL_RULE;
}

/** An RFC 3339 time with an offset; responses use UTC. */
export function Timestamp(options: FieldOptions = {}): PropertyDecorator {
  return Field(
    { type: 'string', format: 'date-time', examples: ['2026-11-20T13:20:28.001Z'], ...options },
    Rule((value) => (parseTimestamp(value) ? undefined : TIMESTAMP_RULE)),
  );
}

export function Uuid({
  message = 'must be a UUID',
  ...options
}: MessageOption = {}): PropertyDecorator {
  const examples = ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd'];
  return Field(
    { type: 'string', format: 'uuid', examples, ...options },
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
  const isValid = (value: unknown): boolean =>
    isText(value, maxLength) && value.length >= minLength && form.test(value);
  return Field(
    { type: 'string', ...options },
    Rule((value) => (isValid(value) ? undefined : remedy)),
  );
}

const TEXT_RULE = 'must be a text of at least one character';

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
  const message = `must be ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(values)}`;
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
  const { minimum, maximum = Infinity } = options;
  const range = maximum < Infinity ? `from ${minimum} to ${maximum}` : `of at least ${minimum}`;
  const rule = { message: `must be a whole number ${range}` };
  const rules = [IsInt(rule), Min(minimum, rule), Max(maximum, rule)];
  return Field({ type: 'integer', ...options }, ...rules);
}

export function Price(options: FieldOptions = {}): PropertyDecorator {
  return Field({ type: 'number', nullable: true, description: 'null: not known.', ...options });
}

/** What the account pays; beside it {@link PriceCurrency}. */
export function ChargedPrice(): PropertyDecorator {
  return Price({
    description:
      'What it costs, or may still cost; 0: it costs nothing. null: the account is not charged.',
    examples: [4.5],
  });
}

export function PriceCurrency(): PropertyDecorator {
  return Text({ nullable: true, description: 'Of `cost`.', examples: ['NGN'] });
}

interface ListOptions extends FieldOptions {
  readonly items: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The remedy for a wrong entry. */
  readonly entry: (entry: unknown) => string | undefined;
  /** The remedy for a value that is not such a list. */
  readonly message: string;
}

/** Wrong entries are named as `to[3]`, the first ten. */
export function List({ entry, message, ...options }: ListOptions): PropertyDecorator {
  const { minItems = 0, maxItems = Infinity } = options;
  const rule = Rule((list, _request, name) => {
    if (!Array.isArray(list) || list.length < minItems || list.length > maxItems) return message;
    const errors: FieldError[] = [];
    for (let index = 0; index < list.length && errors.length < MOST_ERRORS; index++) {
      const remedy = entry(list[index]);
      if (remedy !== undefined) errors.push({ path: `${name}[${index}]`, message: remedy });
    }
    return errors;
  });
  return Field({ type: 'array', ...options }, rule);
}

interface ObjectsOptions extends FieldOptions {
  /** The schema of texts among the entries. @default none */
  readonly orText?: JsonSchema;
  /** Also check the values of the fields; else the handler does. @default false */
  readonly checked?: boolean;
  readonly maxItems?: number;
  /** The remedy for a value that is no such list. */
  readonly message: string;
}

/** A list of objects with the fields of another DTO; wrong ones are named as `to[3].email`. */
export function Objects(
  dto: Type<object>,
  { orText, checked = false, message, ...options }: ObjectsOptions,
): PropertyDecorator {
  const item = { $ref: `#/components/schemas/${dto.name}` };
  const known = schemasOf(dto.prototype as object);
  const { maxItems = Infinity } = options;
  const rule = Rule((list, _request, name) => {
    if (!Array.isArray(list) || list.length > maxItems) return message;
    const errors: FieldError[] = [];
    for (let index = 0; index < list.length && errors.length < MOST_ERRORS; index++) {
      const entry: unknown = list[index];
      const path = `${name}[${index}]`;
      if (typeof entry === 'string' && orText) continue;
      if (!isObject(entry))
        errors.push({ path, message: `must be ${orText ? 'a text or ' : ''}a JSON object` });
      else if (checked)
        for (const error of errorsOf(dto, entry))
          errors.push({ path: `${path}.${error.path}`, message: error.message });
      else
        for (const field in entry)
          if (!known.has(field)) {
            errors.push({
              path: `${path}.${field.slice(0, 64)}`,
              message: 'is not a field of this request',
            });
            break;
          }
    }
    return errors;
  });
  const items = orText ? { anyOf: [orText, item] } : item;
  const field = Field({ type: 'array', items, ...options }, rule);
  return (target, key) => {
    field(target, key);
    ApiExtraModels(dto)(target.constructor);
  };
}

/** An object of another DTO; wrong fields are named as `redial.times`. */
export function Nested(dto: Type<object>, options: FieldOptions = {}): PropertyDecorator {
  const rule = Rule((value, _request, name) =>
    isObject(value) ? errorsWithin(name, dto, value) : 'must be a JSON object',
  );
  const allOf = [{ $ref: `#/components/schemas/${dto.name}` }];
  const field = Field({ allOf, ...options }, rule);
  return (target, key) => {
    field(target, key);
    ApiExtraModels(dto)(target.constructor);
  };
}

/** A boolean, or an object of another DTO. */
export function FlagOr(dto: Type<object>, options: FieldOptions = {}): PropertyDecorator {
  const anyOf = [{ type: 'boolean' }, { $ref: `#/components/schemas/${dto.name}` }];
  const rule = Rule((value, _request, name) => {
    if (typeof value === 'boolean') return undefined;
    if (!isObject(value)) return 'must be true, false or a JSON object';
    return errorsWithin(name, dto, value);
  });
  const field = Field({ anyOf, ...options }, rule);
  return (target, key) => {
    field(target, key);
    ApiExtraModels(dto)(target.constructor);
  };
}

/** The errors of an object that is the value of a field, such as `redial.times`. */
export function errorsWithin(
  name: string,
  dto: Type<object>,
  value: object,
): readonly FieldError[] {
  try {
    const errors = errorsOf(dto, value);
    return errors.map(({ path, message }) => ({ path: `${name}.${path}`, message }));
  } catch (error) {
    throw error instanceof ApiError ? error.within(name) : error;
  }
}

/** A text that callers send under any of these names; the decorated field has the first. */
export function TextUnder(names: Names, options: FieldOptions = {}): PropertyDecorator {
  return Field(
    { type: 'string', minLength: 1, ...options, optional: 'in the document' },
    Rule((_value, request) => {
      const { text, field } = readText(request, names);
      return text === undefined ? [{ path: field, message: TEXT_RULE }] : [];
    }),
  );
}

/** The same text under an alternative name. */
export function SameText(options: FieldOptions = {}): PropertyDecorator {
  return Field({
    type: 'string',
    minLength: 1,
    description: 'The text under another name.',
    ...options,
    optional: true,
  });
}

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
