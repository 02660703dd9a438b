import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import type { SubmissionAccepted } from '../../ports/message-transport.js';
import type { ClientAnswer } from './http-client.js';
import { foreignFailure, refusalFailure, retryAfterMilliseconds } from './http-failures.js';

/**
 * Meaning of a provider's error code.
 *
 * | meaning | failure |
 * |---|---|
 * | `unauthorized`, `account_restricted`, `payment_required`, `throttled` | paused; the meaning is the error code. `throttled` with a key: uncertain and paused, the submission keeps its key |
 * | `retryable` | retryable; with a key uncertain |
 * | `uncertain` | uncertain: the provider may answer so after it has accepted |
 * | `sender_unknown`, `not_routable` | permanent here, and another provider may take the message; the meaning is the error code |
 * | `refused` | permanent: number, content or policy |
 */
export type Meaning =
  | 'unauthorized'
  | 'account_restricted'
  | 'payment_required'
  | 'throttled'
  | 'retryable'
  | 'uncertain'
  | 'sender_unknown'
  | 'not_routable'
  | 'refused';

type Answer = Pick<ClientAnswer, 'status' | 'retryAfter'>;

/** The error codes of a provider, and the failures that its answers without a success mean. */
export class ProviderErrors {
  readonly #meanings: ReadonlyMap<string, Meaning>;

  /**
   * @param by name of the provider at the start of a sentence
   * @param credential the options with the credential
   * @param codes codes of the provider's error form; other codes are judged by the HTTP status
   * @param keyed the provider honours the idempotency key of a request
   */
  constructor(
    readonly by: string,
    private readonly credential: string,
    codes: Readonly<Partial<Record<Meaning, readonly (string | number)[]>>>,
    private readonly keyed = false,
  ) {
    const entries = Object.entries(codes) as [Meaning, readonly (string | number)[]][];
    this.#meanings = new Map(
      entries.flatMap(([meaning, own]) => own.map((code) => [String(code), meaning])),
    );
  }

  meaningOf(code: string): Meaning | undefined {
    return this.#meanings.get(code);
  }

  /**
   * The failure of an answer that is no success.
   * @param code of the provider's own error form; `undefined`: the answer is not in that form, so that
   * it proves no refusal
   */
  failureOf(answer: Answer, code: string | undefined, now: number): SubmitFailure {
    const { status } = answer;
    const retryAfter = retryAfterMilliseconds(answer.retryAfter, now);
    if (code === undefined) return foreignFailure(this.by, { status, retryAfter });
    const meaning = this.#meanings.get(code);
    return meaning === undefined
      ? refusalFailure(this.by, { status, code, retryAfter, keyed: this.keyed })
      : this.failure(meaning, code, `${status} ${code}`, retryAfter);
  }

  /** @param code the provider's own @param said what the message quotes of the answer */
  failure(meaning: Meaning, code: string, said = code, retryAfter?: number): SubmitFailure {
    const { by } = this;
    const Throttled = this.keyed ? PausedUncertainFailure : PausedFailure;
    const Retryable = this.keyed ? UncertainFailure : RetryableFailure;
    switch (meaning) {
      case 'unauthorized':
        return new PausedFailure(
          meaning,
          `${by} refused the credential (${said}); check ${this.credential}`,
        );
      case 'account_restricted':
        return new PausedFailure(
          meaning,
          `${by} does not let the account send (${said}); ask ${by}, or check the account`,
          retryAfter,
        );
      case 'payment_required':
        return new PausedFailure(
          meaning,
          `The balance at ${by} is too low (${said}); add funds`,
          retryAfter,
        );
      case 'throttled':
        return new Throttled(meaning, `${by} asks to send more slowly (${said})`, retryAfter);
      case 'retryable':
        return new Retryable(code, `${by} cannot take the message now (${said})`, retryAfter);
      case 'uncertain':
        return new UncertainFailure(
          code,
          `${by} failed while it processed the request (${said})`,
          retryAfter,
        );
      case 'sender_unknown':
        return new UnroutableFailure(
          meaning,
          `${by} does not let the account send from this sender (${said})`,
        );
      case 'not_routable':
        return new UnroutableFailure(meaning, `${by} has no route to this number (${said})`);
      case 'refused':
        return new PermanentFailure(code, `${by} refused the message (${said})`);
    }
  }

  /** The acceptance of one message. @param what the id is @throws UncertainFailure without an id */
  accepted(id: string | null, what: string): SubmissionAccepted {
    if (id === null) throw this.unusable(what);
    return { reference: id, messageIds: [id] };
  }

  /** For an answer of success without the fields that a success has. @param what that is missing */
  unusable(what: string): UncertainFailure {
    return new UncertainFailure('invalid_answer', `${this.by} accepted without ${what}`);
  }
}
