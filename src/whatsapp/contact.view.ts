import type { Contact } from '@dundun/messaging';

/** A contact on the wire. */
export interface ContactAnswer {
  readonly id: string;
  readonly phone: string | null;
  readonly bsuid: string | null;
  readonly name: string | null;
  readonly opt_in: {
    readonly status: 'opted_in' | 'opted_out' | 'none';
    readonly at: string | null;
    readonly source: string | null;
  };
  /** Until then a free text may be sent; `null`: no window is open. */
  readonly window_expires_at: string | null;
  readonly groups: readonly string[];
}

/** Milliseconds a window stays open after the customer wrote (interface section 3.1). */
const WINDOW = 24 * 60 * 60 * 1_000;

/**
 * @param sender the account's WhatsApp number, whose window it is
 * @param now epoch milliseconds
 */
export function contactAnswer(
  contact: Contact,
  sender: string | undefined,
  now: number,
): ContactAnswer {
  const { id, phone, bsuid, name, groups, consents, lastInbound } = contact;
  const consent = consents.whatsapp;
  const wrote = sender === undefined ? undefined : lastInbound[sender]?.getTime();
  const expires = wrote === undefined ? 0 : wrote + WINDOW;
  return {
    id,
    phone,
    bsuid,
    name,
    opt_in: {
      status: consent?.state ?? 'none',
      at: consent?.at.toISOString() ?? null,
      source: consent?.source ?? null,
    },
    window_expires_at: expires > now ? new Date(expires).toISOString() : null,
    groups,
  };
}
