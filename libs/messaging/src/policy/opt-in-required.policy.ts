import type { ChannelRegistry } from '../message/channel-registry.js';
import type {
  MessagingPolicy,
  PolicyDecision,
  PolicyDecisions,
  PolicyScope,
  PolicySlice,
} from '../ports/messaging-policy.js';
import { confirmsOptOut } from './opted-out.policy.js';

/**
 * On channels that require consent, denies recipients without an opt-in (interface section 4.2).
 */
export class OptInRequiredPolicy implements MessagingPolicy {
  readonly name = 'opt-in-required';
  readonly scope: PolicyScope;
  readonly #denials: ReadonlyMap<string, PolicyDecision>;

  constructor(channels: ChannelRegistry) {
    const required = channels.namesWhere(({ consent }) => consent?.required);
    this.scope = { channels: required };
    this.#denials = new Map(
      required.map((channel) => {
        const { title = channel } = channels.get(channel);
        const reason = `has not opted in to ${title} messages`;
        return [channel, { decision: 'deny', code: 'opt_in_required', reason }];
      }),
    );
  }

  async decide({ items }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    items.forEach((item, index) => {
      const denied = this.#denials.get(item.message.channel);
      if (denied && item.facts.consent !== 'opted_in' && !confirmsOptOut(item))
        decisions.set(index, denied);
    });
    return decisions;
  }
}
