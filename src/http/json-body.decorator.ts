import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiError } from './api-error.js';
import { type HttpRequest, requestOf } from './http-message.js';

/** Reads a JSON body, or throws a 422 that names the wrong fields. */
export type BodyReader<T> = (body: Readonly<Record<string, unknown>>) => T;

/**
 * The JSON object in the body, read by `reader`. It runs outside Nest's pipes, synchronously: on the
 * send path a pipe would cost more than the check.
 */
export const JsonBody = createParamDecorator(
  (reader: BodyReader<unknown>, context: ExecutionContext): unknown =>
    readJsonBody(requestOf(context), reader),
);

/** As {@link JsonBody}; a body that is left out, or `null`, is an empty object. */
export const OptionalJsonBody = createParamDecorator(
  (reader: BodyReader<unknown>, context: ExecutionContext): unknown => {
    const request = requestOf(context);
    return request.body == null ? reader({}) : readJsonBody(request, reader);
  },
);

const JSON_TYPE = /^application\/json/i;

/**
 * See {@link JsonBody}, for a route that takes its request as it is.
 * @throws ApiError 415 where it is no JSON, 422 where it is no object
 */
export function readJsonBody<T>({ body, headers }: HttpRequest, reader: BodyReader<T>): T {
  const type = headers['content-type'];
  if (body !== undefined && !(typeof type === 'string' && JSON_TYPE.test(type)))
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as JSON with Content-Type: application/json',
    );
  if (!isObject(body))
    throw new ApiError('invalid_field', 'The body must be a JSON object', {
      details: [{ path: '', message: 'must be a JSON object' }],
    });
  return reader(body);
}

function isObject(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}
