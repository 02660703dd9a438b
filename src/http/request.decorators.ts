import {
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { ApiBody, ApiExtension, ApiExtraModels } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { ApiError } from './api-error.js';
import { type HttpRequest, requestOf } from './http-message.js';
import { isObject, validated } from './validation.js';

/** Extension with the DTO of a query during Nest's scan; removed from the document. */
export const QUERY_KEY = 'x-query';

const EXAMPLES = Symbol('examples');

export function BodyExamples(examples: Readonly<Record<string, unknown>>): ClassDecorator {
  return SetMetadata(EXAMPLES, examples);
}

interface BodyOptions {
  /** A missing or `null` body counts as an empty object. @default false */
  readonly optional?: boolean;
}

/** Validates synchronously in the parameter decorator: a pipe costs more than the validation. */
export function JsonBody(dto: Type<object>, options: BodyOptions = {}): ParameterDecorator {
  const parameter = createParamDecorator((_data: unknown, context: ExecutionContext) => {
    const request = requestOf(context);
    return validated(dto, options.optional && request.body == null ? {} : readJsonBody(request));
  });
  return documenting(parameter(), DocumentedBody(dto, options));
}

/** Documents a JSON body of a route that parses its request itself. */
export function DocumentedBody(
  dto: Type<object>,
  { optional = false }: BodyOptions = {},
): MethodDecorator {
  const examples = Object.entries<unknown>(Reflect.getMetadata(EXAMPLES, dto) ?? {}).map(
    ([name, value]) => [name.replaceAll(/[ ,]+/g, '-'), { value }],
  );
  return ApiBody({
    type: dto,
    required: !optional,
    ...(examples.length > 0 && { examples: Object.fromEntries(examples) as never }),
  });
}

export function ValidQuery(dto: Type<object>): ParameterDecorator {
  const parameter = createParamDecorator((_data: unknown, context: ExecutionContext) =>
    validated(dto, requestOf(context).query as object, (known) =>
      plainToInstance(dto, known, { exposeDefaultValues: true }),
    ),
  );
  return documenting(
    parameter(),
    ApiExtraModels(dto) as MethodDecorator,
    ApiExtension(QUERY_KEY, dto.name) as MethodDecorator,
  );
}

/** A parameter decorator that also decorates the method for Nest's swagger. */
function documenting(
  parameter: ParameterDecorator,
  ...documents: readonly MethodDecorator[]
): ParameterDecorator {
  return (target, key, index) => {
    parameter(target, key, index);
    if (key === undefined) return;
    const method = Object.getOwnPropertyDescriptor(target, key) as PropertyDescriptor;
    for (const document of documents) document(target, key, method);
  };
}

const JSON_TYPE = /^application\/json/i;

/** @throws ApiError 415 where the body is not JSON, 422 where it is not an object */
export function readJsonBody({ body, headers }: HttpRequest): Readonly<Record<string, unknown>> {
  const type = headers['content-type'];
  if (body !== undefined && !(typeof type === 'string' && JSON_TYPE.test(type)))
    throw new ApiError('unsupported_media_type');
  if (!isObject(body))
    throw new ApiError('invalid_field', 'The body must be a JSON object', {
      details: [{ path: '', message: 'must be a JSON object' }],
    });
  return body;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

export const IdempotencyKey = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  idempotencyKeyOf(requestOf(context)),
);

/** @throws ApiError 400 where the header is not a valid key */
export function idempotencyKeyOf({ headers }: HttpRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && IDEMPOTENCY_KEY.test(key))) return key;
  throw new ApiError('idempotency_key_invalid');
}
