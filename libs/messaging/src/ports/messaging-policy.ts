import type { EntityManager } from 'typeorm';
import type { Address } from '../message/address.js';
import type { Channel, MessageContent } from '../message/message.js';

/** What is known of a recipient, read for the whole slice at once. Times in epoch milliseconds. */
export interface RecipientFacts {
  /** Id of the contact; `null`: there is none. */
  readonly contact: string | null;
  /** On the suppression list, for the channel and category of the message. */
  readonly suppressed: boolean;
  /** Consent for the channel and category of the message; `null`: none was given or refused. */
  readonly consent: 'opted_in' | 'opted_out' | null;
  /** When the contact last wrote to the sender of the message; `null`: never. */
  readonly lastInboundAt: number | null;
}

/** What is to be sent. */
export interface PolicyMessage {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: MessageContent;
  /** Consent category: `transactional`, `marketing`, or one of the channel's own. */
  readonly category: string;
  /** The batch, once it is accepted: with the recipient it identifies the message. */
  readonly batchId?: string;
}

/** One message to one recipient. */
export interface PolicyItem {
  readonly message: PolicyMessage;
  readonly recipient: Address;
  readonly facts: RecipientFacts;
}

/** Messages that are decided together: one batch at `send()`, many at dispatch. */
export interface PolicySlice {
  /** `send`: a denial refuses or rejects, a deferral waits for dispatch. `dispatch`: the message is about to leave. */
  readonly stage: 'send' | 'dispatch' | 'explain';
  readonly items: readonly PolicyItem[];
  /** Epoch milliseconds by the module's clock. */
  readonly now: number;
  /**
   * Of the caller's transaction, at a `send()` within one: a policy that reads the same database reads
   * through it. Callers that each hold a connection and wait for a second one wait for each other.
   */
  readonly manager?: EntityManager;
}

export type PolicyDecision =
  | { readonly decision: 'allow' }
  /** Never: the message is `rejected` with the code. */
  | {
      readonly decision: 'deny';
      /** Stable, at most 64 characters. */
      readonly code: string;
      /** For people; without addresses or content. */
      readonly reason: string;
    }
  /** Not before `until`; the policy is asked again then. */
  | { readonly decision: 'defer'; readonly until: Date }
  /** Other content goes out, such as a template where the window is closed. */
  | { readonly decision: 'substitute'; readonly content: MessageContent };

/** Decisions by the index of the item; an item without one is allowed. */
export type PolicyDecisions = ReadonlyMap<number, PolicyDecision>;

/** Messages that a policy may decide anything but `allow` about; for others nothing is read or asked. */
export interface PolicyScope {
  /** @default every channel */
  readonly channels?: readonly Channel[];
  /**
   * `refused`: only recipients who refused the channel and category or are suppressed.
   * `everybody`, `unread`: every recipient; with `unread` their facts are not needed, and may be missing.
   * @default 'everybody'
   */
  readonly recipients?: 'everybody' | 'refused' | 'unread';
}

/**
 * Decides which recipients may be sent which message, and when. A slice is decided in one call: a policy
 * that reads does it in a fixed number of queries. It is asked at `send()` and again at most a second
 * before the message leaves. Where it throws nothing passes: the send fails, the lane waits and asks again.
 *
 * @example
 * class NoGamblers implements MessagingPolicy {
 *   readonly name = 'no-gamblers';
 *   async decide({ items }: PolicySlice): Promise<PolicyDecisions> { … }
 * }
 * // providers: [{ provide: MESSAGING_POLICY, useClass: NoGamblers }]
 */
export interface MessagingPolicy {
  /** Unique; `policy.order` and `policy.remove` name it. */
  readonly name: string;
  /** Outside of it the policy is not asked. @default everything */
  readonly scope?: PolicyScope;
  /** Decisions by the place of the item in `slice.items`. */
  decide(slice: PolicySlice): Promise<PolicyDecisions>;
}

/** A policy of the app, or an array of them; any module may provide it. */
export const MESSAGING_POLICY = Symbol('MESSAGING_POLICY');
