import type {
  MessagingPolicy,
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

/** Nobody who said no is written to, on any channel. */
export class OptedOutPolicy implements MessagingPolicy {
  readonly name = 'opted-out';
  readonly scope: PolicyScope = { recipients: 'refused' };

  async decide({ items }: PolicySlice): Promise<Verdicts> {
    const verdicts = new Map<number, Verdict>();
    items.forEach(({ facts }, index) => {
      if (facts.suppressed) verdicts.set(index, SUPPRESSED);
      else if (facts.consent === 'opted_out') verdicts.set(index, OPTED_OUT);
    });
    return verdicts;
  }
}
