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
const SUPPRESSED: PolicyDecision = {
  decision: 'deny',
  code: 'opted_out',
  reason: 'is on the suppression list',
};

/** Whether the message confirms the recipient's opt-out. */
export function confirmsOptOut({ message: { content }, facts }: PolicyItem): boolean {
  return (
    content.kind === 'text' && content.confirms === 'opted_out' && facts.consent === 'opted_out'
  );
}

/** Denies recipients that refused the channel or category, or are suppressed. */
export class OptedOutPolicy implements MessagingPolicy {
  readonly name = 'opted-out';
  readonly scope: PolicyScope = { recipients: 'refused' };

  async decide({ items }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    items.forEach((item, index) => {
      if (item.facts.suppressed) decisions.set(index, SUPPRESSED);
      else if (item.facts.consent === 'opted_out' && !confirmsOptOut(item))
        decisions.set(index, OPTED_OUT);
    });
    return decisions;
  }
}
