import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { ApiExtension, ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { ErrorResponseName } from './error-responses.js';

/** What a route does and answers. The rest of its document comes from its other decorators. */
export interface OperationOptions {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Status of a success. @default 200 */
  readonly status?: number;
  /** Body of a success; without one there is no body. */
  readonly answer?: Type;
  /** Describes the success. */
  readonly success: string;
  /** The route takes an `Idempotency-Key`. @default false */
  readonly idempotent?: boolean;
  /** Errors beyond those that all such operations have. */
  readonly errors?: readonly ErrorResponseName[];
}

/** Extension under which Nest's scan carries the errors of a customer's route; not in the document. */
export const ERRORS_KEY = 'x-errors';

/**
 * Documents a customer's route and sets its status of success. Routes without it are not documented.
 *
 * @example
 * @Operation({ id: 'readSms', summary: 'Read a batch', answer: SmsBatch, success: 'The batch.' })
 */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, summary, description, status = 200, answer, success, idempotent = false } = options;
  const errors = [...(options.errors ?? []), ...(idempotent ? ['IdempotencyConflict'] : [])];
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ operationId: id, summary, ...(description !== undefined && { description }) }),
    ApiResponse({
      status,
      description: success,
      ...(answer && { type: answer }),
      ...(idempotent && { headers: IDEMPOTENT_REPLAYED }),
    }),
    ApiExtension(ERRORS_KEY, errors),
    ...(idempotent ? [ApiHeader(IDEMPOTENCY_KEY)] : []),
  );
}

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
