import {
  type FactsKey,
  type RecipientFactsReader,
  UNKNOWN_RECIPIENT,
} from '../contacts/recipient-facts.js';
import type { Sql } from '../ledger/ledger-database.js';
import type { MessageContent } from '../message/message.js';
import type { Clock } from '../ports/clock.js';
import type {
  MessagingPolicy,
  PolicyItem,
  PolicyMessage,
  PolicySlice,
  Verdict,
} from '../ports/messaging-policy.js';

/** What the policies came to for one message; nothing at all: it may go as it is. */
export type Ruling =
  | {
      readonly decision: 'deny';
      readonly code: string;
      readonly reason: string;
      readonly policy: string;
    }
  /** `until` in epoch milliseconds. */
  | { readonly decision: 'defer'; readonly until: number; readonly policy: string }
  | { readonly decision: 'substitute'; readonly content: MessageContent; readonly policy: string };

export interface Candidate {
  readonly message: PolicyMessage;
  readonly recipient: string;
}

/** Facts are read for so many at once. */
const SLICE = 10_000;
const LONGEST_CODE = 64;

/**
 * Asks every policy in order about a slice, with the facts of all its recipients read in one query.
 * The first denial counts, the latest deferral does, and what a policy puts in the content's place is
 * what the next ones judge.
 */
export class PolicyPipeline {
  constructor(
    /** In the order they are asked; known once every module is. */
    private readonly policiesOf: () => readonly MessagingPolicy[],
    private readonly facts: RecipientFactsReader,
    private readonly clock: Clock,
  ) {}

  get policies(): readonly MessagingPolicy[] {
    return this.policiesOf();
  }

  /** Rulings by the index of the candidate. */
  async review(
    candidates: readonly Candidate[],
    stage: PolicySlice['stage'],
    sql?: Pick<Sql, 'all'>,
  ): Promise<Map<number, Ruling>> {
    const rulings = new Map<number, Ruling>();
    if (this.policies.length === 0) return rulings;
    for (let from = 0; from < candidates.length; from += SLICE) {
      const items = await this.#items(candidates.slice(from, from + SLICE), stage, sql);
      for (const [index, ruling] of await this.#rule(items, stage))
        rulings.set(from + index, ruling);
    }
    return rulings;
  }

  /** What each policy says of each candidate, in order, whatever the others say. */
  async explain(
    candidates: readonly Candidate[],
  ): Promise<readonly { readonly policy: string; readonly verdict: Verdict }[][]> {
    const items = await this.#items(candidates, 'explain');
    const now = this.clock.now();
    const all = candidates.map((): { policy: string; verdict: Verdict }[] => []);
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

  async #items(
    candidates: readonly Candidate[],
    stage: PolicySlice['stage'],
    sql?: Pick<Sql, 'all'>,
  ): Promise<PolicyItem[]> {
    // At dispatch a second-old "nobody" will not do.
    const nobody = await this.facts.nobody(sql, stage !== 'send');
    const keys = (): FactsKey[] =>
      candidates.map(({ message: { tenant, channel, sender }, recipient }) => ({
        tenant,
        channel,
        sender,
        recipient,
      }));
    const facts = nobody ? undefined : await this.facts.read(keys(), sql);
    return candidates.map(({ message, recipient }, index) => ({
      message,
      recipient,
      facts: facts?.get(index) ?? UNKNOWN_RECIPIENT,
    }));
  }

  async #rule(items: PolicyItem[], stage: PolicySlice['stage']): Promise<Map<number, Ruling>> {
    const rulings = new Map<number, Ruling>();
    const now = this.clock.now();
    for (const policy of this.policies)
      for (const [index, verdict] of await policy.decide({ stage, items, now })) {
        const item = items[index];
        if (!item) throw new RangeError(`policy ${policy.name}: there is no item ${index}`);
        const ruling = after(rulings.get(index), verdict, policy.name);
        if (ruling) rulings.set(index, ruling);
        if (verdict.decision === 'substitute')
          items[index] = { ...item, message: { ...item.message, content: verdict.content } };
      }
    return rulings;
  }
}

/** What two rulings in a row come to. What is deferred is judged anew when it is due. */
function after(before: Ruling | undefined, verdict: Verdict, policy: string): Ruling | undefined {
  if (before?.decision === 'deny') return before;
  switch (verdict.decision) {
    case 'allow':
      return before;
    case 'deny':
      return { ...verdict, code: verdict.code.slice(0, LONGEST_CODE), policy };
    case 'defer': {
      const until = verdict.until.getTime();
      if (Number.isNaN(until)) throw new RangeError(`policy ${policy}: until is no valid date`);
      return before?.decision === 'defer' && before.until >= until
        ? before
        : { decision: 'defer', until, policy };
    }
    case 'substitute':
      return before?.decision === 'defer' ? before : { ...verdict, policy };
  }
}
