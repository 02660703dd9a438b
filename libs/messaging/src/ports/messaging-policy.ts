import type { EntityManager } from 'typeorm';
import type { Channel, MessageContent } from '../message/message.js';

/** What is known of a recipient, read for the whole slice at once. Times in epoch milliseconds. */
export interface RecipientFacts {
  /** Id of their contact; `null`: nobody we know. */
  readonly contact: string | null;
  /** On the suppression list, for this channel or all. */
  readonly suppressed: boolean;
  /** Their consent for this channel; `null`: never said. */
  readonly consent: 'opted_in' | 'opted_out' | null;
  /** When they last wrote to the number this message is from; `null`: never. */
  readonly lastInboundAt: number | null;
}

/** What is to be sent. */
export interface PolicyMessage {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: MessageContent;
  /** The batch it is in, once it is accepted: with the recipient it names the message. */
  readonly batchId?: string;
}

/** One message to one recipient. */
export interface PolicyItem {
  readonly message: PolicyMessage;
  /** Digits with country code. */
  readonly recipient: string;
  readonly facts: RecipientFacts;
}

/** Messages judged together: one batch at `send()`, many at dispatch. */
export interface PolicySlice {
  /** `send`: a denial refuses or rejects; a deferral waits for dispatch. `dispatch`: it is about to leave. */
  readonly stage: 'send' | 'dispatch' | 'explain';
  readonly items: readonly PolicyItem[];
  /** Epoch milliseconds by the module's clock. */
  readonly now: number;
  /**
   * Of the caller's transaction, at `send()` within one: what reads the same database reads through it.
   * Callers who each hold a connection and wait for a second one wait for each other.
   */
  readonly manager?: EntityManager;
}

export type Verdict =
  | { readonly decision: 'allow' }
  /** Never: the message is `rejected` with the code. */
  | {
      readonly decision: 'deny';
      /** Stable, at most 64 characters. */
      readonly code: string;
      /** For people; without numbers or content. */
      readonly reason: string;
    }
  /** Not before `until`; it is asked about again then. */
  | { readonly decision: 'defer'; readonly until: Date }
  /** Something else in its place, such as a template where the window is closed. */
  | { readonly decision: 'substitute'; readonly content: MessageContent };

/** Verdicts by the index of the item; an item without one is allowed. */
export type Verdicts = ReadonlyMap<number, Verdict>;

/** What a policy ever says anything but "allow" about, so that nothing is read or asked in vain. */
export interface PolicyScope {
  /** @default every channel */
  readonly channels?: readonly Channel[];
  /**
   * `refused`: only recipients who opted out of the channel or are suppressed.
   * `everybody`, `unread`: every recipient; with `unread` their facts are not needed, and may be left out.
   * @default 'everybody'
   */
  readonly recipients?: 'everybody' | 'refused' | 'unread';
}

/**
 * Decides who may be sent what, and when. Asked once for a whole slice: a policy that reads does it in
 * a fixed number of queries. It is asked at `send()` and again at most a second before the message
 * leaves. One that throws lets nothing pass: the send fails, the lane waits and asks again.
 *
 * @example
 * class NoGamblers implements MessagingPolicy {
 *   readonly name = 'no-gamblers';
 *   async decide({ items }: PolicySlice): Promise<Verdicts> { … }
 * }
 * // providers: [{ provide: MESSAGING_POLICY, useClass: NoGamblers }]
 */
export interface MessagingPolicy {
  /** Unique; what `policy.order` and `policy.remove` name. */
  readonly name: string;
  /** Outside of it the policy is not asked. @default everything */
  readonly scope?: PolicyScope;
  /** Verdicts by the place of the item in `slice.items`. */
  decide(slice: PolicySlice): Promise<Verdicts>;
}

/** A policy of the app, or an array of them; any module may provide it. */
export const MESSAGING_POLICY = Symbol('MESSAGING_POLICY');
