import {
  type FactsByPlace,
  factsFor,
  type RecipientFactsReader,
  UNKNOWN_RECIPIENT,
} from '../contacts/recipient-facts.js';
import { addressOfKey } from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { Channel, MessageContent } from '../message/message.js';
import type { Clock } from '../ports/clock.js';
import type {
  MessagingPolicy,
  PolicyDecision,
  PolicyItem,
  PolicyMessage,
  PolicyScope,
  PolicySlice,
} from '../ports/messaging-policy.js';
import type { Sql, Transaction } from '../store/database/store-database.js';
import { retryWhileUnavailable } from '../store/database/retry.js';

/** Number of recipients whose facts are read together. */
const SLICE = 10_000;
const MAX_CODE = 64;
const EVERYTHING: PolicyScope = {};
const NO_FACTS: FactsByPlace = new Map();

/** One message and its recipients, as address keys. */
export interface Addressed {
  readonly message: Omit<PolicyMessage, 'category'>;
  readonly recipients: readonly string[];
}

/** A decision and the policy that made it. */
export type NamedDecision = PolicyDecision & { readonly policy: string };

/** The combined decision on one message that may not leave unchanged now. */
export type AppliedDecision = Exclude<NamedDecision, { readonly decision: 'allow' }>;

/**
 * Asks every policy in order about a slice, with the facts of all recipients from one query. The
 * first denial and the latest deferral win. Later policies decide about the new content of a
 * substitution; earlier ones decide again where the consent category changed. A policy is not
 * called for messages outside its scope.
 */
export class PolicyPipeline {
  constructor(
    /** In the order of the calls; known once all modules are initialised. */
    private readonly policiesOf: () => readonly MessagingPolicy[],
    private readonly facts: RecipientFactsReader,
    private readonly clock: Clock,
    private readonly registry: Pick<ChannelRegistry, 'consentCategoryOf'>,
  ) {}

  get policies(): readonly MessagingPolicy[] {
    return this.policiesOf();
  }

  /** True where no policy can affect a send on this channel, without any query. */
  isSilent(channel: Channel): boolean {
    for (const { scope = EVERYTHING } of this.policies)
      if (
        (!scope.channels || scope.channels.includes(channel)) &&
        !(scope.recipients === 'refused' && this.facts.presumesEmpty())
      )
        return false;
    return true;
  }

  /**
   * Decisions by the position of the recipient over all of `asked`; a message without a decision
   * may leave.
   */
  async review(
    asked: readonly Addressed[],
    stage: PolicySlice['stage'],
    tx?: Transaction,
  ): Promise<Map<number, AppliedDecision>> {
    const decisions = new Map<number, AppliedDecision>();
    const policies = this.policies.filter(({ scope }) => concerns(scope, asked));
    if (policies.length === 0) return decisions;
    let from = 0;
    for (const parts of slicesOf(asked)) {
      // Dispatch needs fresh facts; the cache of a second is only for sends.
      const read = () => this.#read(parts, policies, stage !== 'send', tx);
      const facts = await (stage === 'send' && !tx ? retryWhileUnavailable(read) : read());
      const slice = new DecidedSlice(parts, facts, this.registry);
      const when = { stage, now: this.clock.now(), ...(tx && { manager: tx.manager }) };
      const apply = (place: number, decision: PolicyDecision, policy: string) => {
        const applied = combined(decisions.get(from + place), decision, policy);
        if (applied) decisions.set(from + place, applied);
      };
      await askAll(policies, slice, when, apply);
      from += slice.length;
    }
    return decisions;
  }

  /** Each policy's decision about each recipient, in order, independent of the other policies. */
  async explain({ message, recipients }: Addressed): Promise<readonly NamedDecision[][]> {
    const facts = (await this.facts.isEmpty(undefined, true))
      ? NO_FACTS
      : await this.facts.read([{ ...message, recipients }]);
    const slice = new DecidedSlice([{ message, recipients }], facts, this.registry);
    const items = recipients.map((_, place) => slice.item(place));
    const now = this.clock.now();
    const all = recipients.map((): NamedDecision[] => []);
    for (const policy of this.policies) {
      const decisions = await policy.decide({ stage: 'explain', items, now });
      all.forEach((of, index) =>
        of.push({ ...(decisions.get(index) ?? { decision: 'allow' }), policy: policy.name }),
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
    if (needed.every((recipients) => recipients === 'unread')) return NO_FACTS;
    if (await this.facts.isEmpty(sql, fresh)) return NO_FACTS;
    const questions = parts.map(({ message: { tenant, channel, sender }, recipients }) => ({
      tenant,
      channel,
      sender,
      recipients,
    }));
    return this.facts.read(questions, needed.includes('everybody') ? 'known' : 'refused', sql);
  }
}

type When = Omit<PolicySlice, 'items'>;
type Apply = (place: number, decision: PolicyDecision, policy: string) => void;

async function askAll(
  policies: readonly MessagingPolicy[],
  slice: DecidedSlice,
  when: When,
  apply: Apply,
): Promise<void> {
  for (const [index, policy] of policies.entries()) {
    const changed = await ask(policy, slice, slice.placesOf(policy.scope), when, apply);
    if (changed.size > 0)
      for (const before of policies.slice(0, index)) {
        const places = slice.placesOf(before.scope).filter((place) => changed.has(place));
        await ask(before, slice, places, when, apply);
      }
  }
}

/** @returns the positions where a substitution changed the consent category */
async function ask(
  policy: MessagingPolicy,
  slice: DecidedSlice,
  places: readonly number[],
  when: When,
  apply: Apply,
): Promise<ReadonlySet<number>> {
  const changed = new Set<number>();
  if (places.length === 0) return changed;
  const items = places.map((place) => slice.item(place));
  for (const [index, decision] of await policy.decide({ ...when, items })) {
    const place = places[index];
    if (place === undefined)
      throw new RangeError(`policy ${policy.name}: there is no item ${index}`);
    apply(place, decision, policy.name);
    if (decision.decision === 'substitute' && slice.substitute(place, decision.content))
      changed.add(place);
  }
  return changed;
}

/**
 * Messages that are decided together. Most policies concern few of them, so items are built only
 * for those.
 */
class DecidedSlice {
  readonly length: number;
  readonly #items: (PolicyItem | undefined)[] = [];
  /** The part of each position, and the first position of each part. */
  readonly #partOf: Uint16Array;
  readonly #begins: number[] = [];
  readonly #messages: readonly PolicyMessage[];

  constructor(
    private readonly parts: readonly Addressed[],
    private readonly facts: FactsByPlace,
    private readonly registry: Pick<ChannelRegistry, 'consentCategoryOf'>,
  ) {
    this.length = parts.reduce((sum, { recipients }) => sum + recipients.length, 0);
    this.#messages = parts.map(({ message }) => this.#withCategory(message));
    this.#partOf = new Uint16Array(this.length);
    let begin = 0;
    parts.forEach(({ recipients }, part) => {
      this.#begins.push(begin);
      this.#partOf.fill(part, begin, (begin += recipients.length));
    });
  }

  /** The positions in the scope of a policy. */
  placesOf({ channels, recipients }: PolicyScope = EVERYTHING): number[] {
    const places: number[] = [];
    if (recipients === 'refused') {
      for (const place of this.facts.keys()) {
        const { suppressed, consent } = this.#factsOf(place, this.#messageAt(place).category);
        if (suppressed || consent === 'opted_out') places.push(place);
      }
    } else for (let place = 0; place < this.length; place++) places.push(place);
    return channels && !this.parts.every(({ message }) => channels.includes(message.channel))
      ? places.filter((place) => channels.includes(this.#messageAt(place).channel))
      : places;
  }

  item(place: number): PolicyItem {
    const known = this.#items[place];
    if (known) return known;
    const part = this.#partOf[place] as number;
    const { recipients } = this.parts[part] as Addressed;
    const recipient = addressOfKey(recipients[place - (this.#begins[part] as number)] as string);
    const message = this.#messages[part] as PolicyMessage;
    return (this.#items[place] = {
      message,
      recipient,
      facts: this.#factsOf(place, message.category),
    });
  }

  /** Later policies decide about the new content. @returns whether its consent category changed */
  substitute(place: number, content: MessageContent): boolean {
    const item = this.item(place);
    const message = this.#withCategory({ ...item.message, content });
    this.#items[place] = { ...item, message, facts: this.#factsOf(place, message.category) };
    return message.category !== item.message.category;
  }

  #messageAt(place: number): PolicyMessage {
    const substituted = this.#items[place]?.message;
    return substituted ?? (this.#messages[this.#partOf[place] as number] as PolicyMessage);
  }

  #withCategory(message: Addressed['message']): PolicyMessage {
    const category = this.registry.consentCategoryOf(message.channel, message.content);
    return { ...message, category };
  }

  #factsOf(place: number, category: string) {
    const known = this.facts.get(place);
    return known ? factsFor(known, category) : UNKNOWN_RECIPIENT;
  }
}

/**
 * Combines two consecutive decisions. The policies decide again about a deferred message when it is
 * due.
 */
function combined(
  before: AppliedDecision | undefined,
  decision: PolicyDecision,
  policy: string,
): AppliedDecision | undefined {
  if (before?.decision === 'deny') return before;
  switch (decision.decision) {
    case 'allow':
      return before;
    case 'deny':
      return { ...decision, code: decision.code.slice(0, MAX_CODE), policy };
    case 'defer':
      if (Number.isNaN(decision.until.getTime()))
        throw new RangeError(`policy ${policy}: until is no valid date`);
      return before?.decision === 'defer' && before.until >= decision.until
        ? before
        : { ...decision, policy };
    case 'substitute':
      return before?.decision === 'defer' ? before : { ...decision, policy };
  }
}

function concerns(scope: PolicyScope | undefined, asked: readonly Addressed[]): boolean {
  const channels = scope?.channels;
  return !channels || asked.some(({ message }) => channels.includes(message.channel));
}

function* slicesOf(asked: readonly Addressed[]): Generator<readonly Addressed[]> {
  let parts: Addressed[] = [];
  let left = SLICE;
  for (const { message, recipients } of asked)
    for (let from = 0; from < recipients.length;) {
      const whole = from === 0 && recipients.length <= left;
      const part = whole ? recipients : recipients.slice(from, from + left);
      parts.push({ message, recipients: part });
      from += part.length;
      left -= part.length;
      if (left > 0) continue;
      yield parts;
      parts = [];
      left = SLICE;
    }
  if (parts.length > 0) yield parts;
}
