import type { MessageCategory } from '../../message/category.js';
import { MessagingConfigError } from '../../message/errors.js';
import { type Duration, milliseconds } from '../../ports/duration.js';
import { type PriceList, type RateCard, rateCardOf } from '../../ports/rate-card.js';

/** Options of {@link simulator}. */
export interface SimulatorOptions {
  /**
   * Shortest time from the acceptance to the report; up to three times as long, depending on the recipient.
   * @default '50ms'
   */
  readonly reportDelay?: Duration;
  /** Most recipients of one submission. @default 1000 */
  readonly maxRecipients?: number;
  /** How long a submission may be repeated under its id; 0: never. @default '20h' */
  readonly idempotencyWindow?: Duration;
  /** Time from the delivery to the reply of a `…9910` on WhatsApp. @default '1s' */
  readonly replyDelay?: Duration;
  /** Prices that WhatsApp answers report as the cost. @default no cost */
  readonly rateCard?: RateCard | PriceList;
  /** Categories of WhatsApp templates for messages without one. @default utility */
  readonly categories?: Readonly<Record<string, MessageCategory>>;
  /** Sender number of WhatsApp messages that name none. @default '2348000000001' */
  readonly whatsAppNumber?: string;
}

/** The checked options with their defaults; durations in milliseconds. */
export interface SimulatorSettings {
  readonly reportDelay: number;
  readonly maxRecipients: number;
  readonly idempotencyWindow: number;
  readonly replyDelay: number;
  readonly rateCard: RateCard;
  readonly categories: Readonly<Record<string, MessageCategory>>;
  readonly whatsAppNumber: string;
}

/** @throws MessagingConfigError naming the option and the remedy */
export function simulatorSettings(options: SimulatorOptions): SimulatorSettings {
  const { maxRecipients = 1_000, categories = {}, whatsAppNumber = '2348000000001' } = options;
  if (!Number.isSafeInteger(maxRecipients) || maxRecipients < 1)
    throw new MessagingConfigError('maxRecipients: must be a whole number from 1');
  return {
    reportDelay: milliseconds('reportDelay', options.reportDelay ?? '50ms'),
    maxRecipients,
    idempotencyWindow: milliseconds('idempotencyWindow', options.idempotencyWindow ?? '20h'),
    replyDelay: milliseconds('replyDelay', options.replyDelay ?? '1s'),
    rateCard: rateCardOf('rateCard', options.rateCard),
    categories,
    whatsAppNumber,
  };
}
