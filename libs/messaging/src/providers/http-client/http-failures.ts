import {
  PausedFailure,
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

/**
 * The failure that an answer means for every service; the providers' own meanings come before it.
 *
 * | answer | meaning |
 * |---|---|
 * | 3xx | paused, never followed: a redirect would send the credential to another address |
 * | 408 | uncertain: the service may have read the request |
 * | 429 | paused |
 * | other 4xx | permanent |
 * | 503 | retryable: the service accepted nothing |
 * | other 5xx, and status codes outside HTTP | uncertain |
 *
 * @param by name of the answering service at the start of a sentence
 * @param retryAfter wait that the service asks for, in milliseconds
 */
export function refusalFailure(
  by: string,
  status: number,
  code?: string,
  retryAfter?: number,
): SubmitFailure {
  const said = code === undefined ? `${status}` : `${status} ${code}`;
  if (status >= 300 && status < 400)
    return new PausedFailure(
      'unexpected_redirect',
      `${by} answered with a redirect (${status}), which is never followed; set the final address`,
    );
  if (status === 429)
    return new PausedFailure('throttled', `${by} asks to send more slowly (${said})`, retryAfter);
  if (status === 503)
    return new RetryableFailure(
      code ?? 'unavailable',
      `${by} is unavailable (${said})`,
      retryAfter,
    );
  if (status >= 400 && status < 500 && status !== 408)
    return new PermanentFailure(code ?? `http_${status}`, `${by} refused the request (${said})`);
  return new UncertainFailure(
    code ?? (status === 408 ? 'request_timeout' : `http_${status}`),
    `${by} ${status === 408 ? 'timed out reading' : 'failed while it processed'} the request (${said})`,
    retryAfter,
  );
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
  const wait = /^\d{1,9}$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)
      ? Date.parse(text) - now
      : Number.NaN;
  return wait >= 0 ? Math.min(wait, longest) : undefined;
}
