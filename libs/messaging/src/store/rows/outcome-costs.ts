import type { ChannelRegistry } from '../../message/channel-registry.js';
import { STATUS_RANK } from '../../message/status.js';
import type { ProviderCosts } from '../../ports/provider-costs.js';
import type { SpentAmount } from '../../ports/spend-guard.js';

/** Statuses of messages that no provider took. */
const REFUSED: readonly number[] = [
  STATUS_RANK.failed,
  STATUS_RANK.rejected,
  STATUS_RANK.cancelled,
];

/** What providers charge for messages that they have taken, by the option `prices`. */
export class OutcomeCosts {
  constructor(
    private readonly channels: ChannelRegistry,
    private readonly costs: ReadonlyMap<string, ProviderCosts>,
  ) {}

  /** Digits of a number that its cost depends on. */
  get digits(): number {
    return Math.max(0, ...[...this.costs.values()].map(({ digits }) => digits));
  }

  /**
   * Of one message. Calls and orders cost by time and amount: their channels accept with another status
   * than `sent`.
   * @param digits of the recipient's number, else `''` @returns `undefined`: it is not known
   */
  of(provider: string, channel: string, digits: string, parts: number): SpentAmount | undefined {
    const costs = this.costs.get(provider);
    const { currency } = costs ?? {};
    if (currency === undefined || this.channels.find(channel)?.accepted !== 'sent')
      return undefined;
    const amount = costs?.amountOf(digits, parts);
    return amount === undefined ? undefined : { amount, currency };
  }
}

/**
 * Whether a provider has taken a message, by its status alone.
 * @param statuses number of those that it has had: an `expired` message was `sent` before, or never left
 */
export function isTaken(rank: number, statuses: number): boolean {
  if (rank < STATUS_RANK.sent || REFUSED.includes(rank)) return false;
  return rank !== STATUS_RANK.expired || statuses > 1;
}

/** SQL: the same of the message `m`. */
export const IS_TAKEN = `m.status >= ${STATUS_RANK.sent} AND m.status NOT IN (${REFUSED.join(', ')})
  AND (m.status <> ${STATUS_RANK.expired} OR (SELECT count(*) FROM messaging_report t
    WHERE t.batch = m.batch AND t.position = m.position AND t.sequence > 0 AND t.status IS NOT NULL) > 1)`;
