import { addressKey } from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import type {
  MessagingPolicy,
  PolicyDecision,
  PolicyDecisions,
  PolicyItem,
  PolicyScope,
  PolicySlice,
} from '../ports/messaging-policy.js';
import type { MessagingSettings } from '../ports/messaging-options.js';
import type { CountedCategory, RecentSends } from '../store/reads/recent-sends.js';
import { retryWhileUnavailable } from '../store/database/retry.js';

const DENIED: PolicyDecision = {
  decision: 'deny',
  code: 'frequency_capped',
  reason: 'was sent as many messages of this category as the cap allows',
};

type CapsByCategory = NonNullable<MessagingSettings['policy']['frequencyCap']>;

/** A cap on one channel's messages of one category; `per` in milliseconds. */
interface Cap extends CountedCategory {
  readonly max: number;
  readonly per: number;
}

/**
 * Denies a recipient more than `max` messages of a category in any window of `per`. Messages that
 * may have left count (one query per cap); in a slice the first pass. Opt-out confirmations pass.
 */
export class FrequencyCapPolicy implements MessagingPolicy {
  readonly name = 'frequency-cap';
  readonly scope: PolicyScope;
  readonly #caps: readonly Cap[];

  /** @throws MessagingConfigError naming the option */
  constructor(
    private readonly channels: ChannelRegistry,
    caps: CapsByCategory,
    private readonly recent: RecentSends,
  ) {
    this.#caps = capsOf(caps, channels);
    const capped = new Set(this.#caps.map(({ channel }) => channel));
    this.scope = { channels: [...capped], recipients: 'unread' };
  }

  async decide({ items, now, stage, manager }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    for (const { max, per, ...counted } of this.#caps) {
      const places = [...items.keys()].filter((n) => this.#counts(counted, items[n] as PolicyItem));
      if (places.length === 0) continue;
      const people = places.map((place) => {
        const { message, recipient } = items[place] as PolicyItem;
        const { tenant, batchId } = message;
        // A batch has each recipient once, so the batch identifies the message.
        return { tenant, recipient: addressKey(recipient), own: batchId ?? `place ${place}` };
      });
      const read = () => this.recent.batchesTo(people, counted, now - per, manager);
      const sent = await (stage === 'send' && !manager ? retryWhileUnavailable(read) : read());
      people.forEach(({ tenant, recipient, own }, index) => {
        const key = `${recipient} ${tenant}`;
        const batches = sent.get(key) ?? new Set<string>();
        const others = batches.size - (batches.has(own) ? 1 : 0);
        if (others >= max) decisions.set(places[index] as number, DENIED);
        else sent.set(key, batches.add(own));
      });
    }
    return decisions;
  }

  #counts({ channel, category }: CountedCategory, item: PolicyItem): boolean {
    if (item.message.channel !== channel) return false;
    const { content } = item.message;
    const confirms = content.kind === 'text' && content.confirms !== undefined;
    return !confirms && this.channels.capCategoryOf(channel, content) === category;
  }
}

function capsOf(caps: CapsByCategory, channels: ChannelRegistry): Cap[] {
  const known = channels.all.flatMap(({ name, pricing }) =>
    (pricing?.categories ?? [name]).map((category) => ({ channel: name, category })),
  );
  return Object.entries(caps).flatMap(([category, cap]) => {
    const capped = known.filter((one) => one.category === category);
    if (capped.length === 0)
      throw new MessagingConfigError(
        `policy.frequencyCap.${category}: must be one of ${[...new Set(known.map((one) => one.category))].join(', ')}`,
      );
    return capped.map((one) => ({ ...one, ...cap }));
  });
}
