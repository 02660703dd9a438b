import { MessagingError } from './errors.js';

/**
 * An error of `submit()`. The drain decides by its class alone:
 *
 * | class | meaning | the drain |
 * |---|---|---|
 * | {@link RetryableFailure} | definitely not accepted, a retry may succeed | back to `queued`, attempt + 1, backoff |
 * | {@link PausedFailure} | the provider accepts nothing now (refused, 429, 401/403) | back to `queued`, lane pauses, no attempt used |
 * | {@link PermanentFailure} | definitely not accepted, a retry cannot succeed | `rejected` |
 * | {@link UncertainFailure} | may have been accepted | the same submission again under its own key, else `unknown` |
 *
 * Any other error counts as uncertain.
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

export class UncertainFailure extends SubmitFailure {}
