import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackVerifier } from '../../ports/delivery-report-parser.js';

/**
 * Proven only where every one of them agrees.
 * @example
 * allOf(ipRanges(['203.0.113.0/24']), sharedSecret({ secret }))
 */
export function allOf(...verifiers: readonly CallbackVerifier[]): CallbackVerifier {
  atLeastOne('allOf', verifiers);
  return {
    verify: async (request) => {
      for (const verifier of verifiers) if (!(await verifier.verify(request))) return false;
      return true;
    },
  };
}

/** Proven where one of them agrees; while a provider moves from one proof to another. */
export function anyOf(...verifiers: readonly CallbackVerifier[]): CallbackVerifier {
  atLeastOne('anyOf', verifiers);
  return {
    verify: async (request) => {
      for (const verifier of verifiers) if (await verifier.verify(request)) return true;
      return false;
    },
  };
}

/** All of none would prove everything. */
function atLeastOne(name: string, verifiers: readonly CallbackVerifier[]): void {
  if (verifiers.length === 0)
    throw new MessagingConfigError(`${name}: needs at least one verifier`);
}
