import type { EntityManager } from 'typeorm';
import type { Address } from '../message/address.js';
import type { Channel, ConsentCategory, MessageContent } from '../message/message.js';

/** Data about a recipient, read for the whole slice at once. Times in epoch milliseconds. */
export interface RecipientFacts {
  readonly contact: string | null;
  /** On the suppression list, for the channel and category of the message. */
  readonly suppressed: boolean;
  /** For the channel and category of the message; `null`: neither opted in nor out. */
  readonly consent: 'opted_in' | 'opted_out' | null;
  /** Time of the contact's last message to the sender of this message; `null` without one. */
  readonly lastInboundAt: number | null;
}

export interface PolicyMessage {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: MessageContent;
  readonly category: ConsentCategory;
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
  /** At `send`, a denial refuses the message, and a deferral leaves it to `dispatch`. */
  readonly stage: 'send' | 'dispatch' | 'explain';
  readonly items: readonly PolicyItem[];
  /** Epoch milliseconds, from the module's clock. */
  readonly now: number;
  /**
   * The caller's transaction, at a `send()` within one. Reads of the same database must use it:
   * callers that hold one connection and wait for a second one can deadlock.
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
      /**
       * Text for operators and callers, without addresses or content: a sentence, or what continues
       * "The recipient", such as `has left the programme`.
       */
      readonly reason: string;
    }
  /** The message is not sent before `until`; then the policy is asked again. */
  | {
      readonly decision: 'defer';
      readonly until: Date;
      /** Stable code of at most 64 characters, which views give as the reason. @default the policy's name, with `_` for `-` */
      readonly code?: string;
    }
  /** Other content is sent, such as a template outside the customer service window. */
  | { readonly decision: 'substitute'; readonly content: MessageContent };

/** Decisions by the index of the item; an item without a decision is allowed. */
export type PolicyDecisions = ReadonlyMap<number, PolicyDecision>;

/** Messages that the policy may deny, defer or substitute; it is not asked about others. */
export interface PolicyScope {
  /** @default every channel */
  readonly channels?: readonly Channel[];
  /**
   * `refused`: only those who refused the channel and category or are suppressed. `unread`: all,
   * but their facts may be missing. @default 'everybody'
   */
  readonly recipients?: 'everybody' | 'refused' | 'unread';
}

/**
 * Decides whether and when a message may be sent to a recipient, with one call for a slice. The
 * library asks at `send()`, and again at most a second before the start. Where the policy throws,
 * no message is sent: `send()` fails, and the lane waits and asks again.
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

/** Injection token of the app's policies; any module may provide one, or an array. */
export const MESSAGING_POLICY = Symbol('MESSAGING_POLICY');
