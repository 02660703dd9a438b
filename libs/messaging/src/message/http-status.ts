import {
  type MessagingError,
  MessageValidationError,
  NoRouteError,
  PermanentFailure,
  SpendRefusedError,
  SubmitFailure,
} from './errors.js';

/** What a request cannot mend has 500, and what may pass by itself 503; each other code is 422. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_field: 400,
  budget_exceeded: 402,
  insufficient_balance: 402,
  vas_not_allowed: 403,
  not_found: 404,
  already_sent: 409,
  already_settled: 409,
  content_erased: 409,
  duplicate_order: 409,
  idempotency_key_in_use: 409,
  not_restored: 409,
  wrong_status: 409,
  media_expired: 410,
  media_too_large: 413,
  payload_too_large: 413,
  rate_limited: 429,
  dkim_key: 500,
  early_database: 500,
  invalid_config: 500,
  never_idle: 500,
  newer_database: 500,
  not_faked: 500,
  not_sent_yet: 500,
  render_failed: 500,
  transaction_required: 500,
  database_given_up: 503,
  drain_timeout: 503,
  migration_locked: 503,
  unavailable: 503,
};

/**
 * The HTTP status for an error that a request of an app's own API ran into: 400 for wrong fields, 402
 * where the spend guard finds too little money, 404,
 * 409 for what the state does not allow, 422 for a refusal by a policy, a route or a template, 429, 500
 * for a fault of the app, 503 for what may work later.
 */
export function httpStatusOf(error: MessagingError): number {
  if (error instanceof SubmitFailure) return error instanceof PermanentFailure ? 422 : 503;
  if (error instanceof NoRouteError && error.fields.length === 0) return 503;
  return STATUSES[error.code] ?? 422;
}

/** The body of the response to an error. */
export interface HttpErrorBody {
  readonly statusCode: number;
  readonly code: string;
  /** Of an error with the status 500 without its details. */
  readonly message: string;
  /** The wrong fields. */
  readonly fields?: readonly { readonly path: string; readonly message: string }[];
  /** What the spend guard needs and has. */
  readonly details?: Readonly<Record<string, string>>;
}

export function httpErrorBodyOf(error: MessagingError): HttpErrorBody {
  const statusCode = httpStatusOf(error);
  const { code } = error;
  if (statusCode === 500) return { statusCode, code, message: 'Internal server error' };
  return {
    statusCode,
    code,
    message: error.message,
    ...(error instanceof MessageValidationError && { fields: error.fields }),
    ...(error instanceof SpendRefusedError && { details: error.details }),
  };
}
