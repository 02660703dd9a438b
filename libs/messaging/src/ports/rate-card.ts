import { isMessageCategory, type MessageCategory } from '../message/category.js';
import { MessagingConfigError } from '../message/errors.js';
import type { Channel } from '../message/message.js';

/** What is to be charged for: an SMS part, or a WhatsApp message of a category. */
export interface PricedItem {
  readonly tenant: string;
  readonly channel: Channel;
  /** `null` where the channel has none. */
  readonly category: string | null;
  /** Digits with country code; `null`: nobody in particular. */
  readonly recipient: string | null;
}

export interface Price {
  /** Decimal number, such as `'0.0125'`. */
  readonly amount: string;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** What a message costs. */
export interface RateCard {
  /** `undefined`: nobody knows. */
  price(item: PricedItem): Price | undefined | Promise<Price | undefined>;
}

/** A rate card with one price for everybody. */
export interface PriceList {
  readonly currency: string;
  /** Of one part. */
  readonly sms?: string;
  readonly whatsapp?: Readonly<Partial<Record<MessageCategory, string>>>;
}

export const MESSAGING_RATE_CARD = Symbol('MESSAGING_RATE_CARD');

const AMOUNT = /^\d{1,15}(?:\.\d{1,12})?$/;
const CURRENCY = /^[A-Z]{3}$/;

/** Of `rateCard`; without one nobody knows a price. @throws MessagingConfigError naming the field */
export function rateCardOf(option: string, given: RateCard | PriceList | undefined): RateCard {
  if (given === undefined) return { price: () => undefined };
  if ('price' in given) return given;
  const { currency, sms, whatsapp = {} } = given;
  if (!CURRENCY.test(currency))
    throw new MessagingConfigError(`${option}.currency: must be a code of ISO 4217, such as 'NGN'`);
  const amounts = new Map<string, string | undefined>([['sms', sms]]);
  for (const [category, amount] of Object.entries(whatsapp)) {
    if (!isMessageCategory(category))
      throw new MessagingConfigError(`${option}.whatsapp.${category}: there is no such category`);
    amounts.set(`whatsapp.${category}`, amount);
  }
  for (const [field, amount] of amounts)
    if (amount !== undefined && !AMOUNT.test(amount))
      throw new MessagingConfigError(
        `${option}.${field}: must be a decimal number as a text, such as '0.0125'`,
      );
  return {
    price: ({ channel, category }) => {
      const amount = amounts.get(category === null ? channel : `${channel}.${category}`);
      return amount === undefined ? undefined : { amount, currency };
    },
  };
}

/** The price of several of the same. */
export function times({ amount, currency }: Price, count: number): Price {
  const [whole = '', fraction = ''] = amount.split('.');
  const digits = (BigInt(whole + fraction) * BigInt(count)).toString();
  if (fraction === '') return { amount: digits, currency };
  const padded = digits.padStart(fraction.length + 1, '0');
  const cut = padded.length - fraction.length;
  return { amount: `${padded.slice(0, cut)}.${padded.slice(cut)}`, currency };
}
