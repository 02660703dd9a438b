import type { EntityManager } from 'typeorm';
import { MessagingError } from '../../message/errors.js';
import type { Channel } from '../../message/message.js';
import type { TenantOption } from '../../message/views.js';

export type VerificationStatus = 'pending' | 'verified' | 'expired' | 'exhausted';

/** A one-time code for one address. */
export interface NewVerification {
  /** Phone number in any usual form; on the channel `email` an e-mail address. */
  readonly to: string;
  /** A channel that carries codes: `sms`, `whatsapp`, `voice`, `email`, or a registered one. */
  readonly channel: Channel;
  /** Sender of the message; the channel checks it. */
  readonly from?: string | undefined;
  /** Digits of the code, 4 to 8. @default 6 */
  readonly length?: number | undefined;
  /** How long the code is right, `'1m'` to `'24h'`. @default '10m' */
  readonly ttl?: string | number | undefined;
  /** Checks until the code ends, 3 to 10. @default 5 */
  readonly attempts?: number | undefined;
  /** On WhatsApp: an approved template whose one parameter is the code. @default the option */
  readonly template?: { readonly name: string; readonly language: string } | undefined;
}

export interface Verification {
  readonly id: string;
  readonly channel: Channel;
  /** The batch of the message with the code. */
  readonly batchId: string;
  readonly status: VerificationStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface StartedVerification extends Verification {
  /** The idempotency key was used before: this is the first answer, and no code was sent. */
  readonly replayed: boolean;
}

export interface VerificationStartOptions extends TenantOption {
  /**
   * 1 to 255 visible ASCII characters. The same key and verification give the first answer, for the
   * option `store.idempotencyWindow`. Its sender may differ.
   */
  readonly idempotencyKey?: string | undefined;
  /** The transaction that the verification and its message join. @default one of their own */
  readonly manager?: EntityManager | undefined;
  /** As that of a send. @default none */
  readonly spender?: string | undefined;
}

/** Too many codes to this recipient, network or country, or by this tenant; nothing was sent. */
export class VerificationLimitError extends MessagingError {
  constructor(
    readonly scope: 'recipient' | 'network' | 'country' | 'account',
    /** Milliseconds. */
    readonly retryAfter: number,
  ) {
    super(
      'rate_limited',
      `Too many codes for this ${scope}; try again in ${Math.ceil(retryAfter / 1_000)} s`,
    );
  }
}

/** Few of the codes to this country are ever checked: someone may be selling the traffic. */
export class VerificationStoppedError extends MessagingError {
  constructor(readonly country: string) {
    super(
      'verification_stopped',
      `Codes to ${country} are stopped for up to an hour: few of the last ones were ever checked, as in SMS pumping`,
    );
  }
}

export class VerificationNotFoundError extends MessagingError {
  constructor() {
    super('not_found', 'There is no such verification');
  }
}
