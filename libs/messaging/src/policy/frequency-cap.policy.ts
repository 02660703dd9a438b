import type { EntityManager } from 'typeorm';
import { addressKey } from '../message/address.js';
import { addressIdentity } from '../message/phone-identity.js';
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
import { type LearntNumbers, numberKey } from '../contacts/learnt-numbers.js';
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
    private readonly learnt: LearntNumbers,
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
        const key = addressKey(recipient);
        // A batch has each recipient once.
        return { tenant, recipient: key, own: `${batchId ?? `place ${place}`} ${key}` };
      });
      const read = () => this.#sentTo(people, counted, now - per, manager);
      const sent = await (stage === 'send' && !manager ? retryWhileUnavailable(read) : read());
      people.forEach(({ own }, index) => {
        const batches = sent[index] as Set<string>;
        const others = batches.size - (batches.has(own) ? 1 : 0);
        if (others >= max) decisions.set(places[index] as number, DENIED);
        else batches.add(own);
      });
    }
    return decisions;
  }

  /** Messages to each person in the order given; numbers of one person share their set. */
  async #sentTo(
    people: readonly { readonly tenant: string; readonly recipient: string }[],
    counted: CountedCategory,
    since: number,
    manager?: EntityManager,
  ): Promise<Set<string>[]> {
    const numbers = people.map(({ tenant, recipient }) => {
      return { tenant, address: addressIdentity(recipient) };
    });
    const learnt = await this.learnt.people(numbers, manager && { manager });
    const all = numbers.map((number) => {
      const { person, numbers: same } = learnt.get(numberKey(number)) ?? {
        person: number.address,
        numbers: [number.address],
      };
      return { tenant: number.tenant, person, same };
    });
    const asked = all.flatMap(({ tenant, same }) =>
      same.map((recipient) => ({ tenant, recipient })),
    );
    const sent = await this.recent.batchesTo(asked, counted, since, manager);
    const byPerson = new Map<string, Set<string>>();
    return all.map(({ tenant, person, same }) => {
      const key = numberKey({ tenant, address: person });
      let batches = byPerson.get(key);
      if (!batches) {
        batches = new Set(
          same.flatMap((address) => [...(sent.get(numberKey({ tenant, address })) ?? [])]),
        );
        byPerson.set(key, batches);
      }
      return batches;
    });
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
