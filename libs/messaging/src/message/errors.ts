/** One wrong field. `path` is as `to[3]`; `message` contains the remedy. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Codes of the built-in policies; an app's own policies have codes of their own. */
export type PolicyCode =
  | 'country_not_allowed'
  | 'do_not_call'
  | 'frequency_capped'
  | 'growth_limited'
  | 'opt_in_required'
  | 'opted_out'
  | 'prefix_limited'
  | 'range_limited'
  | 'recipient_limited'
  | 'suppressed'
  | 'window_closed';

/** Codes of the library's errors. Those of a {@link SubmitFailure} are the provider's. */
export type MessagingErrorCode =
  | PolicyCode
  | 'already_sent'
  | 'already_settled'
  | 'budget_exceeded'
  | 'cap_exceeded'
  | 'content_erased'
  | 'currency_mismatch'
  | 'database_given_up'
  | 'dkim_key'
  | 'drain_timeout'
  | 'duplicate_order'
  | 'idempotency_key_in_use'
  | 'idempotency_key_reused'
  | 'insufficient_balance'
  | 'invalid_config'
  | 'invalid_field'
  | 'media_expired'
  | 'media_too_large'
  | 'migration_locked'
  | 'never_idle'
  | 'newer_database'
  | 'early_database'
  | 'no_delivery_status'
  | 'no_price'
  | 'no_route'
  | 'not_faked'
  | 'not_found'
  | 'not_restored'
  | 'not_sent_yet'
  | 'payload_too_large'
  | 'rate_limited'
  | 'render_failed'
  | 'template_not_approved'
  | 'transaction_required'
  | 'unavailable'
  | 'unsupported'
  | 'vas_not_allowed'
  | 'verification_stopped'
  | 'wrong_status';

/** Base of the library's errors: `code` is stable, the message is for people. */
export class MessagingError extends Error {
  constructor(
    readonly code: MessagingErrorCode | (string & {}),
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The options or credentials are wrong. Thrown at boot; names the option and the remedy. */
export class MessagingConfigError extends MessagingError {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid_config', message, options);
  }
}

/**
 * Puts the provider's name before the message of what `work` throws.
 * @param provider its option, or `provider` and its name
 */
export async function namingProvider<T>(provider: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Error)) throw new Error(`${provider}: ${String(cause)}`);
    const message = `${provider}: ${cause.message}`;
    if (cause instanceof MessagingError) throw new MessagingConfigError(message, { cause });
    // The same error, with its class, its code and its stack.
    cause.message = message;
    throw cause;
  }
}

/** The message has wrong fields; nothing was stored. */
export class MessageValidationError extends MessagingError {
  constructor(
    readonly fields: readonly FieldError[],
    code: 'invalid_field' | 'payload_too_large' | (string & {}) = 'invalid_field',
  ) {
    super(code, fields.map((field) => `${field.path}: ${field.message}`).join('; '));
  }
}

/** @throws MessageValidationError with the errors that `check` adds */
export function validated<T>(check: (errors: FieldError[]) => T): T {
  const errors: FieldError[] = [];
  const result = check(errors);
  if (errors.length > 0) throw new MessageValidationError(errors);
  return result;
}

/** Why a spend guard refuses a message. */
export type SpendRefusal =
  | 'budget_exceeded'
  | 'currency_mismatch'
  | 'insufficient_balance'
  | 'no_price';

/** A guard refused the message in the transaction that would have accepted it; nothing was stored. */
export class AcceptRefusedError extends MessagingError {}

/** The app's spend guard refused the message; nothing was stored. */
export class SpendRefusedError extends AcceptRefusedError {
  /**
   * @param message with the remedy
   * @param details facts for programs, such as the amounts that are needed and available
   */
  constructor(
    code: SpendRefusal,
    message: string,
    readonly details: Readonly<Record<string, string>> = {},
  ) {
    super(code, message);
  }
}

const GUARD_CODES = {
  countries: 'country_not_allowed',
  recipient: 'recipient_limited',
  prefix: 'prefix_limited',
  range: 'range_limited',
  growth: 'growth_limited',
} as const;

/** The message is over a limit of its tenant (`policy.guard`); nothing was stored. */
export class GuardRefusedError extends AcceptRefusedError {
  constructor(
    readonly rule: keyof typeof GUARD_CODES,
    reason: string,
  ) {
    super(GUARD_CODES[rule], reason);
  }
}

export class IdempotencyKeyReusedError extends MessagingError {
  constructor() {
    super(
      'idempotency_key_reused',
      'This idempotency key was used for a different message; use a new key for new content',
    );
  }
}

/** Another open transaction sends under this idempotency key; nothing was stored. */
export class IdempotencyKeyInUseError extends MessagingError {
  constructor(options?: ErrorOptions) {
    super(
      'idempotency_key_in_use',
      'A send with this idempotency key is under way in another transaction; try again once that has ended',
      options,
    );
  }
}

/** Other sends of the tenant keep the rows of its guards; nothing was stored. Try again. */
export class SpendBusyError extends MessagingError {
  constructor() {
    super('unavailable', 'Too many sends of the account are under way; try again');
  }
}

/** `manager` is not in a suitable transaction; the message contains the remedy. */
export class TransactionRequiredError extends MessagingError {
  constructor(message: string) {
    super('transaction_required', message);
  }
}

/**
 * No rule of `routes` fits the message, or its providers do not carry the channel; nothing was stored.
 * `fields` names the first ten recipients without a route; it is empty where no message of the channel
 * has one.
 */
export class NoRouteError extends MessageValidationError {
  constructor(
    readonly channel: string,
    readonly provider?: string,
    paths: readonly string[] = [],
  ) {
    super(
      paths.map((path) => ({ path, message: `has no route for ${channel}` })),
      'no_route',
    );
    if (paths.length > 0) return;
    this.message =
      provider === undefined
        ? `No route carries the channel ${channel}; add one to \`routes\`, such as { channel: '${channel}', use: 'main' }`
        : `Provider ${provider} does not carry the channel ${channel}; set it up for the channel (http needs the apiKey for WhatsApp), or route the channel to another provider`;
  }
}

export class BatchNotFoundError extends MessagingError {
  constructor(readonly batchId: string) {
    super('not_found', `No batch ${batchId}`);
  }
}

export class MessageNotFoundError extends MessagingError {
  constructor(readonly messageId: string) {
    super('not_found', `No message ${String(messageId).slice(0, 64)}`);
  }
}

/**
 * A file of an inbound message cannot be had. `not_found`: there is no such message or file, or its text
 * is no longer kept. `media_expired`: the provider has it no longer. `media_too_large`: it exceeds
 * `inbound.media.maxBytes`. `unsupported`: the provider cannot be asked for files, or the address of the
 * file is none of its own. `unavailable`: the provider did not answer, or not in time; try again.
 */
export class InboundMediaError extends MessagingError {
  constructor(
    override readonly code:
      | 'not_found'
      | 'media_expired'
      | 'media_too_large'
      | 'unsupported'
      | 'unavailable',
    message: string,
  ) {
    super(code, message);
  }
}

/** All messages of the batch have started, or the batch has ended: it can no longer be changed. */
export class AlreadySentError extends MessagingError {
  constructor(readonly batchId: string) {
    super('already_sent', `Nothing of batch ${batchId} is left to change`);
  }
}

/** The operation does not suit the status of the message; nothing was changed. */
export class MessageStatusError extends MessagingError {
  constructor(
    readonly messageId: string,
    /** Status of the message. */
    readonly status: string,
    remedy: string,
  ) {
    super('wrong_status', `Message ${messageId} is ${status}; ${remedy}`);
  }
}

/** Retention or an erasure removed the content or the recipient of the message. */
export class ContentErasedError extends MessagingError {
  constructor(readonly messageId: string) {
    super(
      'content_erased',
      `The content or the recipient of message ${messageId} was erased; send a new message`,
    );
  }
}

/** Requests are still in flight after the time given to a drain; the lanes stay paused. */
export class DrainTimeoutError extends MessagingError {
  constructor(
    readonly lanes: string,
    /** Requests without an outcome. */
    readonly inFlight: number,
    /** Milliseconds. */
    readonly timeout: number,
  ) {
    super(
      'drain_timeout',
      `The lanes ${lanes} still have ${inFlight} requests in flight after ${timeout} ms; they stay paused: drain again, or resume them`,
    );
  }
}

/** The database did not answer in time at shutdown; the statement may have taken effect. */
export class DatabaseShutdownTimeoutError extends MessagingError {
  constructor() {
    super(
      'database_given_up',
      'The database did not answer before the shutdown deadline and was given up; statements under way may or may not have taken effect',
    );
  }
}

/**
 * An error of `submit()`. The drain decides by its class alone:
 *
 * | class | meaning | the drain |
 * |---|---|---|
 * | {@link PermanentFailure} | the provider refused this request, and a retry cannot succeed | `rejected` |
 * | {@link UnroutableFailure} | refused for good by this provider alone: the number is not routable here, the sender is not known here | the next provider of the route; `rejected` where none is left |
 * | {@link BouncedFailure} | the recipient's server refused the message for good | the status that it names, such as `bounced` |
 * | {@link DeferredFailure} | not accepted for this recipient now; others go on | back to `queued` until `retryAfter` is over, and `expired` after `giveUpAfter`; the lane goes on |
 * | {@link RetryableFailure} | not accepted, a retry may succeed | back to `queued`, backoff; `failed` after `maxAttempts` tries |
 * | {@link PausedFailure} | not accepted, and the provider accepts nothing now | back to `queued`, the lane pauses; the try does not count |
 * | {@link UncertainFailure} | may have been accepted | backoff; the provider is asked after it (`reportsByKey`), then the same submission again under its key; `unknown` after `maxAttempts` tries, and at once without keys |
 * | {@link LostAnswerFailure} | may have been accepted, and a repeat could be delivered twice | `unknown` |
 * | {@link PausedUncertainFailure} | may have been accepted, and the provider accepts nothing now | the same, after a pause of the lane; the try does not count. With the code `throttled` it goes first after the pause |
 *
 * If the route has a further provider (`failover()`), a message that was certainly not accepted
 * leaves by that one at once; an uncertain one never does.
 *
 * "Not accepted" needs proof, because a message that goes back to the queue leaves under a new key:
 * no byte of the request was sent (refused connection, DNS, TLS), or the provider's own error body
 * refuses the request or its credential. A bare status code is no proof: a proxy may answer 503, or
 * any other code, after the provider has accepted. "Later" (429, 503) proves it in the provider's
 * own form and only to a provider that ignores keys; under a key the submission is repeated
 * unchanged anyway, so throw one of the uncertain classes.
 *
 * The message of a failure is stored with the message, at most 500 characters, and shown: it must hold
 * no secret.
 *
 * Any other error counts as {@link UncertainFailure} with the code `transport_error`. Its class is
 * stored; its message and stack are only logged, at error level.
 */
export abstract class SubmitFailure extends MessagingError {
  constructor(
    /** Reason shown by health checks, such as `unauthorized`, `throttled`, `unreachable`. */
    code: string,
    message: string,
    /** Delay requested by the provider (`Retry-After`), in milliseconds. */
    readonly retryAfter?: number,
  ) {
    super(code, message);
  }
}

export class RetryableFailure extends SubmitFailure {}

export class PausedFailure extends SubmitFailure {}

export class PermanentFailure extends SubmitFailure {}

/**
 * A refusal for good that says nothing of other providers: this one does not reach the network, does
 * not know the sender, does not carry such content.
 */
export class UnroutableFailure extends PermanentFailure {}

/** A refusal by the recipient's server. Details are stored and given to listeners. */
export class BouncedFailure extends PermanentFailure {
  constructor(
    code: string,
    message: string,
    readonly details: Readonly<Record<string, string | number | null>>,
    /** A status of the channel. */
    readonly status = 'bounced',
  ) {
    super(code, message);
  }
}

/** A refusal of this recipient for now, such as greylisting; it is no sign of an outage. */
export class DeferredFailure extends SubmitFailure {
  constructor(
    code: string,
    message: string,
    retryAfter: number,
    /** How long after its due time the message is tried, in milliseconds. */
    readonly giveUpAfter: number,
    readonly details?: Readonly<Record<string, string | number | null>>,
  ) {
    super(code, message, retryAfter);
  }
}

export class UncertainFailure extends SubmitFailure {}

/** The answer is lost, and the provider honours no key for this request although it does for others. */
export class LostAnswerFailure extends UncertainFailure {}

export class PausedUncertainFailure extends UncertainFailure {}

/** For logs, which have no words of errors from elsewhere. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
