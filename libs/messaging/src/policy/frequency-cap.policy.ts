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
import type { MessagingSettings } from '../ports/messaging-settings.js';
import type { RecentSends } from '../store/reads/recent-sends.js';
import { retryWhileUnavailable } from '../store/database/retry.js';

const DENIED: PolicyDecision = {
  decision: 'deny',
  code: 'frequency_capped',
  reason: 'was sent as many messages of this category as the cap allows',
};

/** A cap on one channel's messages of one category. */
interface Cap {
  readonly channel: string;
  /** The output of `ChannelRegistry.capCategoryOf()`. */
  readonly category: string;
  readonly max: number;
  /** Milliseconds. */
  readonly per: number;
}

/** Checked caps by channel. @throws MessagingConfigError naming the option */
export function capsOf(
  caps: NonNullable<MessagingSettings['policy']['frequencyCap']>,
  channels: ChannelRegistry,
): Cap[] {
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

/**
 * Denies a recipient more than `max` messages of a category in any window of `per`. The store
 * counts messages that may have left, with one query per cap; of several messages in one slice the
 * first ones pass. The confirmation of an opt-out always passes.
 */
export class FrequencyCapPolicy implements MessagingPolicy {
  readonly name = 'frequency-cap';
  readonly scope: PolicyScope;

  constructor(
    private readonly channels: Pick<ChannelRegistry, 'capCategoryOf'>,
    private readonly caps: readonly Cap[],
    private readonly recent: RecentSends,
  ) {
    const capped = new Set(caps.map(({ channel }) => channel));
    this.scope = { channels: [...capped], recipients: 'unread' };
  }

  async decide(slice: PolicySlice): Promise<PolicyDecisions> {
    const { items } = slice;
    const decisions = new Map<number, PolicyDecision>();
    for (const cap of this.caps) {
      const places = [...items.keys()].filter((place) => this.#counts(cap, items[place]));
      if (places.length > 0) await this.#apply(cap, slice, places, decisions);
    }
    return decisions;
  }

  async #apply(
    { max, per, ...counted }: Cap,
    { items, now, stage, manager }: PolicySlice,
    places: readonly number[],
    decisions: Map<number, PolicyDecision>,
  ): Promise<void> {
    const people = places.map((place) => {
      const { message, recipient } = items[place] as PolicyItem;
      return { tenant: message.tenant, recipient: addressKey(recipient), batchId: message.batchId };
    });
    const read = () => this.recent.batchesTo(people, counted, now - per, manager);
    const sent = await (stage === 'send' && !manager ? retryWhileUnavailable(read) : read());
    for (const [index, place] of places.entries()) {
      const { tenant, recipient, batchId } = people[index] as (typeof people)[number];
      const key = `${recipient} ${tenant}`;
      const batches = sent.get(key) ?? new Set<string>();
      // A batch has each recipient once, so the batch identifies the message.
      const own = batchId ?? `place ${place}`;
      const others = batches.size - (batches.has(own) ? 1 : 0);
      if (others >= max) decisions.set(place, DENIED);
      else sent.set(key, batches.add(own));
    }
  }

  #counts({ channel, category }: Cap, item: PolicyItem | undefined): boolean {
    if (item?.message.channel !== channel) return false;
    const { content } = item.message;
    const confirms = content.kind === 'text' && content.confirms !== undefined;
    return !confirms && this.channels.capCategoryOf(channel, content) === category;
  }
}
