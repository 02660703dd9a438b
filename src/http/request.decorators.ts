import { BatchNotFoundError, MessageNotFoundError } from '@dundun/messaging';
import { messagePlaceOf } from '@dundun/messaging/values';
import {
  createParamDecorator,
  type ExecutionContext,
  Param,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiQuery } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { isUUID } from 'class-validator';
import { ApiError } from './api-error.js';
import { type HttpRequest, requestOf } from './http-message.js';
import { isObject, schemasOf, validated } from './validation.js';

const EXAMPLES = Symbol('examples');

/** Examples of a request, by their names in the document. */
export function BodyExamples(values: Readonly<Record<string, unknown>>): ClassDecorator {
  const examples = Object.entries(values).map(([name, value]) => [
    name.replaceAll(/[ ,]+/g, '-'),
    { value },
  ]);
  return SetMetadata(EXAMPLES, Object.fromEntries(examples));
}

interface BodyOptions {
  /** A missing or `null` body counts as an empty object. @default false */
  readonly optional?: boolean;
}

export function JsonBody(
  dto: Type<object>,
  { optional = false }: BodyOptions = {},
): ParameterDecorator {
  return FromRequest(
    (request) => validated(dto, optional && request.body == null ? {} : readJsonBody(request)),
    DocumentedBody(dto, { optional }),
  );
}

/** Documents a JSON body of a route that reads its request itself. */
export function DocumentedBody(
  dto: Type<object>,
  { optional = false }: BodyOptions = {},
): MethodDecorator {
  const examples = Reflect.getMetadata(EXAMPLES, dto) as never;
  return ApiBody({ type: dto, required: !optional, examples });
}

/** A file as the body of a request. */
export interface FileBody {
  readonly content: Buffer;
  /** As the request says. */
  readonly contentType: string;
}

/** A body of bytes, of a route that keeps them raw. */
export function BytesBody(...types: readonly string[]): ParameterDecorator {
  return FromRequest(
    (request): FileBody => {
      const { rawBody, headers } = request as HttpRequest & { readonly rawBody?: Buffer };
      if (rawBody === undefined || rawBody.length === 0)
        throw new ApiError(
          'unsupported_media_type',
          'Send the bytes of a file with its Content-Type',
        );
      return { content: rawBody, contentType: String(headers['content-type']) };
    },
    ApiConsumes(...types),
    ApiBody({ required: true, schema: { type: 'string', format: 'binary' } }),
  );
}

export function ValidQuery(dto: Type<object>): ParameterDecorator {
  const documents = [...schemasOf(dto.prototype as object)].map(([name, schema]) =>
    ApiQuery({ name, required: false, schema }),
  );
  return FromRequest(({ query }) => validated(dto, query as object, plainToInstance), ...documents);
}

/** A parameter of the path that is the id of a batch; another text gets 404. */
export function BatchId(name: string): ParameterDecorator {
  return Param(name, {
    transform: (value: string): string => {
      if (!isUUID(value)) throw new BatchNotFoundError(value.slice(0, 36));
      return value.toLowerCase();
    },
  });
}

/** A parameter of the path that is the id of a message or of a batch; another text gets 404. */
export function MessageOrBatchId(name: string): ParameterDecorator {
  return Param(name, {
    transform: (value: string): string => {
      const id = value.toLowerCase();
      if (!isUUID(id) && !messagePlaceOf(id)) throw new MessageNotFoundError(value);
      return id;
    },
  });
}

export function IdempotencyKey(): ParameterDecorator {
  return FromRequest(idempotencyKeyOf);
}

/**
 * A parameter that `read` takes from the request; `documents` decorate its method. Synchronous: a
 * pipe costs more than the validation.
 */
function FromRequest(
  read: (request: HttpRequest) => unknown,
  ...documents: readonly MethodDecorator[]
): ParameterDecorator {
  const parameter = createParamDecorator((_data: unknown, context: ExecutionContext) =>
    read(requestOf(context)),
  );
  return (target, key, index) => {
    parameter()(target, key, index);
    const method = Object.getOwnPropertyDescriptor(target, key as string) as PropertyDescriptor;
    for (const document of documents) document(target, key as string, method);
  };
}

/** @throws ApiError 422 where the body is missing, or not an object */
export function readJsonBody({ body, headers }: HttpRequest): Readonly<Record<string, unknown>> {
  if (body === undefined && headers['content-type'] !== undefined)
    throw new ApiError('malformed_json', 'The body is empty; send a JSON object');
  if (!isObject(body))
    throw new ApiError('invalid_field', 'The body must be a JSON object', {
      details: [{ path: '', message: 'must be a JSON object' }],
    });
  return body;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** @throws ApiError 400 where the header is not a valid key */
export function idempotencyKeyOf({ headers }: HttpRequest): string | undefined {
  return checkedIdempotencyKey(headers['idempotency-key']);
}

/** @throws ApiError 400 where it is not a valid key */
export function checkedIdempotencyKey(key: unknown): string | undefined {
  if (key === undefined || (typeof key === 'string' && IDEMPOTENCY_KEY.test(key))) return key;
  throw new ApiError('idempotency_key_invalid');
}
