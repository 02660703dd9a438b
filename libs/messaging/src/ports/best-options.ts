import { MessagingConfigError } from '../message/errors.js';
import {
  type Duration,
  duration,
  group,
  type OptionReader,
  type ReadersOf,
  wholeNumber,
  withDefault,
} from './option-schema.js';

/**
 * How `best()` compares providers: by the messages that they got last, of one channel and country. Shares
 * are from 0 to 1.
 */
export interface BestOptions {
  /** Messages that were accepted longer ago do not count; 15 minutes to 24 hours. @default '3h' */
  readonly window?: Duration;
  /** A process reads the counts at most so often; 10 seconds to 10 minutes. @default '1m' */
  readonly refresh?: Duration;
  /**
   * A provider with fewer messages is not compared. One with more is judged by its newest
   * messages, five times as many. @default 100
   */
  readonly minSamples?: number;
  /** Share of submissions that leave by the other providers, so that these stay known; 0 to 0.5. @default 0.05 */
  readonly explore?: number;
  /** Another provider leads once its score is higher by so much; 0 to 0.5. @default 0.03 */
  readonly margin?: number;
  /**
   * What a minute of the time in which 95 of 100 deliveries are reported takes from the delivered
   * share, for at most 10 minutes; 0 to 0.1. @default 0.01
   */
  readonly latency?: number;
}

function within(least: number, most: number): OptionReader<number> {
  return (name, value) => {
    if (typeof value === 'number' && value >= least && value <= most) return value;
    throw new MessagingConfigError(`${name}: must be a number from ${least} to ${most}`);
  };
}

function period(least: Duration, most: Duration): OptionReader<number, Duration> {
  const [from, to] = [duration()('', least), duration()('', most)];
  return (name, value) => {
    const read = duration()(name, value);
    if (read >= from && read <= to) return read;
    throw new MessagingConfigError(`${name}: must be '${least}' to '${most}'`);
  };
}

export const readBest = group({
  window: withDefault(period('15m', '24h'), '3h'),
  refresh: withDefault(period('10s', '10m'), '1m'),
  minSamples: withDefault(wholeNumber, 100),
  explore: withDefault(within(0, 0.5), 0.05),
  margin: withDefault(within(0, 0.5), 0.03),
  latency: withDefault(within(0, 0.1), 0.01),
} satisfies ReadersOf<BestOptions>);

export type BestSettings = ReturnType<typeof readBest>;
