import type { EntityManager } from 'typeorm';
import type { Address } from '../message/address.js';
import type { Channel, MessageContent } from '../message/message.js';

/** Data about a recipient, read for the whole slice at once. Times in epoch milliseconds. */
export interface RecipientFacts {
  /** Id of the contact; `null` without a contact. */
  readonly contact: string | null;
  /** Whether the suppression list has the recipient, for the channel and category of the message. */
  readonly suppressed: boolean;
  /** Consent for the channel and category of the message; `null` where the recipient neither opted in nor out. */
  readonly consent: 'opted_in' | 'opted_out' | null;
  /** Time of the contact's last message to the sender of this message; `null` without one. */
  readonly lastInboundAt: number | null;
}

export interface PolicyMessage {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: MessageContent;
  /** Consent category: `transactional`, `marketing`, or one of the channel's own. */
  readonly category: string;
  /** The batch, once it is accepted. Together with the recipient it identifies the message. */
  readonly batchId?: string;
}

export interface PolicyItem {
  readonly message: PolicyMessage;
  readonly recipient: Address;
  readonly facts: RecipientFacts;
}

/** Messages that are decided together: those of one batch at `send()`, of several at dispatch. */
export interface PolicySlice {
  /** `send`: a denial refuses the message, a deferral leaves it to `dispatch`, where it is about to start. */
  readonly stage: 'send' | 'dispatch' | 'explain';
  readonly items: readonly PolicyItem[];
  /** Epoch milliseconds, from the module's clock. */
  readonly now: number;
  /**
   * Entity manager of the caller's transaction, at a `send()` within one. A policy that reads the same database must
   * use it: callers that hold one connection and wait for a second one can deadlock.
   */
  readonly manager?: EntityManager;
}

export type PolicyDecision =
  | { readonly decision: 'allow' }
  /** The message is never sent: it is `rejected` with the code. */
  | {
      readonly decision: 'deny';
      /** Stable code of at most 64 characters. */
      readonly code: string;
      /** Text for operators, without addresses or content. */
      readonly reason: string;
    }
  /** The message is not sent before `until`; then the policy is asked again. */
  | { readonly decision: 'defer'; readonly until: Date }
  /** Other content is sent, such as a template outside the customer service window. */
  | { readonly decision: 'substitute'; readonly content: MessageContent };

/** Decisions by the index of the item; an item without a decision is allowed. */
export type PolicyDecisions = ReadonlyMap<number, PolicyDecision>;

/** Messages for which a policy may decide anything but `allow`. For other messages the policy is not asked. */
export interface PolicyScope {
  /** @default every channel */
  readonly channels?: readonly Channel[];
  /**
   * `refused`: only recipients who refused the channel and category or are suppressed. `everybody`: every recipient.
   * `unread`: every recipient, whose facts may be missing, because the policy does not need them.
   * @default 'everybody'
   */
  readonly recipients?: 'everybody' | 'refused' | 'unread';
}

/**
 * Decides whether and when a message may be sent to a recipient. One call decides a slice, so a policy with queries
 * needs a fixed number of them. The library asks at `send()`, and again at most a second before the message starts.
 * Where the policy throws, no message is sent: `send()` fails, and the lane waits and asks again.
 *
 * @example
 * class NoGamblers implements MessagingPolicy {
 *   readonly name = 'no-gamblers';
 *   async decide({ items }: PolicySlice): Promise<PolicyDecisions> { … }
 * }
 * // providers: [{ provide: MESSAGING_POLICY, useClass: NoGamblers }]
 */
export interface MessagingPolicy {
  /** Unique name, used in `policy.order` and `policy.remove`. */
  readonly name: string;
  /** Messages outside the scope are sent without asking the policy. @default everything */
  readonly scope?: PolicyScope;
  decide(slice: PolicySlice): Promise<PolicyDecisions>;
}

/** Injection token of the app's policies. Any module may provide it; a provider may provide an array. */
export const MESSAGING_POLICY = Symbol('MESSAGING_POLICY');
