import type { Channel, MessageCategory } from '../message/message.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import type { OptionReader } from './option-schema.js';
import type { Token } from './token.js';

/** A unit to price: an SMS part, a WhatsApp message of a category, a minute of a call. */
export interface PricedItem {
  readonly tenant: string;
  readonly channel: Channel;
  /** Price category; `null` where the channel has none. */
  readonly category: string | null;
  /** Address key of the recipient; `null` where the price is for no particular recipient. */
  readonly recipient: string | null;
}

export interface Price {
  /** Decimal number, such as `'0.0125'`. */
  readonly amount: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Seconds of the first and of each further block that is billed. @default `voice.billing` */
  readonly billing?: string;
}

/** Seconds of the first and of each further block of a call; a started block is billed. */
export interface BillingIncrement {
  readonly first: number;
  readonly next: number;
}

const INCREMENT = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/;

/** Reads `60/60`, `6/6`, `1/1` or `30/6`. @throws MessagingConfigError naming `option` */
export const billingIncrement: OptionReader<BillingIncrement, string> = (option, value) => {
  const [, first, next] = (typeof value === 'string' && INCREMENT.exec(value)) || [];
  if (first === undefined || next === undefined)
    throw new MessagingConfigError(
      `${option}: must be the seconds of the first and of each further block; write '60/60', '6/6' or '1/1'`,
    );
  return { first: Number(first), next: Number(next) };
};

export interface RateCard {
  /** Price of one item; `undefined` where it is not known. */
  price(item: PricedItem): Price | undefined | Promise<Price | undefined>;
}

/** A rate card with the same prices for all recipients. */
export interface PriceList {
  readonly currency: string;
  /** Price of one part. */
  readonly sms?: string;
  readonly whatsapp?: Readonly<Partial<Record<MessageCategory, string>>>;
  /** Another registered channel: the price of one part, or prices by category. */
  readonly [channel: string]: string | Readonly<Partial<Record<string, string>>> | undefined;
}

export const MESSAGING_RATE_CARD = Symbol('MESSAGING_RATE_CARD') as Token<RateCard>;

const AMOUNT = /^\d{1,15}(?:\.\d{1,12})?$/;
const CURRENCY = /^[A-Z]{3}$/;

/**
 * @param channels checks the channels and categories of a price list
 * @throws MessagingConfigError naming the field
 */
export function rateCardOf(
  option: string,
  given: RateCard | PriceList | undefined,
  channels?: ChannelRegistry,
): RateCard {
  if (given === undefined) return { price: () => undefined };
  if (typeof given['price'] === 'function') return given as RateCard;
  const { currency, ...prices } = given as PriceList;
  if (!CURRENCY.test(currency))
    throw new MessagingConfigError(`${option}.currency: must be a code of ISO 4217, such as 'NGN'`);
  const amounts = new Map<string, string | undefined>();
  for (const [channel, price] of Object.entries(prices)) {
    if (channels && !channels.find(channel))
      throw new MessagingConfigError(
        `${option}.${channel}: there is no such channel; known are ${channels.names.join(', ')}`,
      );
    if (typeof price !== 'object') amounts.set(channel, price);
    else
      for (const [category, amount] of Object.entries(price)) {
        const known = channels?.get(channel).pricing?.categories;
        if (known && !known.includes(category))
          throw new MessagingConfigError(
            `${option}.${channel}.${category}: there is no such category`,
          );
        amounts.set(`${channel}.${category}`, amount);
      }
  }
  for (const [field, amount] of amounts)
    if (amount !== undefined) decimalAmount(`${option}.${field}`, amount);
  return {
    price: ({ channel, category }) => {
      const amount = amounts.get(category === null ? channel : `${channel}.${category}`);
      return amount === undefined ? undefined : { amount, currency };
    },
  };
}

/** A price without its currency. @throws MessagingConfigError naming `option` */
export const decimalAmount: OptionReader<string> = (option, value) => {
  if (typeof value === 'string' && AMOUNT.test(value)) return value;
  throw new MessagingConfigError(`${option}: must be a decimal number as a text, such as '0.0125'`);
};

/** Below zero where `a` is less than `b`. */
export function compareAmounts(a: string, b: string): number {
  const digits = Math.max(fractionOf(a), fractionOf(b));
  const [one, other] = [unitsOf(a, digits), unitsOf(b, digits)];
  return one < other ? -1 : Number(one > other);
}

export function times({ amount, currency }: Price, count: number): Price {
  const digits = fractionOf(amount);
  return { amount: decimalOf(unitsOf(amount, digits) * BigInt(count), digits), currency };
}

/** The sum of prices; `undefined` where one is not known, or of another currency. */
export function totalOf(prices: readonly (Price | undefined)[]): Price | undefined {
  const [first] = prices;
  if (!first || prices.some((price) => price?.currency !== first.currency)) return undefined;
  const amounts = prices.map((price) => (price as Price).amount);
  const digits = amounts.reduce((most, amount) => Math.max(most, fractionOf(amount)), 0);
  const sum = amounts.reduce((total, amount) => total + unitsOf(amount, digits), 0n);
  return { amount: decimalOf(sum, digits), currency: first.currency };
}

function fractionOf(amount: string): number {
  return amount.split('.')[1]?.length ?? 0;
}

function unitsOf(amount: string, digits: number): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

function decimalOf(units: bigint, digits: number): string {
  if (digits === 0) return units.toString();
  const padded = units.toString().padStart(digits + 1, '0');
  const cut = padded.length - digits;
  return `${padded.slice(0, cut)}.${padded.slice(cut)}`;
}
