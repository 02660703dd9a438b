import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/failures.js';

/** Facts of an answer without success. */
export interface AnswerFacts {
  readonly status: number;
  /** `error.code` of the body, where it could be read. */
  readonly code?: string | undefined;
  /** The `Retry-After` header. */
  readonly retryAfter?: string | undefined;
}

const RETRY_AFTER_CAP = 3_600_000;

const CAUSES_OF_401 =
  'its causes: the word Bearer is missing; white space or a newline was copied with the token; ' +
  'the token was rotated. Check';

/**
 * Maps every HTTP answer without success to a failure.
 *
 * | answer | meaning |
 * |---|---|
 * | 3xx | paused: `baseUrl` is not the final address; redirects are never followed, because they would send the token
 * to another address |
 * | 401, 403 | paused until the credential is right |
 * | 404, 405 without the interface's error body | paused: `baseUrl` is wrong, and the message is not the cause |
 * | 408 | uncertain: the service may have read the request |
 * | 409 `idempotency_key_in_use` | uncertain: the first try is still running |
 * | 422 `idempotency_key_reused` | uncertain: only this library uses the key, so the service accepted an earlier try
 * in another form |
 * | 429 | paused |
 * | other 4xx | permanent |
 * | 503 | retryable: the service accepted nothing |
 * | other 5xx, and status codes outside HTTP | uncertain |
 */
export function answerFailure(
  facts: AnswerFacts,
  now: number,
  credential: 'apiToken' | 'apiKey' = 'apiToken',
): SubmitFailure {
  const { status } = facts;
  const code = machineCode(facts.code);
  const retryAfter = retryAfterMilliseconds(facts.retryAfter, now);
  const said = code === undefined ? `${status}` : `${status} ${code}`;
  if (status >= 300 && status < 400)
    return new PausedFailure(
      'unexpected_redirect',
      `The service answered with a redirect (${status}), which is never followed; set baseUrl to the final address`,
    );
  if ((status === 404 || status === 405) && code === undefined)
    return new PausedFailure(
      'not_the_interface',
      `This address does not serve the interface (${status}); check baseUrl`,
    );
  switch (status) {
    case 401:
      return new PausedFailure(
        code ?? 'unauthorized',
        `The service refused the credential (${said}); ${CAUSES_OF_401} ${credential}`,
      );
    case 403:
      return new PausedFailure(
        code ?? 'forbidden',
        `The service refused the account (${said}); ${causeOf403(code)}`,
      );
    case 408:
      return new UncertainFailure(
        code ?? 'request_timeout',
        `The service timed out reading the request (${said})`,
        retryAfter,
      );
    case 429:
      return new PausedFailure(
        'throttled',
        `The service asks to send more slowly (${said})`,
        retryAfter,
      );
    case 503:
      return new RetryableFailure(
        code ?? 'unavailable',
        `The service is unavailable (${said})`,
        retryAfter,
      );
  }
  if (status === 409 && code === 'idempotency_key_in_use')
    return new UncertainFailure(code, 'An earlier try of this submission still runs', retryAfter);
  if (status === 422 && code === 'idempotency_key_reused')
    return new UncertainFailure(
      code,
      'An earlier try of this submission was taken in another form',
      retryAfter,
    );
  if (status >= 400 && status < 500)
    return new PermanentFailure(
      code ?? `http_${status}`,
      `The service refused the request (${said})`,
    );
  return new UncertainFailure(
    code ?? `http_${status}`,
    `The service failed while it processed the request (${said})`,
    retryAfter,
  );
}

/**
 * `Retry-After` (RFC 9110, 10.2.3): seconds or an HTTP date, in milliseconds from `now`.
 *
 * @param longest milliseconds returned at most @default an hour
 * @returns `undefined` for a past date or another text
 */
export function retryAfterMilliseconds(
  value: string | undefined,
  now: number,
  longest = RETRY_AFTER_CAP,
): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const wait = /^\d{1,9}$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)
      ? Date.parse(text) - now
      : Number.NaN;
  return wait >= 0 ? Math.min(wait, longest) : undefined;
}

/** Returns `error.code` in the interface's form of codes; any other value could be personal data. */
function machineCode(code: string | undefined): string | undefined {
  return code !== undefined && /^[a-z][a-z0-9_.-]{0,63}$/i.test(code) ? code : undefined;
}

function causeOf403(code: string | undefined): string {
  if (code === 'account_disabled') return 'the account is suspended: ask the service';
  if (code === 'insufficient_scope') return 'the key lacks the scope: make one that has it';
  return 'check the account and the scopes of its credential';
}
