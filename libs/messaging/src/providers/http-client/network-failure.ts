import { PausedFailure, type SubmitFailure, UncertainFailure } from '../../message/failures.js';

/** What is known of a request that got no whole answer. */
export interface NetworkFacts {
  /** `ECONNREFUSED`, `UND_ERR_SOCKET`, … */
  readonly code?: string | undefined;
  /** `untried`: an interceptor failed first; `unsent`: no socket took it; `unknown`: nobody can tell. */
  readonly reach: 'untried' | 'unsent' | 'sent' | 'unknown';
  /** Why we gave up ourselves, if we did. */
  readonly aborted?: 'timeout' | 'stop' | undefined;
}

/** The one place where a broken exchange becomes a meaning: was anything sent? */
export function networkFailure(facts: NetworkFacts): SubmitFailure {
  const code = facts.code !== undefined && /^[A-Z0-9_]{1,64}$/.test(facts.code) ? facts.code : '';
  const why = code === '' ? '' : ` (${code})`;
  if (facts.reach === 'sent' || (facts.reach === 'unknown' && !NEVER_SENT.test(code))) {
    if (facts.aborted === 'timeout' || TIMEOUT.test(code))
      return new UncertainFailure('timeout', `No whole answer came in time${why}`);
    if (facts.aborted === 'stop')
      return new UncertainFailure('aborted', 'The request was given up before its answer came');
    return new UncertainFailure('connection_lost', `The connection broke before the answer${why}`);
  }
  if (facts.aborted === 'stop' || (facts.aborted !== 'timeout' && NOT_TRIED.test(code)))
    return new PausedFailure('not_sent', `The request was given up before it was sent${why}`);
  if (facts.reach === 'untried')
    return new PausedFailure(
      'not_sent',
      `An interceptor of HttpService failed before the request was sent${why}`,
    );
  if (TLS.test(code))
    return new PausedFailure(
      'unreachable',
      `The service's certificate or TLS was not accepted${why}; nothing was sent`,
    );
  return new PausedFailure('unreachable', `The service cannot be reached${why}; nothing was sent`);
}

/** Codes that only come up before a connection stands, or before a request is taken on. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|UND_ERR_CLOSED|UND_ERR_DESTROYED|ERR_INVALID_URL)$|^CERT_|^UNABLE_TO_|_CERT$|SELF_SIGNED|^ERR_TLS_CERT|^HOSTNAME_MISMATCH$/;
const TIMEOUT = /_TIMEOUT$|^ETIMEDOUT$|^ECONNABORTED$/;
const NOT_TRIED = /^UND_ERR_(CLOSED|DESTROYED|INVALID_ARG)$|^ERR_CANCELED$/;
const TLS = /^CERT_|^UNABLE_TO_|_CERT$|SELF_SIGNED|^ERR_(TLS|SSL)|^EPROTO$|^HOSTNAME_MISMATCH$/;
