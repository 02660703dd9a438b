import type { ChannelRegistry } from '../message/channel-registry.js';
import type {
  MessagingPolicy,
  PolicyDecision,
  PolicyDecisions,
  PolicyItem,
  PolicyScope,
  PolicySlice,
} from '../ports/messaging-policy.js';

const OPTED_OUT: PolicyDecision = {
  decision: 'deny',
  code: 'opted_out',
  reason: 'has opted out of this channel',
};
const SUPPRESSED = { ...OPTED_OUT, reason: 'is on the suppression list' } as const;
/** On channels that suppress by their own statuses. */
const SUPPRESSED_BY_STATUS = { ...SUPPRESSED, code: 'suppressed' } as const;

/** Denies recipients without an opt-in on channels that require it. */
export class OptInRequiredPolicy implements MessagingPolicy {
  readonly name = 'opt-in-required';
  readonly scope: PolicyScope;

  /** @param others channels that need an opt-in although they do not say so themselves */
  constructor(
    private readonly registry: ChannelRegistry,
    private readonly others: readonly string[],
  ) {
    const required = registry.namesWhere(({ consent }) => consent?.required);
    this.scope = { channels: [...new Set([...required, ...others])] };
  }

  async decide({ items }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    items.forEach((item, index) => {
      const { channel, category } = item.message;
      const required =
        this.others.includes(channel) || this.registry.get(channel).consent?.required;
      if (Array.isArray(required) && !required.includes(category)) return;
      if (item.facts.consent === 'opted_in' || confirmsOptOut(item)) return;
      const reason = `has not opted in to ${this.registry.get(channel).title ?? channel} messages`;
      const isOut = item.facts.consent === 'opted_out';
      decisions.set(
        index,
        isOut ? OPTED_OUT : { decision: 'deny', code: 'opt_in_required', reason },
      );
    });
    return decisions;
  }
}

/** Denies recipients that refused the channel or category, or are suppressed. */
export class OptedOutPolicy implements MessagingPolicy {
  readonly name = 'opted-out';
  readonly scope: PolicyScope = { recipients: 'refused' };

  constructor(private readonly registry: ChannelRegistry) {}

  async decide({ items }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    items.forEach((item, index) => {
      const { channel, category } = item.message;
      const { suppression, consent } = this.registry.find(channel) ?? {};
      const code = consent?.suppressedAs?.[category];
      if (item.facts.suppressed)
        decisions.set(
          index,
          code !== undefined
            ? { ...SUPPRESSED, code }
            : suppression
              ? SUPPRESSED_BY_STATUS
              : SUPPRESSED,
        );
      else if (item.facts.consent === 'opted_out' && !confirmsOptOut(item))
        decisions.set(index, OPTED_OUT);
    });
    return decisions;
  }
}

function confirmsOptOut({ message: { content }, facts }: PolicyItem): boolean {
  return (
    content.kind === 'text' && content.confirms === 'opted_out' && facts.consent === 'opted_out'
  );
}
