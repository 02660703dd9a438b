import type { FieldError } from '@dundun/messaging';

/** Every error of the interface, with its code, status and type. */
export const API_ERRORS = {
  malformed_json: { status: 400, type: 'invalid_request_error' },
  malformed_request: { status: 400, type: 'invalid_request_error' },
  idempotency_key_invalid: { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  account_disabled: { status: 403, type: 'permission_error' },
  insufficient_scope: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  idempotency_key_in_use: { status: 409, type: 'conflict_error' },
  already_sent: { status: 409, type: 'conflict_error' },
  payload_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  invalid_field: { status: 422, type: 'validation_error' },
  conflicting_fields: { status: 422, type: 'validation_error' },
  sender_not_registered: { status: 422, type: 'validation_error' },
  template_not_approved: { status: 422, type: 'validation_error' },
  template_params_mismatch: { status: 422, type: 'validation_error' },
  idempotency_key_reused: { status: 422, type: 'validation_error' },
  opt_in_required: { status: 422, type: 'policy_error' },
  window_closed: { status: 422, type: 'policy_error' },
  opted_out: { status: 422, type: 'policy_error' },
  quiet_hours: { status: 422, type: 'policy_error' },
  frequency_capped: { status: 422, type: 'policy_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  internal_error: { status: 500, type: 'api_error' },
  unavailable: { status: 503, type: 'api_error' },
} as const;

export type ApiErrorCode = keyof typeof API_ERRORS;

export interface ApiErrorOptions extends ErrorOptions {
  /** The wrong fields, for a `validation_error`. */
  readonly details?: readonly FieldError[];
  /** Response headers, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error of the interface; the exception filter sends it. */
export class ApiError extends Error {
  readonly status: number;
  readonly details: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: ApiErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'ApiError';
    this.status = API_ERRORS[code].status;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  /** The body of the response. */
  get body(): ErrorBody {
    const { type } = API_ERRORS[this.code];
    const error = { type, code: this.code, message: this.message };
    return { error: this.details ? { ...error, details: this.details } : error };
  }
}

/** Body of every error; `ErrorAnswer` documents it. */
export interface ErrorBody {
  readonly error: {
    readonly type: string;
    readonly code: ApiErrorCode;
    readonly message: string;
    readonly details?: readonly FieldError[];
  };
}

export function isApiErrorCode(code: string): code is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, code);
}

/** An error for one or more wrong fields. */
export function invalidFields(details: readonly FieldError[]): ApiError {
  const message = details.map((error) => `${error.path}: ${error.message}`).join('; ');
  return new ApiError('invalid_field', message, { details });
}
