import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { ApiExtension, ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { ErrorResponseName } from './api-error.js';

interface OperationOptions {
  /** @default the method's name */
  readonly id?: string;
  readonly description?: string;
  /** Status of a successful response. @default 200 */
  readonly status?: number;
  /** Body of a successful response. @default none */
  readonly answer?: Type;
  readonly success: string;
  /** The successful response is a file. @default false */
  readonly bytes?: boolean;
  /** The route sends: it takes an `Idempotency-Key` and may cost money. @default false */
  readonly idempotent?: boolean;
  /** Errors in addition to those of all operations of this kind. */
  readonly errors?: readonly ErrorResponseName[];
}

/** Extension with the errors of a route during Nest's scan; removed from the document. */
export const ERRORS_KEY = 'x-errors';

/** Routes without it are not documented. */
export function Operation(summary: string, options: OperationOptions): MethodDecorator {
  const { id, description, status = 200, answer, success, idempotent = false } = options;
  const errors = [...(options.errors ?? []), ...(idempotent ? SEND_ERRORS : [])];
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ operationId: id, summary, description }),
    ApiResponse({
      status,
      description: success,
      type: answer,
      ...(options.bytes && { content: { '*/*': { schema: BYTES } } }),
      headers: idempotent ? IDEMPOTENT_REPLAYED : undefined,
    }),
    ApiExtension(ERRORS_KEY, errors),
    ...(idempotent ? [ApiHeader(IDEMPOTENCY_KEY)] : []),
  );
}

const SEND_ERRORS = ['IdempotencyConflict', 'PaymentRequired'] as const;

const BYTES = { type: 'string', format: 'binary' };

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  required: false,
  schema: {
    type: 'string',
    pattern: '^[\\x21-\\x7e]{1,255}$',
    description: 'A repeat within 24 hours gets the first answer, and the message is sent once.',
  },
};

const IDEMPOTENT_REPLAYED = {
  'idempotent-replayed': {
    schema: {
      type: 'string',
      const: 'true',
      description: 'This is the first answer again; the repeat sent nothing.',
    } as object,
  },
};
