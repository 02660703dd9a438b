import { createHash } from 'node:crypto';
import { MessagingError } from '../../message/errors.js';
import type { ChannelStatus } from '../../message/status.js';
import type { VasProduct } from '../../message/vas.js';
import type { TenantOption } from '../../message/views.js';
import type { LabelledMessage } from '../labels.js';
import type { AlsoOption } from '../../store/database/sql.js';

/** Airtime or data for one number. Events and lists give its tags and metadata back. */
export interface VasOrder extends LabelledMessage {
  /** Phone number in any usual form. */
  readonly to: string;
  /** Id of one of {@link VasService.products}. */
  readonly product: string;
  /** Decimal number, such as `'100'`; only for a product without an amount of its own. */
  readonly amount?: string | undefined;
  /** ISO 4217 code. @default the product's */
  readonly currency?: string | undefined;
  /**
   * The caller's own name of the order: 1 to 255 visible ASCII characters, never used again by the
   * tenant. The same reference and content give the first order.
   */
  readonly clientReference: string;
  /** The number's network, where it is known; it must be the product's. */
  readonly network?: string | undefined;
  readonly deliveryReport?: boolean | undefined;
  /** Accept the same number, product and amount again within 60 seconds. @default false */
  readonly allowDuplicate?: boolean | undefined;
}

export interface VasReceipt {
  readonly id: string;
  readonly createdAt: Date;
  /** The reference was used before: this is the first order. */
  readonly replayed: boolean;
  /** As it was accepted; as it is now where it is replayed. */
  readonly order: VasOrderView;
}

export interface VasOrderView {
  readonly id: string;
  readonly tenant: string;
  readonly clientReference: string;
  /** Digits with country code; empty after an erasure. */
  readonly to: string;
  readonly type: VasProduct['type'];
  readonly product: string;
  readonly amount: string;
  readonly currency: string;
  readonly network: string | null;
  readonly status: ChannelStatus;
  /** Price that the operator charged, as a decimal number; `null`: not known. */
  readonly cost: string | null;
  /** Amount that arrived, as a decimal number; `null`: not known. */
  readonly deliveredAmount: string | null;
  readonly operatorReference: string | null;
  readonly errorCode: string | null;
  readonly createdAt: Date;
  /** A person's decision on an order whose outcome the operator did not tell. */
  readonly settlement: VasSettlement | null;
}

export interface VasSettlement {
  readonly as: 'delivered' | 'failed';
  readonly by: string;
  readonly at: Date;
  readonly note: string | null;
}

export interface SettleOptions
  extends TenantOption, AlsoOption, Omit<VasSettlement, 'at' | 'note'> {
  /** Why, at most 1,000 characters. */
  readonly note?: string | undefined;
}

/** Caps of a tenant's orders in any 24 hours; orders that failed do not count. */
export interface VasAllowance {
  /** ISO 4217 code; orders in other currencies are refused. */
  readonly currency: string;
  /** Decimal number, such as `'50000'`. */
  readonly daily: string;
  /** Decimal number. */
  readonly perNumber: string;
}

const MESSAGES = {
  vas_not_allowed: 'Orders are off for this account',
  cap_exceeded: 'The order exceeds a cap',
  duplicate_order:
    'The same number, product and amount were ordered within 60 seconds; repeat the client reference, or allow duplicates',
  already_settled: 'The order has an outcome',
  unavailable: 'The products of the operator cannot be read now; try again',
} as const;

/** An order that was not accepted, or cannot be settled; nothing was changed. */
export class VasOrderError extends MessagingError {
  constructor(
    code: keyof typeof MESSAGES,
    detail: string = MESSAGES[code],
    options?: ErrorOptions,
  ) {
    super(code, detail, options);
  }
}

/** The client reference was used for another order. */
export class VasReferenceReusedError extends MessagingError {
  constructor() {
    super('idempotency_key_reused', 'This client reference was used for another order');
  }
}

export class VasOrderNotFoundError extends MessagingError {
  constructor() {
    super('not_found', 'There is no such order');
  }
}

/** Derives from nothing that a restore or a further acceptance changes. */
export function operatorKeyOf(tenant: string, clientReference: string): string {
  const name = JSON.stringify([tenant, clientReference]);
  return `dundun-${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}
