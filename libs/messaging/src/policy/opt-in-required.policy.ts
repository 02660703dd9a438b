import type {
  MessagingPolicy,
  PolicyScope,
  PolicySlice,
  Verdict,
  Verdicts,
} from '../ports/messaging-policy.js';
import { confirmsOptOut } from './opted-out.policy.js';

const DENIED: Verdict = {
  decision: 'deny',
  code: 'opt_in_required',
  reason: 'has not opted in to WhatsApp messages',
};

/** WhatsApp is only for those who opted in (interface section 4.2). */
export class OptInRequiredPolicy implements MessagingPolicy {
  readonly name = 'opt-in-required';
  readonly scope: PolicyScope = { channels: ['whatsapp'] };

  async decide({ items }: PolicySlice): Promise<Verdicts> {
    const verdicts = new Map<number, Verdict>();
    items.forEach((item, index) => {
      const { message, facts } = item;
      if (message.channel !== 'whatsapp' || facts.consent === 'opted_in') return;
      if (!confirmsOptOut(item)) verdicts.set(index, DENIED);
    });
    return verdicts;
  }
}
