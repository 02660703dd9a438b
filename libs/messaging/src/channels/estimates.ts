import { type SmsParts, smsParts, ucs2Characters } from '../message/sms-parts.js';
import { type RateCard, times } from '../ports/rate-card.js';
import type { MessageCategory } from '../message/category.js';

/** What something would cost; `null`: the rate card does not say. */
export interface CostEstimate {
  /** Decimal number, such as `'0.0125'`. */
  readonly cost: string | null;
  /** ISO 4217 code. */
  readonly currency: string | null;
}

/** What one SMS with this text would take (3GPP TS 23.038). */
export interface SmsEstimate extends SmsParts, CostEstimate {
  /** The characters that make the text UCS-2, each once, the first ten; none in GSM-7. */
  readonly ucs2Characters: readonly string[];
}

/** What one WhatsApp message would cost. */
export interface WhatsAppEstimate extends CostEstimate {
  /** `null`: nobody here knows the template's category. */
  readonly category: MessageCategory | null;
}

export interface EstimateOptions {
  /** @default '' */
  readonly tenant?: string;
  /** Whom it would go to, where that decides the price; digits with country code. */
  readonly to?: string;
}

export async function smsEstimate(
  text: string,
  rates: RateCard,
  { tenant = '', to }: EstimateOptions,
): Promise<SmsEstimate> {
  const recipient = to ?? null;
  const parts = smsParts(text);
  const part = await rates.price({ tenant, channel: 'sms', category: null, recipient });
  const price = part && times(part, parts.parts);
  return {
    ...parts,
    ucs2Characters: ucs2Characters(text),
    cost: price?.amount ?? null,
    currency: price?.currency ?? null,
  };
}

export async function whatsAppEstimate(
  category: MessageCategory | null,
  rates: RateCard,
  { tenant = '', to }: EstimateOptions,
): Promise<WhatsAppEstimate> {
  const recipient = to ?? null;
  const price =
    category === null
      ? undefined
      : await rates.price({ tenant, channel: 'whatsapp', category, recipient });
  return { category, cost: price?.amount ?? null, currency: price?.currency ?? null };
}
