/** When a message is charged: once a carrier has it, or once it has arrived. */
export const CHARGE_AT = ['sent', 'delivered'] as const;

export type ChargeAt = (typeof CHARGE_AT)[number];

/** What becomes of the reservation of a message whose end stays unknown. */
export const UNSETTLED = ['release', 'charge'] as const;

export type Unsettled = (typeof UNSETTLED)[number];

/** `open`: its price is reserved. `released`: it costs nothing. */
export type ChargeState = 'open' | 'charged' | 'released';

export interface ChargedMessage {
  readonly channel: string;
  readonly status: string;
  /** Number of the statuses that the message has had; 1: no carrier has confirmed it before. */
  readonly statuses: number;
}

/** Statuses of messages that no carrier took, or that a carrier took back. */
const REFUSED = new Set(['rejected', 'failed', 'cancelled', 'reversed', 'no_answer', 'busy']);

/** Statuses of messages that a carrier took and that did not arrive. */
const LOST = new Set(['undelivered', 'expired', 'bounced']);

const ARRIVED = new Set(['delivered', 'read', 'complained', 'completed']);

/** Channels whose messages are charged when they have arrived, whatever the account's rule. */
const AT_THE_END = new Set(['voice', 'vas']);

/** Statuses before the answer of a carrier. */
const BEFORE = new Set(['scheduled', 'queued', 'sending', 'unknown']);

/**
 * The charge of a message by its status alone, so that reports in any order lead to the same sum.
 * An `expired` message had left where it was `sent` before.
 */
export function chargeStateOf(
  { channel, status, statuses }: ChargedMessage,
  rule: ChargeAt,
): ChargeState {
  if (REFUSED.has(status)) return 'released';
  if (ARRIVED.has(status)) return 'charged';
  if (BEFORE.has(status)) return 'open';
  const isAtTheEnd = rule === 'delivered' || AT_THE_END.has(channel);
  if (LOST.has(status))
    return isAtTheEnd || (status === 'expired' && statuses < 2) ? 'released' : 'charged';
  return isAtTheEnd ? 'open' : 'charged';
}
