import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/failures.js';

/**
 * Maps an answer of smsbox other than 202 to a failure.
 *
 * | answer | meaning |
 * |---|---|
 * | 400 | permanent: a field is wrong, or the number is on a list |
 * | 403 `Authorization failed` | paused until user, password or address range is right |
 * | 403 `Not routable` | permanent: no SMSC takes this number |
 * | 403, other | paused: a proxy in front of Kannel refuses the request |
 * | 503 `Temporal failure` | retryable: queues are full or no SMSC is connected; Kannel accepted nothing |
 * | 404, 405, 3xx | paused: the address is not that of sendsms |
 * | other 4xx | the usual meaning in HTTP |
 * | other 2xx, 5xx | uncertain |
 */
export function sendsmsFailure(status: number, text: string): SubmitFailure {
  if (status >= 300 && status < 400)
    return new PausedFailure(
      'unexpected_redirect',
      `Kannel's address answered with a redirect (${status}); set url to smsbox itself`,
    );
  switch (status) {
    case 400:
      return /denied by/i.test(text)
        ? new PermanentFailure('number_denied', "The number is on one of Kannel's lists (400)")
        : new PermanentFailure('bad_request', 'Kannel refused a field of the request (400)');
    case 401:
    case 407:
      return new PausedFailure(
        'unauthorized',
        `A proxy in front of Kannel asks for a credential (${status})`,
      );
    case 403:
      return forbidden(text);
    case 404:
    case 405:
      return new PausedFailure(
        'not_sendsms',
        `There is no sendsms at this address (${status}); check url and smsbox's sendsms-url`,
      );
    case 408:
      return new UncertainFailure('request_timeout', 'Kannel timed out reading the request (408)');
    case 429:
      return new PausedFailure('throttled', 'Kannel asks to send more slowly (429)');
    case 503:
      return new RetryableFailure('unavailable', 'Kannel cannot take the message now (503)');
  }
  if (status >= 400 && status < 500)
    return new PermanentFailure(`http_${status}`, `Kannel refused the request (${status})`);
  return new UncertainFailure(
    status < 300 ? 'invalid_answer' : `http_${status}`,
    `The answer (${status}) does not say whether Kannel has the message`,
  );
}

function forbidden(text: string): SubmitFailure {
  if (/not routable/i.test(text))
    return new PermanentFailure('not_routable', 'No SMSC of Kannel takes this number (403)');
  if (/authori[sz]ation failed/i.test(text))
    return new PausedFailure(
      'unauthorized',
      'Kannel refused the user (403); check username, password and user-allow-ip of its sendsms-user',
    );
  return new PausedFailure('forbidden', 'A proxy in front of Kannel refuses the request (403)');
}
