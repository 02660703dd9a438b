import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { ExchangeTrace } from './undici.client.js';

/** Codes that occur only before a connection exists or before the client accepts a request. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|UND_ERR_CLOSED|UND_ERR_DESTROYED|ERR_INVALID_URL)$|^CERT_|^UNABLE_TO_|_CERT$|SELF_SIGNED|^ERR_TLS_CERT|^HOSTNAME_MISMATCH$/;
const TIMEOUT = /_TIMEOUT$|^ETIMEDOUT$|^ECONNABORTED$/;
const NOT_TRIED = /^UND_ERR_(CLOSED|DESTROYED|INVALID_ARG)$|^ERR_CANCELED$/;
const TLS = /^CERT_|^UNABLE_TO_|_CERT$|SELF_SIGNED|^ERR_(TLS|SSL)|^EPROTO$|^HOSTNAME_MISMATCH$/;

/** By whether bytes may have been sent. `signal.reason` says why the client gave up, if it did. */
export function networkFailure(
  code: string | undefined,
  reach: ExchangeTrace['reach'],
  signal: AbortSignal,
): SubmitFailure {
  const known = code !== undefined && /^[A-Z0-9_]{1,64}$/.test(code) ? code : '';
  const why = known === '' ? '' : ` (${known})`;
  const late = signal.aborted && (signal.reason as Error | undefined)?.name === 'TimeoutError';
  const stopped = signal.aborted && !late;
  if (reach === 'sent' || (reach === 'unknown' && !NEVER_SENT.test(known))) {
    if (stopped)
      return new UncertainFailure('aborted', 'The request was given up before its answer came');
    return late || TIMEOUT.test(known)
      ? new UncertainFailure('timeout', `No whole answer came in time${why}`)
      : new UncertainFailure('connection_lost', `The connection broke before the answer${why}`);
  }
  if (stopped || (!late && NOT_TRIED.test(known)))
    return new PausedFailure('not_sent', `The request was given up before it was sent${why}`);
  if (reach === 'untried')
    return new PausedFailure(
      'not_sent',
      `An interceptor of HttpService failed before the request was sent${why}`,
    );
  const cause = TLS.test(known)
    ? "The service's certificate or TLS was not accepted"
    : 'The service cannot be reached';
  return new PausedFailure('unreachable', `${cause}${why}; nothing was sent`);
}

export interface RefusedAnswer {
  readonly status: number;
  /** The code of the service's own error form; `undefined`: the answer is not in that form. */
  readonly code?: string | undefined;
  /** Wait that the service asks for, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** The service honours the idempotency key of the request. */
  readonly keyed: boolean;
}

/**
 * The failure that an answer means for every service; the providers' own meanings come before it.
 * Only the service's own form is proof that it accepted nothing: a proxy may answer any status
 * after the service has accepted.
 *
 * | answer | in the service's own form | in another form, or empty |
 * |---|---|---|
 * | 3xx | uncertain and paused; never followed: a redirect would send the credential to another address | the same |
 * | 408 | uncertain: the service may have read the request | the same |
 * | 429 | paused; with a key uncertain and paused: the submission keeps its key | uncertain and paused |
 * | other 4xx | permanent | uncertain |
 * | 503 | retryable; with a key uncertain: the submission keeps its key | uncertain |
 * | other 5xx, and status codes outside HTTP | uncertain | the same |
 *
 * @param by name of the answering service at the start of a sentence
 */
export function refusalFailure(
  by: string,
  { status, code, retryAfter, keyed }: RefusedAnswer,
): SubmitFailure {
  const said = code === undefined ? `${status}` : `${status} ${code}`;
  const isProof = code !== undefined && !keyed;
  if (status >= 300 && status < 400)
    return new PausedUncertainFailure(
      'unexpected_redirect',
      `${by} answered with a redirect (${status}), which is never followed; set the final address`,
    );
  if (status === 429) {
    const Throttled = isProof ? PausedFailure : PausedUncertainFailure;
    return new Throttled('throttled', `${by} asks to send more slowly (${said})`, retryAfter);
  }
  if (status === 503) {
    const Unavailable = isProof ? RetryableFailure : UncertainFailure;
    return new Unavailable(code ?? 'http_503', `${by} is unavailable (${said})`, retryAfter);
  }
  if (status === 408)
    return new UncertainFailure(
      code ?? 'request_timeout',
      `${by} timed out reading the request (${said})`,
      retryAfter,
    );
  if (status < 400 || status >= 500)
    return new UncertainFailure(
      code ?? `http_${status}`,
      `${by} failed while it processed the request (${said})`,
      retryAfter,
    );
  return code === undefined
    ? new UncertainFailure(
        `http_${status}`,
        `${by}, or a proxy in front of it, refused the request without the service's error body (${said})`,
        retryAfter,
      )
    : new PermanentFailure(code, `${by} refused the request (${said})`);
}

/**
 * The failure of an answer that is not in the service's own form, so that it proves no refusal. A
 * wrong credential or path, or a proxy's, holds everything back.
 * @param by name of the service whose form is missing
 * @param check what is to be checked
 */
export function foreignFailure(
  by: string,
  { status, retryAfter }: Omit<RefusedAnswer, 'code' | 'keyed'>,
  check = 'the address of the service',
): SubmitFailure {
  if ([401, 403, 404, 405, 407].includes(status))
    return new PausedUncertainFailure(
      'not_the_provider',
      `The answer (${status}) has not the form of ${by}: another service or a proxy gave it; check ${check}`,
      retryAfter,
    );
  return refusalFailure(by, { status, retryAfter, keyed: false });
}

/**
 * `Retry-After` (RFC 9110, 10.2.3): seconds or an HTTP date, in milliseconds from `now`.
 * @param longest milliseconds returned at most @default an hour
 * @returns `undefined` for a past date or another text
 */
export function retryAfterMilliseconds(
  value: string | undefined,
  now: number,
  longest = 3_600_000,
): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)
      ? Date.parse(text) - now
      : Number.NaN;
  return wait >= 0 ? Math.min(wait, longest) : undefined;
}
