import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiError } from './api-error.js';
import { type HttpRequest, requestOf } from './http-message.js';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The `Idempotency-Key` header, or `undefined`. */
export const IdempotencyKey = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string | undefined =>
    idempotencyKeyOf(requestOf(context)),
);

/**
 * See {@link IdempotencyKey}, for a route that takes its request as it is.
 * @throws ApiError 400 where it is none
 */
export function idempotencyKeyOf({ headers }: HttpRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && KEY.test(key))) return key;
  throw new ApiError(
    'idempotency_key_invalid',
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces, sent once',
  );
}
