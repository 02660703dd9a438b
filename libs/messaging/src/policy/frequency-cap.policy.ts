import { retryWhileUnavailable } from '../store/unavailable-retry.js';
import type { RecentSends } from '../store/recent-sends.js';
import { MessagingConfigError } from '../message/errors.js';
import { milliseconds } from '../ports/duration.js';
import type {
  MessagingPolicy,
  PolicyItem,
  PolicyMessage,
  PolicyScope,
  PolicySlice,
  Verdict,
  Verdicts,
} from '../ports/messaging-policy.js';
import type { CappedCategory, FrequencyCapOptions } from '../ports/policy-options.js';

const DENIED: Verdict = {
  decision: 'deny',
  code: 'frequency_capped',
  reason: 'was sent as many messages of this category as the cap allows',
};

const CATEGORIES: readonly string[] = [
  'sms',
  'utility',
  'marketing',
  'authentication',
  'service',
] satisfies CappedCategory[];

interface Cap {
  readonly category: CappedCategory;
  readonly max: number;
  /** Milliseconds. */
  readonly per: number;
}

/** A template of which nobody knows what it is counts as what people want least. */
function cappedCategory({ channel, content }: PolicyMessage): CappedCategory | undefined {
  if (channel === 'sms') return 'sms';
  if (channel !== 'whatsapp') return undefined;
  return content.kind === 'template' ? (content.category ?? 'marketing') : 'service';
}

/** The caps, checked. @throws MessagingConfigError naming the option */
export function capsOf(options: FrequencyCapOptions): Cap[] {
  return Object.entries(options).map(([category, { max, per }]) => {
    const option = `policy.frequencyCap.${category}`;
    if (!CATEGORIES.includes(category))
      throw new MessagingConfigError(`${option}: must be one of ${CATEGORIES.join(', ')}`);
    if (!Number.isSafeInteger(max) || max < 1)
      throw new MessagingConfigError(`${option}.max: must be a whole number of at least 1`);
    return { category: category as CappedCategory, max, per: milliseconds(`${option}.per`, per) };
  });
}

/**
 * Nobody gets more than `max` messages of a category in any window of `per`. What has left or may have
 * left counts, by the store, in one query per category; of several in one slice, the first go. A
 * confirmation of an opt-out is not counted against.
 */
export class FrequencyCapPolicy implements MessagingPolicy {
  readonly name = 'frequency-cap';
  readonly scope: PolicyScope;

  constructor(
    private readonly caps: readonly Cap[],
    private readonly recent: RecentSends,
  ) {
    const channels = caps.map(({ category }) => (category === 'sms' ? 'sms' : 'whatsapp'));
    this.scope = { channels: [...new Set(channels)], recipients: 'unread' };
  }

  async decide(slice: PolicySlice): Promise<Verdicts> {
    const { items } = slice;
    const verdicts = new Map<number, Verdict>();
    for (const cap of this.caps) {
      const places = [...items.keys()].filter((place) => concerns(cap, items[place] as PolicyItem));
      if (places.length > 0) await this.#judge(cap, slice, places, verdicts);
    }
    return verdicts;
  }

  async #judge(
    { category, max, per }: Cap,
    { items, now, stage, manager }: PolicySlice,
    places: readonly number[],
    verdicts: Map<number, Verdict>,
  ): Promise<void> {
    const people = places.map((place) => {
      const { message, recipient } = items[place] as PolicyItem;
      return { tenant: message.tenant, recipient };
    });
    const read = () => this.recent.batchesTo(people, category, now - per, manager);
    const sent = await (stage === 'send' && !manager ? retryWhileUnavailable(read) : read());
    for (const place of places) {
      const { message, recipient } = items[place] as PolicyItem;
      const key = `${recipient} ${message.tenant}`;
      const batches = sent.get(key) ?? new Set<string>();
      // A recipient is in a batch once, so that the batch names the message.
      const own = message.batchId ?? `place ${place}`;
      const others = batches.size - (batches.has(own) ? 1 : 0);
      if (others >= max) verdicts.set(place, DENIED);
      else sent.set(key, batches.add(own));
    }
  }
}

function concerns({ category }: Cap, { message }: PolicyItem): boolean {
  const { content } = message;
  const confirms = content.kind === 'text' && content.confirms !== undefined;
  return !confirms && cappedCategory(message) === category;
}
