import type {
  MessagingPolicy,
  PolicyItem,
  PolicyScope,
  PolicySlice,
  Verdict,
  Verdicts,
} from '../ports/messaging-policy.js';

const OPTED_OUT: Verdict = {
  decision: 'deny',
  code: 'opted_out',
  reason: 'has opted out of this channel',
};
const SUPPRESSED: Verdict = {
  decision: 'deny',
  code: 'opted_out',
  reason: 'is on the suppression list',
};

/** The one answer to a STOP. */
export function confirmsOptOut({ message: { content }, facts }: PolicyItem): boolean {
  return (
    content.kind === 'text' && content.confirms === 'opted_out' && facts.consent === 'opted_out'
  );
}

/** Nobody who said no is written to, on any channel. */
export class OptedOutPolicy implements MessagingPolicy {
  readonly name = 'opted-out';
  readonly scope: PolicyScope = { recipients: 'refused' };

  async decide({ items }: PolicySlice): Promise<Verdicts> {
    const verdicts = new Map<number, Verdict>();
    items.forEach((item, index) => {
      if (item.facts.suppressed) verdicts.set(index, SUPPRESSED);
      else if (item.facts.consent === 'opted_out' && !confirmsOptOut(item))
        verdicts.set(index, OPTED_OUT);
    });
    return verdicts;
  }
}
