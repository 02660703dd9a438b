import type { MessageCategory } from '../../message/category.js';
import { MessagingConfigError } from '../../message/errors.js';
import { type Duration, milliseconds } from '../../ports/duration.js';
import { type PriceList, type RateCard, rateCardOf } from '../../ports/rate-card.js';

/** Options of {@link simulator}. */
export interface SimulatorOptions {
  /** From the acceptance to the report, at least; up to three times as long, by recipient. @default '50ms' */
  readonly reportDelay?: Duration;
  /** Recipients one submission may carry. @default 1000 */
  readonly maxRecipients?: number;
  /** How long a submission may be repeated under its id; 0: never. @default '20h' */
  readonly idempotencyWindow?: Duration;
  /** From the delivery to the reply of a `…9910` on WhatsApp. @default '1s' */
  readonly replyDelay?: Duration;
  /** What WhatsApp answers name as the cost. @default they name none */
  readonly rateCard?: RateCard | PriceList;
  /** Categories of WhatsApp templates that do not come with one. @default utility */
  readonly categories?: Readonly<Record<string, MessageCategory>>;
  /** Number that WhatsApp messages without one are sent from. @default '2348000000001' */
  readonly whatsAppNumber?: string;
}

/** The options checked, defaults filled in, durations in milliseconds. */
export interface SimulatorSettings {
  readonly reportDelay: number;
  readonly maxRecipients: number;
  readonly idempotencyWindow: number;
  readonly replyDelay: number;
  readonly rateCard: RateCard;
  readonly categories: Readonly<Record<string, MessageCategory>>;
  readonly whatsAppNumber: string;
}

/** @throws MessagingConfigError naming the option and the remedy. */
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
