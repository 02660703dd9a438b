import type { MessageCategory } from '../../message/category.js';
import type { Duration } from '../../ports/duration.js';
import {
  duration,
  oneOf,
  record,
  text,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import { type PriceList, type RateCard, rateCardOf } from '../../ports/rate-card.js';
import { providerOptions } from '../provider-options.js';

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

/** @throws MessagingConfigError naming the option and the remedy */
export const simulatorSettings = providerOptions<SimulatorOptions>()({
  reportDelay: withDefault(duration(), '50ms'),
  maxRecipients: withDefault(wholeNumber(), 1_000),
  idempotencyWindow: withDefault(duration(), '20h'),
  replyDelay: withDefault(duration(), '1s'),
  rateCard: (option, value) => rateCardOf(option, value as RateCard | PriceList | undefined),
  categories: record(oneOf('utility', 'marketing', 'authentication', 'service')),
  whatsAppNumber: withDefault(text, '2348000000001'),
});

/** The checked options with their defaults; durations in milliseconds. */
export type SimulatorSettings = ReturnType<typeof simulatorSettings>;
