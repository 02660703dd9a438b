import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  DeferredFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import { foreignFailure, retryAfterMilliseconds } from '../http-client/http-failures.js';

const BY = 'The WhatsApp Cloud API';

/** The number, the account or the credential cannot send now; other than these 200 to 299. */
const PAUSING = new Set([
  0, 3, 4, 10, 190, 368, 80007, 130429, 131031, 131042, 131045, 131048, 133010,
]);
/** Those of them that concern one number, or its business account. */
const OF_NUMBER = new Set([368, 80007, 130429, 131031, 131042, 131045, 131048, 133010]);
/** Meta says that a request with these codes can be repeated. */
const TEMPORARY = new Set([1, 2, 131000, 131016, 131057]);
/** Too many messages to this recipient: one in six seconds. */
export const PAIR_RATE = '131056';
const PAIR_WAIT = 6_000;
/** Time for which a message to such a recipient is tried, in milliseconds. */
export const DAY = 86_400_000;
/** The same, from a number that cannot send. */
export const WEEK = 7 * DAY;
/** Until a number that cannot send is asked for again, in milliseconds. */
const THROTTLED_WAIT = 5_000;
const NUMBER_WAIT = 60_000;
/** The template is paused or disabled. */
export const TEMPLATE_PAUSED: ReadonlySet<string> = new Set(['132015', '132016']);

/**
 * Failures by the code of Meta's error body, whatever the HTTP status; only that body is proof that
 * nothing was accepted.
 *
 * | code | meaning |
 * |---|---|
 * | 0, 3, 4, 10, 190, 200 to 299, 368, 80007, 130429, 131031, 131042, 131045, 131048, 133010 | paused: credential, permission, limit, payment or registration of the number |
 * | 131056 | deferred: too many messages to this recipient |
 * | 1, 2, 131000, 131016, 131057 | retryable |
 * | others, with a status below 500 | permanent: the recipient, the content, the template or the window |
 * | others | uncertain |
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes
 */
export function graphFailure(answer: Omit<ClientAnswer, 'text'>, now: number): SubmitFailure {
  const { status, body } = answer;
  const code = own(own(body, 'error'), 'code');
  const retryAfter = retryAfterMilliseconds(answer.retryAfter, now);
  if (typeof code !== 'number' || !Number.isSafeInteger(code))
    return foreignFailure(BY, { status, retryAfter }, 'baseUrl');
  const name = String(code);
  const said = `${BY} refused the request (${status}, code ${name})`;
  if (PAUSING.has(code) || (code >= 200 && code < 300))
    return new PausedFailure(reasonOf(code), said, retryAfter);
  if (name === PAIR_RATE) return new DeferredFailure(name, said, retryAfter ?? PAIR_WAIT, DAY);
  if (TEMPORARY.has(code)) return new RetryableFailure(name, said, retryAfter);
  return status < 500
    ? new PermanentFailure(name, said)
    : new UncertainFailure(name, said, retryAfter);
}

/**
 * The failure where one of several numbers cannot send: the messages of this one wait, and no attempt
 * is used. `undefined`: it concerns all of them.
 */
export function numberFailure(
  failure: SubmitFailure,
  { body }: Pick<ClientAnswer, 'body'>,
): DeferredFailure | undefined {
  const code = own(own(body, 'error'), 'code');
  if (!(failure instanceof PausedFailure) || !OF_NUMBER.has(Number(code))) return undefined;
  const { code: reason, message } = failure;
  const usual = reason === 'throttled' ? THROTTLED_WAIT : NUMBER_WAIT;
  return new DeferredFailure(reason, message, failure.retryAfter ?? usual, WEEK);
}

function reasonOf(code: number): string {
  switch (code) {
    case 4:
    case 80007:
    case 130429:
    case 131048:
      return 'throttled';
    case 131042:
      return 'payment_required';
    case 0:
    case 190:
      return 'unauthorized';
    default:
      return 'account_restricted';
  }
}
