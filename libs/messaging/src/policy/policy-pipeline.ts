import type { FactsByPlace, RecipientFactsReader } from '../contacts/recipient-facts.js';
import type { Sql, Transaction } from '../store/store-database.js';
import { retryWhileUnavailable } from '../store/unavailable-retry.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { Channel } from '../message/message.js';
import type { Clock } from '../ports/clock.js';
import type {
  MessagingPolicy,
  PolicyScope,
  PolicySlice,
  Verdict,
} from '../ports/messaging-policy.js';
import { type Addressed, JudgedSlice } from './judged-slice.js';
import { after, type Ruling } from './ruling.js';

/** Facts are read for so many at once. */
const SLICE = 10_000;
const EVERYTHING: PolicyScope = {};
const NOBODY_KNOWN: FactsByPlace = new Map();

/**
 * Asks every policy in order about a slice, with the facts of all its recipients read in one query.
 * The first denial counts, the latest deferral does, and what a policy puts in the content's place is
 * what the next ones judge. What is outside a policy's scope costs it nothing.
 */
export class PolicyPipeline {
  constructor(
    /** In the order they are asked; known once every module is. */
    private readonly policiesOf: () => readonly MessagingPolicy[],
    private readonly facts: RecipientFactsReader,
    private readonly clock: Clock,
    private readonly registry: Pick<ChannelRegistry, 'consentCategoryOf'>,
  ) {}

  get policies(): readonly MessagingPolicy[] {
    return this.policiesOf();
  }

  /** Known without asking: no policy has anything to say about a send over this channel. */
  isSilent(channel: Channel): boolean {
    for (const { scope = EVERYTHING } of this.policies)
      if (
        (!scope.channels || scope.channels.includes(channel)) &&
        !(scope.recipients === 'refused' && this.facts.presumesEmpty())
      )
        return false;
    return true;
  }

  /** Rulings by the place of the recipient among all of `asked`. */
  async review(
    asked: readonly Addressed[],
    stage: PolicySlice['stage'],
    tx?: Transaction,
  ): Promise<Map<number, Ruling>> {
    const rulings = new Map<number, Ruling>();
    const policies = this.policies.filter(({ scope }) => concerns(scope, asked));
    if (policies.length === 0) return rulings;
    const within = tx && { manager: tx.manager };
    let from = 0;
    for (const parts of slicesOf(asked)) {
      // At dispatch a second-old "nobody" will not do.
      const read = () => this.#read(parts, policies, stage !== 'send', tx);
      const facts = await (stage === 'send' && !tx ? retryWhileUnavailable(read) : read());
      const slice = new JudgedSlice(parts, facts, this.registry);
      const now = this.clock.now();
      for (const policy of policies)
        await rule(policy, slice, { stage, now, ...within }, (place, verdict) => {
          const ruling = after(rulings.get(from + place), verdict, policy.name);
          if (ruling) rulings.set(from + place, ruling);
        });
      from += slice.length;
    }
    return rulings;
  }

  /** What each policy says of each recipient, in order, whatever the others say. */
  async explain({
    message,
    recipients,
  }: Addressed): Promise<readonly { readonly policy: string; readonly verdict: Verdict }[][]> {
    const about = { ...message, recipients };
    const facts = (await this.facts.isEmpty(undefined, true))
      ? NOBODY_KNOWN
      : await this.facts.read([about]);
    const slice = new JudgedSlice([{ message, recipients }], facts, this.registry);
    const items = recipients.map((_, place) => slice.item(place));
    const now = this.clock.now();
    const all = recipients.map((): { policy: string; verdict: Verdict }[] => []);
    for (const policy of this.policies) {
      const verdicts = await policy.decide({ stage: 'explain', items, now });
      all.forEach((of, index) =>
        of.push({
          policy: policy.name,
          verdict: verdicts.get(index) ?? { decision: 'allow' },
        }),
      );
    }
    return all;
  }

  async #read(
    parts: readonly Addressed[],
    policies: readonly MessagingPolicy[],
    fresh: boolean,
    sql: Pick<Sql, 'all'> | undefined,
  ): Promise<FactsByPlace> {
    const needed = policies.map(({ scope }) => scope?.recipients ?? 'everybody');
    if (needed.every((recipients) => recipients === 'unread')) return NOBODY_KNOWN;
    if (await this.facts.isEmpty(sql, fresh)) return NOBODY_KNOWN;
    const questions = parts.map(({ message: { tenant, channel, sender }, recipients }) => ({
      tenant,
      channel,
      sender,
      recipients,
    }));
    return this.facts.read(questions, needed.includes('everybody') ? 'known' : 'refused', sql);
  }
}

/** Asks one policy about what is in its scope. */
async function rule(
  policy: MessagingPolicy,
  slice: JudgedSlice,
  when: Omit<PolicySlice, 'items'>,
  told: (place: number, verdict: Verdict) => void,
): Promise<void> {
  const places = slice.placesOf(policy.scope ?? EVERYTHING);
  if (places.length === 0) return;
  const items = places.map((place) => slice.item(place));
  for (const [index, verdict] of await policy.decide({ ...when, items })) {
    const place = places[index];
    if (place === undefined)
      throw new RangeError(`policy ${policy.name}: there is no item ${index}`);
    told(place, verdict);
    if (verdict.decision === 'substitute') slice.substitute(place, verdict.content);
  }
}

function concerns(scope: PolicyScope | undefined, asked: readonly Addressed[]): boolean {
  const channels = scope?.channels;
  return !channels || asked.some(({ message }) => channels.includes(message.channel));
}

function* slicesOf(asked: readonly Addressed[]): Generator<readonly Addressed[]> {
  let parts: Addressed[] = [];
  let room = SLICE;
  for (const { message, recipients } of asked)
    for (let from = 0; from < recipients.length;) {
      const whole = from === 0 && recipients.length <= room;
      const part = whole ? recipients : recipients.slice(from, from + room);
      parts.push({ message, recipients: part });
      from += part.length;
      room -= part.length;
      if (room > 0) continue;
      yield parts;
      parts = [];
      room = SLICE;
    }
  if (parts.length > 0) yield parts;
}
