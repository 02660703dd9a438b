import type { FieldError } from '@dundun/messaging';

export type ErrorResponse = readonly [
  status: number,
  type: string,
  description: string,
  /** Seconds of the `Retry-After` header, where the error itself has none. */
  retryAfter?: number,
];

const INVALID = 'invalid_request_error';

/** Every error response, by the name of its component in the OpenAPI document. */
export const ERROR_RESPONSES = {
  BadRequest: [400, INVALID, 'The request cannot be read.'],
  Unauthorized: [
    401,
    'authentication_error',
    'No valid credential: missing, mistyped, rotated, revoked or of the wrong kind.',
  ],
  PaymentRequired: [
    402,
    'billing_error',
    'The account has too little money, or too little left of a budget, for the request; nothing was stored.',
  ],
  Forbidden: [403, 'permission_error', 'The credential is valid and does not allow this.'],
  NotFound: [404, INVALID, 'It does not exist, or belongs to another account.'],
  MethodNotAllowed: [405, INVALID, 'The path does not take the method.'],
  RequestTimeout: [408, INVALID, 'The request did not arrive in time.'],
  Gone: [410, INVALID, 'The platform has the file no longer.'],
  IdempotencyConflict: [
    409,
    'conflict_error',
    'A request with this Idempotency-Key is still running.',
    1,
  ],
  AlreadySent: [409, 'conflict_error', 'Nothing of the batch is left to change.'],
  DuplicateOrder: [
    409,
    'conflict_error',
    'The same number, product and amount were ordered within 60 seconds.',
  ],
  PayloadTooLarge: [413, INVALID, 'The body, or the file, is too large.'],
  UnsupportedMediaType: [415, INVALID, 'The body is not sent as JSON.'],
  Unprocessable: [
    422,
    'validation_error',
    'A field is wrong, or policy forbids every recipient; nothing was changed.',
  ],
  TooManyRequests: [
    429,
    'rate_limit_error',
    'Too many requests or bytes at once with this credential, too many reads of its account at once, or too many requests without a valid credential.',
    1,
  ],
  InternalError: [500, 'api_error', 'The service failed.'],
  Unavailable: [
    503,
    'api_error',
    'The service is overloaded or stopping, or its database is away or takes no writes. It accepted nothing.',
    1,
  ],
} as const satisfies Readonly<Record<string, ErrorResponse>>;

export type ErrorResponseName = keyof typeof ERROR_RESPONSES;

/** By code: the response, the default message, and the type where it differs. */
export const API_ERRORS = {
  malformed_json: ['BadRequest', 'The body is not JSON; check quotes, commas and braces'],
  malformed_request: ['BadRequest', 'The request cannot be read'],
  invalid_host: [
    'BadRequest',
    'The request names two hosts; send one Host header, and the path alone or the address of that host',
  ],
  idempotency_key_invalid: [
    'BadRequest',
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces, sent once',
  ],
  unauthorized: ['Unauthorized', 'The credential or signature is missing or wrong'],
  insufficient_balance: [
    'PaymentRequired',
    'The message costs 9.00 NGN, and 4.50 NGN are available; top up the balance',
  ],
  budget_exceeded: [
    'PaymentRequired',
    'The message costs 9.00 NGN, and 4.50 NGN are left of the budget of the key for the month; send after 2026-12-01T00:00:00.000Z, or ask for a higher budget',
  ],
  account_disabled: ['Forbidden', 'This account is suspended; contact your provider'],
  insufficient_scope: ['Forbidden', 'This credential does not allow that'],
  vas_not_allowed: ['Forbidden', 'Orders are off for this account; contact your provider'],
  not_found: ['NotFound', 'No such route'],
  method_not_allowed: ['MethodNotAllowed', 'This path does not take this method'],
  request_timeout: ['RequestTimeout', 'The request did not arrive in time; send it again'],
  idempotency_key_in_use: [
    'IdempotencyConflict',
    'A request with this key is under way; try again',
  ],
  already_sent: ['AlreadySent', 'Nothing of this batch is left to change'],
  duplicate_order: [
    'DuplicateOrder',
    'The same number, product and amount were ordered within 60 seconds',
  ],
  payload_too_large: ['PayloadTooLarge', 'The body is too large; split the request'],
  media_expired: ['Gone', 'The platform has the file no longer'],
  media_too_large: ['PayloadTooLarge', 'The file is larger than this service passes on'],
  unsupported_media_type: [
    'UnsupportedMediaType',
    'Send the body as JSON with Content-Type: application/json',
  ],
  invalid_field: ['Unprocessable', 'to[3]: must be 7 to 15 digits with country code'],
  conflicting_fields: ['Unprocessable', 'body and content differ; send one of them'],
  no_price: [
    'Unprocessable',
    'The rate card of the account has no price for recipient 1 on sms; ask your provider for one',
  ],
  currency_mismatch: [
    'Unprocessable',
    'The order is in USD, and the account pays in NGN; ask for it in NGN',
  ],
  no_route: ['Unprocessable', 'to[3]: has no route for sms'],
  sender_not_registered: ['Unprocessable', 'The sender ID OTHER is not registered'],
  caller_not_registered: ['Unprocessable', 'The caller id 2348000000009 is not registered'],
  domain_not_verified: [
    'Unprocessable',
    'The domain shop.example is not verified for this account',
  ],
  template_not_approved: ['Unprocessable', 'There is no approved template order_update in en'],
  template_params_mismatch: [
    'Unprocessable',
    'params: must have 2 entries, not 1, for the template order_update',
  ],
  idempotency_key_reused: [
    'Unprocessable',
    'This idempotency key was used for a different message',
  ],
  opt_in_required: ['Unprocessable', 'The recipient has not opted in', 'policy_error'],
  window_closed: [
    'Unprocessable',
    'The recipient has not written within 24 hours; send a template',
    'policy_error',
  ],
  opted_out: ['Unprocessable', 'The recipient has opted out', 'policy_error'],
  suppressed: ['Unprocessable', 'The recipient is suppressed', 'policy_error'],
  do_not_call: ['Unprocessable', 'The number is on the do-not-call list', 'policy_error'],
  quiet_hours: ['Unprocessable', 'The recipient is in quiet hours', 'policy_error'],
  frequency_capped: [
    'Unprocessable',
    'The recipient got as many messages as it may',
    'policy_error',
  ],
  country_not_allowed: [
    'Unprocessable',
    'The account may not send to this country',
    'policy_error',
  ],
  recipient_limited: [
    'Unprocessable',
    'The account has sent too much to this recipient',
    'policy_error',
  ],
  prefix_limited: [
    'Unprocessable',
    'The account has sent too much to numbers that begin alike',
    'policy_error',
  ],
  range_limited: [
    'Unprocessable',
    'The account has sent to too many consecutive numbers',
    'policy_error',
  ],
  growth_limited: ['Unprocessable', 'The account sends far more than before', 'policy_error'],
  cap_exceeded: ['Unprocessable', 'The order exceeds a daily cap', 'policy_error'],
  verification_stopped: [
    'Unprocessable',
    'Codes to this country are stopped: few of the last ones were ever checked',
    'policy_error',
  ],
  rate_limited: ['TooManyRequests', 'Too many requests; try again later'],
  internal_error: [
    'InternalError',
    'The service failed; repeat the request with the same Idempotency-Key',
  ],
  unavailable: ['Unavailable', 'The service is not available now; try again'],
} as const satisfies Readonly<
  Record<string, readonly [ErrorResponseName, message: string, type?: string]>
>;

export type ApiErrorCode = keyof typeof API_ERRORS;

export interface ApiErrorOptions extends ErrorOptions {
  /** The wrong fields, for a `validation_error`. */
  readonly details?: readonly FieldError[] | undefined;
  /** Response headers, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface ErrorBody {
  readonly type: string;
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly details: readonly FieldError[] | undefined;
}

export class ApiError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: readonly FieldError[] | undefined;
  readonly body: { readonly error: ErrorBody };

  constructor(
    readonly code: ApiErrorCode,
    message: string = API_ERRORS[code][1],
    { details, headers, ...options }: ApiErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'ApiError';
    const [name, , ownType] = API_ERRORS[code] as readonly [ErrorResponseName, string, string?];
    const [status, type, , retryAfter]: ErrorResponse = ERROR_RESPONSES[name];
    this.status = status;
    this.details = details;
    this.headers = {
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...headers,
    };
    this.body = { error: { type: ownType ?? type, code, message, details } };
  }

  /** The error of an object that is the value of a field. */
  within(field: string): ApiError {
    const details = this.details?.map((one) => ({ ...one, path: `${field}.${one.path}` }));
    return new ApiError(this.code, `${field}: ${this.message}`, {
      details,
      headers: this.headers,
      cause: this,
    });
  }
}

export function isApiErrorCode(code: string): code is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, code);
}

export function invalidField(path: string, message: string): ApiError {
  return invalidFields([{ path, message }]);
}

export function invalidFields(details: readonly FieldError[]): ApiError {
  const message = details.map((error) => `${error.path}: ${error.message}`).join('; ');
  return new ApiError('invalid_field', message, { details });
}
