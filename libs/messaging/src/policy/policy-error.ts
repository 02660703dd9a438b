import { MessagingError } from '../message/errors.js';

/** Why one recipient is not to be sent to. */
export interface RecipientDenial {
  /** Digits with country code. */
  readonly recipient: string;
  readonly code: string;
  readonly reason: string;
  /** Name of the policy that denied it. */
  readonly policy: string;
}

/** Policy forbids every recipient; nothing was stored. `code` is the first recipient's. */
export class PolicyError extends MessagingError {
  constructor(readonly denials: readonly [RecipientDenial, ...RecipientDenial[]]) {
    super(
      denials[0].code,
      denials.length === 1
        ? `The recipient ${denials[0].reason}`
        : `Policy forbids all ${denials.length} recipients; the first ${denials[0].reason}`,
    );
  }
}
