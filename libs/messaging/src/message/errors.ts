/** One wrong field: `path` as `to[3]`, `message` with the remedy. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Base of every error this library throws on purpose: `code` is stable, the message is for people. */
export class MessagingError extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The options or credentials are wrong; thrown at boot, names the option and the remedy. */
export class MessagingConfigError extends MessagingError {
  constructor(message: string) {
    super('invalid_config', message);
  }
}

/** The message cannot be accepted as written; nothing was stored. */
export class MessageValidationError extends MessagingError {
  constructor(
    readonly fields: readonly FieldError[],
    code = 'invalid_field',
  ) {
    super(code, fields.map((field) => `${field.path}: ${field.message}`).join('; '));
  }
}

/** The idempotency key was used before for other content. */
export class IdempotencyKeyReusedError extends MessagingError {
  constructor() {
    super(
      'idempotency_key_reused',
      'This idempotency key was used for a different message; use a new key for new content',
    );
  }
}

/** Another send under this idempotency key is still under way, in another open transaction; nothing was stored. */
export class IdempotencyKeyInUseError extends MessagingError {
  constructor(options?: ErrorOptions) {
    super(
      'idempotency_key_in_use',
      'A send with this idempotency key is under way in another transaction; try again once that has ended',
      options,
    );
  }
}

/** `manager` cannot carry the send; the message says what to pass. */
export class TransactionRequiredError extends MessagingError {
  constructor(message: string) {
    super('transaction_required', message);
  }
}

/** No provider carries the message's channel; nothing was stored. */
export class NoRouteError extends MessagingError {
  /** @param provider the one that the route names, which does not carry the channel */
  constructor(
    readonly channel: string,
    readonly provider?: string,
  ) {
    super(
      'no_route',
      provider === undefined
        ? `No route carries the channel ${channel}; add one to \`routes\`, such as { channel: '${channel}', use: 'main' }`
        : `Provider ${provider} does not carry the channel ${channel}; set it up for the channel (http needs the apiKey for WhatsApp), or route the channel to another provider`,
    );
  }
}

/** No batch with this id for this tenant. */
export class BatchNotFoundError extends MessagingError {
  constructor(readonly batchId: string) {
    super('not_found', `No batch ${batchId}`);
  }
}

/** No message with this id for this tenant. */
export class MessageNotFoundError extends MessagingError {
  constructor(readonly messageId: string) {
    super('not_found', `No message ${messageId.slice(0, 64)}`);
  }
}

/** Everything of the batch has left, or it has ended: nothing is left to change. */
export class AlreadySentError extends MessagingError {
  constructor(readonly batchId: string) {
    super('already_sent', `Nothing of batch ${batchId} is left to change`);
  }
}

/**
 * The database owed an answer when the app's time to stop was over (`shutdownTimeout`). What was asked of
 * it may have been done or not.
 */
export class DatabaseShutdownTimeoutError extends MessagingError {
  constructor() {
    super(
      'database_given_up',
      'The app stops and its database does not answer: it was given up; what was asked of it may have been done or not',
    );
  }
}
