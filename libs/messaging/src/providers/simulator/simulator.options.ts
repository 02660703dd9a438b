import type { MessageCategory } from '../../message/message.js';
import {
  duration,
  group,
  oneOf,
  type OptionReader,
  type OptionsOf,
  record,
  text,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import { type PriceList, type RateCard, rateCardOf } from '../../ports/rate-card.js';

const rateCard: OptionReader<RateCard, RateCard | PriceList | undefined> = (option, value) =>
  rateCardOf(option, value as RateCard | PriceList | undefined);

const category = oneOf<MessageCategory>('utility', 'marketing', 'authentication', 'service');

const SIMULATOR = {
  /** Least time from acceptance to report; up to threefold, by recipient. @default '50ms' */
  reportDelay: withDefault(duration(), '50ms'),
  /** Most recipients of one submission. @default 1000 */
  maxRecipients: withDefault(wholeNumber, 1_000),
  /** How long a submission may be repeated under its id; 0: never. @default '20h' */
  idempotencyWindow: withDefault(duration(), '20h'),
  /** Time from the delivery to the reply of a `…9910` on WhatsApp. @default '1s' */
  replyDelay: withDefault(duration(), '1s'),
  /** Prices that WhatsApp answers report as the cost. @default no cost */
  rateCard,
  /** Categories of WhatsApp templates for messages without one. @default utility */
  categories: withDefault(record(category), {}),
  /** Sender number of WhatsApp messages that name none. @default '2348000000001' */
  whatsAppNumber: withDefault(text, '2348000000001'),
};

/** Options of {@link simulator}. */
export type SimulatorOptions = OptionsOf<typeof SIMULATOR>;

export const simulatorSettings = group(SIMULATOR);

/** The checked options with their defaults; durations in milliseconds. */
export type SimulatorSettings = ReturnType<typeof simulatorSettings>;
