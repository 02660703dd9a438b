import { ApiSchema } from '@nestjs/swagger';
import { API_ERRORS, ApiError, type ApiErrorCode, type ErrorBody } from './api-error.js';
import { Field, type JsonSchema } from './fields.js';

/** One wrong field of a request. */
@ApiSchema({ name: 'FieldError' })
export class FieldErrorDetail {
  @Field({ type: 'string', description: 'The field, such as `to[3]`.', examples: ['to[3]'] })
  readonly path!: string;

  @Field({ type: 'string', minLength: 1, examples: ['must be 7 to 15 digits'] })
  readonly message!: string;
}

/** The error of a response. */
export class ErrorDetail {
  @Field({
    type: 'string',
    enum: [...new Set(Object.values(API_ERRORS).map(({ type }) => type))],
    description: 'Class of the error, one per status.',
  })
  readonly type!: string;

  @Field({
    type: 'string',
    enum: Object.keys(API_ERRORS),
    description: 'The code that programs act on.',
  })
  readonly code!: ApiErrorCode;

  @Field({ type: 'string', minLength: 1, description: 'A text for people, with the remedy.' })
  readonly message!: string;

  @Field({
    type: [FieldErrorDetail],
    optional: true,
    description: 'The wrong fields, where there are any.',
  })
  readonly details?: readonly FieldErrorDetail[];
}

/** Body of every error. */
@ApiSchema({ name: 'Error' })
export class ErrorAnswer implements ErrorBody {
  @Field({ type: ErrorDetail })
  readonly error!: ErrorDetail;
}

interface ErrorResponse {
  readonly status: number;
  readonly description: string;
  readonly codes: readonly (readonly [ApiErrorCode, string])[];
  readonly retryAfter?: true;
}

/** Every error response by the name of its component. */
export const ERROR_RESPONSES = {
  BadRequest: {
    status: 400,
    description: 'The request cannot be read.',
    codes: [
      ['malformed_json', 'The body is not JSON; check quotes, commas and braces'],
      ['malformed_request', 'The request cannot be read'],
      ['idempotency_key_invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters'],
    ],
  },
  Unauthorized: {
    status: 401,
    description: 'No valid credential: missing, mistyped, rotated, revoked or of the wrong kind.',
    codes: [['unauthorized', 'No valid credential; send the header "Authorization: Bearer "']],
  },
  Forbidden: {
    status: 403,
    description: 'The credential is valid and does not allow this.',
    codes: [
      ['account_disabled', 'This account is suspended; contact your provider'],
      ['insufficient_scope', 'This key lacks the scope whatsapp:send; use one that has it'],
    ],
  },
  NotFound: {
    status: 404,
    description: 'It does not exist, or belongs to another account.',
    codes: [['not_found', 'No batch 01993021-0000-7000-8000-000000000000']],
  },
  RequestTimeout: {
    status: 408,
    description: 'The request did not arrive in time.',
    codes: [['request_timeout', 'The request did not arrive in time; send it again']],
  },
  IdempotencyConflict: {
    status: 409,
    description: 'A request with this Idempotency-Key is still running.',
    codes: [['idempotency_key_in_use', 'A request with this key is under way; try again']],
    retryAfter: true,
  },
  AlreadySent: {
    status: 409,
    description: 'Nothing of the batch is left to change.',
    codes: [['already_sent', 'Nothing of this batch is left to change']],
  },
  PayloadTooLarge: {
    status: 413,
    description: 'The body is too large.',
    codes: [['payload_too_large', 'The body is too large; split the request']],
  },
  UnsupportedMediaType: {
    status: 415,
    description: 'The body is not sent as JSON.',
    codes: [['unsupported_media_type', 'Send the body as JSON']],
  },
  Unprocessable: {
    status: 422,
    description: 'A field is wrong, or policy forbids every recipient; nothing was changed.',
    codes: [
      ['invalid_field', 'to[3]: must be 7 to 15 digits with country code'],
      ['conflicting_fields', 'body and content differ; send one of them'],
      ['sender_not_registered', 'The sender OTHER is not registered'],
      ['template_not_approved', 'There is no approved template order_update in en'],
      ['template_params_mismatch', 'The template order_update takes 2 params, not 1'],
      ['idempotency_key_reused', 'This idempotency key was used for a different message'],
      ['opt_in_required', 'The recipient has not opted in'],
      ['window_closed', 'The recipient has not written within 24 hours; send a template'],
      ['opted_out', 'The recipient has opted out'],
      ['quiet_hours', 'The recipient is in quiet hours'],
      ['frequency_capped', 'The recipient got as many messages as it may'],
    ],
  },
  TooManyRequests: {
    status: 429,
    description: 'Too many requests with this credential, or too many without a valid one.',
    codes: [['rate_limited', 'Too many requests with this credential; wait a moment']],
    retryAfter: true,
  },
  InternalError: {
    status: 500,
    description: 'The service failed.',
    codes: [['internal_error', 'The service failed']],
  },
  Unavailable: {
    status: 503,
    description: 'The service is overloaded, is stopping, or has no database. It accepted nothing.',
    codes: [['unavailable', 'The service is not available now; try again']],
    retryAfter: true,
  },
} as const satisfies Readonly<Record<string, ErrorResponse>>;

export type ErrorResponseName = keyof typeof ERROR_RESPONSES;

/** The `responses` components of the document. */
export function errorResponseComponents(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries<ErrorResponse>(ERROR_RESPONSES).map(([name, response]) => [
      name,
      responseOf(response),
    ]),
  );
}

function responseOf({ description, codes, retryAfter }: ErrorResponse): JsonSchema {
  const examples = codes.map(([code, message]) => [
    code,
    { value: new ApiError(code, message).body },
  ]);
  return {
    description,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(retryAfter && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples) as Record<string, unknown>,
      },
    },
  };
}
