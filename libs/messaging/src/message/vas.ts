import type { ChannelContent } from './message.js';

/** A product of the operator. It has an `amount`, or `min` and `max` to choose from. */
export interface VasProduct {
  readonly id: string;
  readonly type: 'airtime' | 'data';
  /** The operator's network. */
  readonly network: string;
  readonly name: string;
  /** Price, as a decimal number; `null`: the order names the amount. */
  readonly amount: string | null;
  readonly min: string | null;
  readonly max: string | null;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Such as `'30d'`; `null`: without end, or not known. */
  readonly validity: string | null;
}

/** Content of an order, as its provider gets it. */
export interface VasOrderContent extends ChannelContent {
  readonly kind: 'vas.airtime' | 'vas.data';
  readonly product: string;
  /** Decimal number. */
  readonly amount: string;
  readonly currency: string;
  readonly network: string | null;
  /**
   * The idempotency key of the operator: it derives from tenant and client reference alone, so an
   * order that is accepted again after a restore has the same.
   */
  readonly key: string;
}

export function isVasOrder(content: { readonly kind: string }): content is VasOrderContent {
  return content.kind === 'vas.airtime' || content.kind === 'vas.data';
}
