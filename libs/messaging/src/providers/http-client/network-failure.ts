import { PausedFailure, type SubmitFailure, UncertainFailure } from '../../message/failures.js';

/** Facts about a request without a complete answer. */
export interface NetworkFacts {
  /** `ECONNREFUSED`, `UND_ERR_SOCKET`, … */
  readonly code?: string | undefined;
  /**
   * `untried`: an interceptor failed first; `unsent`: no socket took the request; `unknown`: a custom adapter does
   * not report it.
   */
  readonly reach: 'untried' | 'unsent' | 'sent' | 'unknown';
  /** Reason why the client itself aborted the request. */
  readonly aborted?: 'timeout' | 'stop' | undefined;
}

/** Maps every broken exchange to a failure, by whether bytes may have been sent. */
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

/** Codes that only occur before a connection is established, or before the client accepts a request. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|UND_ERR_CLOSED|UND_ERR_DESTROYED|ERR_INVALID_URL)$|^CERT_|^UNABLE_TO_|_CERT$|SELF_SIGNED|^ERR_TLS_CERT|^HOSTNAME_MISMATCH$/;
const TIMEOUT = /_TIMEOUT$|^ETIMEDOUT$|^ECONNABORTED$/;
const NOT_TRIED = /^UND_ERR_(CLOSED|DESTROYED|INVALID_ARG)$|^ERR_CANCELED$/;
const TLS = /^CERT_|^UNABLE_TO_|_CERT$|SELF_SIGNED|^ERR_(TLS|SSL)|^EPROTO$|^HOSTNAME_MISMATCH$/;
