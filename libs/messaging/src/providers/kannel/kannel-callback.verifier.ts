import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest, CallbackVerifier } from '../../ports/delivery-report-parser.js';
import { checkCallbackSecret } from './kannel.options.js';
import { isSigned } from './report-link.js';

/** Proves a report by the signature in the address that Kannel was given. */
export class KannelCallbackVerifier implements CallbackVerifier {
  readonly #secrets: readonly string[];

  /**
   * @param secrets `callbackSecret`; during a rotation the new one and the old
   * @throws MessagingConfigError where there is none, or one is too short
   */
  constructor(...secrets: readonly string[]) {
    if (secrets.length === 0)
      throw new MessagingConfigError(
        'callbackSecret: is missing; pass the one the transport signs with',
      );
    this.#secrets = secrets.map(checkCallbackSecret);
  }

  verify({ query }: CallbackRequest): boolean {
    return isSigned(query, this.#secrets);
  }
}
