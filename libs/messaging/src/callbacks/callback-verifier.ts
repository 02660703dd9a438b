import { Logger } from '@nestjs/common';
import { MessagingConfigError } from '../message/errors.js';
import type { Clock } from '../ports/clock.js';
import type { CallbackVerifier } from '../ports/delivery-report-parser.js';
import type { CallbackEndpointOptions } from '../ports/messaging-options.js';
import { StandardWebhooksVerifier } from './standard-webhooks.verifier.js';

/**
 * Decides how the callbacks of one endpoint are proven: by `verifier`, or by the signature of
 * `secrets`, or, where `insecure` says so in as many words, not at all, which is warned of once.
 *
 * @param option what the endpoint's options are called
 * @throws MessagingConfigError naming the option where nothing was decided, or too much.
 */
export function callbackVerifier(
  options: CallbackEndpointOptions | undefined,
  clock: Clock,
  option = 'callbacks',
): CallbackVerifier {
  const { verifier, secrets = [], insecure } = options ?? {};
  if (verifier && secrets.length > 0)
    throw new MessagingConfigError(
      `${option}.verifier: there are secrets too; pass one of them, or allOf(new StandardWebhooksVerifier(…), …)`,
    );
  if (verifier) {
    if (typeof verifier.verify !== 'function')
      throw new MessagingConfigError(`${option}.verifier: must have a method verify()`);
    return verifier;
  }
  if (secrets.length > 0) return new StandardWebhooksVerifier(secrets, clock, `${option}.secrets`);
  if (insecure !== true)
    throw new MessagingConfigError(
      `${option}.secrets: is missing; pass the signing secret (whsec_…) of the webhook endpoint, ` +
        `or ${option}.verifier, or callbackPath: false to take no callbacks, or, never in production, ` +
        `${option}: { insecure: true }`,
    );
  new Logger('MessagingCallbacks').warn(
    `${option}.insecure is set: anybody who finds the path can report deliveries`,
  );
  return { verify: () => true };
}
