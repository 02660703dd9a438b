import { PausedFailure, type SubmitFailure, UncertainFailure } from '../../message/errors.js';
import { refusalFailure, retryAfterMilliseconds } from '../http-client/http-failures.js';
import type { Credential } from './http.options.js';

export interface AnswerFacts {
  readonly status: number;
  readonly code?: unknown;
  readonly retryAfter?: string | undefined;
}

/**
 * Failures of answers; those not named here mean what {@link refusalFailure} says.
 *
 * | answer | meaning |
 * |---|---|
 * | 401, 403 | paused until the credential is right |
 * | 404, 405 without the interface's error body | paused: `baseUrl` is wrong, not the message |
 * | 409 `idempotency_key_in_use` | uncertain: the first try is still running |
 * | 422 `idempotency_key_reused` | uncertain: the key is only ours, so an earlier try was accepted
 * |
 */
export function answerFailure(
  facts: AnswerFacts,
  now: number,
  credential: Credential = 'apiToken',
): SubmitFailure {
  const { status } = facts;
  const code = machineCode(facts.code);
  const retryAfter = retryAfterMilliseconds(facts.retryAfter, now);
  switch (`${status} ${code ?? ''}`) {
    case '404 ':
    case '405 ':
      return new PausedFailure(
        'not_the_interface',
        `This address does not serve the interface (${status}); check baseUrl`,
      );
    case '409 idempotency_key_in_use':
      return new UncertainFailure(
        'idempotency_key_in_use',
        'An earlier try of this submission still runs',
        retryAfter,
      );
    case '422 idempotency_key_reused':
      return new UncertainFailure(
        'idempotency_key_reused',
        'An earlier try of this submission was taken in another form',
        retryAfter,
      );
  }
  const said = code === undefined ? `${status}` : `${status} ${code}`;
  if (status === 401)
    return new PausedFailure(
      code ?? 'unauthorized',
      `The service refused the credential (${said}); its causes: the word Bearer is missing; white space or a ` +
        `newline was copied with the token; the token was rotated. Check ${credential}`,
    );
  if (status === 403)
    return new PausedFailure(
      code ?? 'forbidden',
      `The service refused the account (${said}); ${causeOf403(code)}`,
    );
  return refusalFailure({ by: 'The service', status, code, retryAfter });
}

/** Only the interface's form of codes, as any other value could be personal data. */
function machineCode(code: unknown): string | undefined {
  return typeof code === 'string' && /^[a-z][a-z0-9_.-]{0,63}$/i.test(code) ? code : undefined;
}

function causeOf403(code: string | undefined): string {
  if (code === 'account_disabled') return 'the account is suspended: ask the service';
  if (code === 'insufficient_scope') return 'the key lacks the scope: make one that has it';
  return 'check the account and the scopes of its credential';
}
