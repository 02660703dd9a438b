import type { CallFacts, VasOrderView } from '@dundun/messaging';
import type { MessageRecord } from '@dundun/messaging/operations';
import { Inject, Injectable } from '@nestjs/common';
import type { Fact } from './api.js';
import { MessagingParts } from './messaging-parts.js';
import { iso } from './query.js';

const DOT = '•';

/** Facts of a message besides its statuses, where its channel has more. */
export interface MessageFacts {
  readonly facts: readonly Fact[];
  readonly cost: string | null;
  readonly currency: string | null;
}

/** Reads the facts of calls and orders. */
@Injectable()
export class FactsReader {
  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  /**
   * @param options.isWhole with the digits that a person pressed
   * @param options.isPriced the rate card has prices of accounts: a call costs what the provider reports
   */
  async of(
    message: MessageRecord,
    { isWhole, isPriced }: { isWhole: boolean; isPriced: boolean },
  ): Promise<MessageFacts> {
    const { channels, voice, vas } = this.parts;
    const { id, batchId, channel, cost, currency } = message;
    const { call, order } = channels.find(channel)?.wire ?? {};
    if (call) {
      const known = (await voice.facts([message])).get(id);
      if (known)
        return {
          facts: factsOfCall(known, isWhole),
          cost: isPriced ? cost : (cost ?? known.cost),
          currency: isPriced ? currency : (currency ?? known.currency),
        };
    }
    if (order) {
      const known = (await vas.findAll([batchId])).get(batchId);
      if (known)
        return {
          facts: factsOfOrder(known),
          cost: cost ?? known.cost,
          currency: currency ?? known.currency,
        };
    }
    return { facts: [], cost, currency };
  }
}

function factsOfCall(facts: CallFacts, isWhole: boolean): Fact[] {
  const { answeredAt, endedAt, duration, billedSeconds, hangupCause, answeredBy, digits } = facts;
  return listed({
    Dialled: facts.attempts === 1 ? 'once' : `${facts.attempts} times`,
    Answered: iso(answeredAt),
    'Answered by': answeredBy,
    Ended: iso(endedAt),
    Duration: duration === null ? null : `${duration} s`,
    Billed: billedSeconds === null ? null : `${billedSeconds} s`,
    'Ended because': hangupCause?.replaceAll('_', ' ') ?? null,
    'Pressed digits': isWhole ? digits : digits && DOT.repeat(digits.length),
  });
}

function factsOfOrder(order: VasOrderView): Fact[] {
  const { amount, currency, deliveredAmount, settlement } = order;
  return listed({
    'Client reference': order.clientReference,
    Product: order.product,
    Amount: `${amount} ${currency}`,
    Arrived: deliveredAmount,
    Network: order.network,
    'Operator’s reference': order.operatorReference,
    Settled: settlement && `as ${settlement.as} by ${settlement.by}`,
    'Settled because': settlement?.note ?? null,
  });
}

function listed(facts: Readonly<Record<string, string | null>>): Fact[] {
  return Object.entries(facts).flatMap(([title, value]) => (value ? [{ title, value }] : []));
}
