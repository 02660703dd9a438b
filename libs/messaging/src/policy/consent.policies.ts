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

/** Denies recipients without an opt-in on channels that require it (interface section 4.2). */
export class OptInRequiredPolicy implements MessagingPolicy {
  readonly name = 'opt-in-required';
  readonly scope: PolicyScope;

  constructor(private readonly registry: ChannelRegistry) {
    this.scope = { channels: registry.namesWhere(({ consent }) => consent?.required) };
  }

  async decide({ items }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    items.forEach((item, index) => {
      const { channel, category } = item.message;
      const required = this.registry.get(channel).consent?.required ?? false;
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
