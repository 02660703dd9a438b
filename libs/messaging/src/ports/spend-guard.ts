import type { EntityManager } from 'typeorm';
import type { Channel, MessageContent } from '../message/message.js';
import type { SpendRefusedError } from '../message/errors.js';
import type { MessageStatusChanged } from '../message/events.js';
import type { AcceptanceGuard } from './acceptance-guard.js';

/** A batch of a guarded tenant that is about to be stored. */
export interface GuardedBatch {
  readonly id: string;
  readonly tenant: string;
  /**
   * The option `spender` of the send; `null`: it has none, or the message is sent again. Later channels
   * of a notification have that of their notification.
   */
  readonly spender: string | null;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: MessageContent;
  /** Price category of the content; `null`: the channel has none, or the content names none. */
  readonly category: string | null;
  /** Parts of each message of an SMS; 1 on other channels. */
  readonly parts: number;
  /** Address keys of the messages, in their order, without those that policy denied. */
  readonly recipients: readonly string[];
  readonly createdAt: Date;
}

/** A statement on the app's database, with `?` placeholders. */
interface GuardStatement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** What {@link SpendGuard.reserve} adds to the statements that store batches. */
export interface SpendReservation {
  /** An UPDATE that takes the money, under every condition on which the guard's memory depends. */
  readonly take: GuardStatement;
  /** Rows that `take` changes; where it changes fewer, nothing is stored, and `onAccepted` is asked. */
  readonly rows: number;
  /** An INSERT of the guard's own rows, a SELECT that ends with its WHERE clause. */
  readonly insert: GuardStatement;
}

/** A change of a message of a guarded batch. */
export interface GuardedChange extends MessageStatusChanged {
  /**
   * Number of the statuses that the message has had with this one, without events: 1 where no provider
   * had it before. Given where `status` or `previous` is `expired`. @default `sequence`
   */
  readonly statuses?: number;
}

/** An amount in millionths of its currency. */
export interface SpentAmount {
  readonly amount: bigint;
  readonly currency: string;
}

/** Messages of a guarded batch that are cancelled before they have started. */
export interface GuardedCancellation {
  readonly tenant: string;
  readonly channel: Channel;
  readonly batchId: string;
  /** Address keys; an erased one is empty. */
  readonly recipients: readonly string[];
}

/** A guarded batch whose messages and recipients leave the store, or an order that retention keeps. */
export interface GuardedEnd {
  readonly tenant: string;
  readonly batchId: string;
  /** `erased`: all its recipients were erased, and none of its messages is with a provider. */
  readonly cause: 'retention' | 'erased';
}

/**
 * Decides whether a tenant may spend what its messages cost, and hears how each message ends, in the
 * transactions that store both. What it writes through `manager` commits or rolls back with them; it
 * must only use the database, through `manager`.
 *
 * ```
 * send ─▶ onAccepted ─▶ refused: SpendRefusedError, nothing is stored
 *             │
 *             └─▶ stored ─▶ onChanged, of each status from `sent` on
 *                       ├─▶ onCancelled, of messages that never start
 *                       └─▶ onEnded, before recipients are erased; later reports may still change it
 * ```
 *
 * A batch is guarded for all its life where its tenant was when it was accepted. Every path accepts
 * through the guard: sends, the caller's own transaction, notifications and their next channels, orders,
 * verifications, and messages that are sent again.
 */
export interface SpendGuard {
  /**
   * Whether new batches of the tenant are guarded. Called for each batch: it must answer from memory.
   * Batches of other tenants cost nothing more than this call.
   */
  guards(tenant: string): boolean;
  /**
   * Whether {@link reserve} would accept the batch, as the guard remembers its tenant. It is asked for
   * batches without a key, and answers from memory. Such batches take as few statements as free ones.
   * @default `onAccepted` is asked for each
   */
  expects?(batch: GuardedBatch): boolean;
  /**
   * Takes the money of batches that it {@link expects}, without a read before: both statements are part
   * of the one that stores the batches.
   * @returns `undefined`: `onAccepted` is asked
   */
  reserve?(batches: readonly GuardedBatch[]): SpendReservation | undefined;
  /**
   * Called once for all new batches of a transaction, after the statement that may wait for a key and
   * after their recipients are stored. A lost answer to a commit repeats the call with batches that were accepted before: it must find them
   * by their ids, and accept them without spending again.
   * @returns the refused ones by the batch's id; the others are stored
   */
  onAccepted(
    batches: readonly GuardedBatch[],
    manager: EntityManager,
  ): Promise<ReadonlyMap<string, SpendRefusedError>>;
  /**
   * As a status listener's, of messages of guarded batches alone; once for each change. A report that
   * says how the platform bills a message (`details.billable`, 1 or 0, and `details.category`) and raises
   * no status is the event `billed`, with the present status; a repeated report repeats it.
   * @returns what each change has charged, in the order of the changes, below zero where it gives back;
   * with `store.outcomes` it is counted for `MessageHistory.outcomes()`. Nothing: it is not counted
   */
  onChanged(
    changes: readonly GuardedChange[],
    manager: EntityManager,
  ): Promise<readonly SpentAmount[] | void>;
  /**
   * What messages of batches are charged now, by message; those that are not charged may be left out. It
   * only reads, through `manager`, whose transaction sees the database as of one time.
   * @default a rebuild of outcomes has no prices
   */
  spent?(
    batches: readonly string[],
    manager: EntityManager,
  ): Promise<ReadonlyMap<string, SpentAmount>>;
  /**
   * Called before the other methods in a transaction that may call several of them, with the tenants
   * whose batches it may change: locks the rows that they would lock, in one order, so that two such
   * transactions do not wait for each other. @default they are not locked before
   */
  lock?(tenants: readonly string[], manager: EntityManager): Promise<void>;
  onCancelled(batches: readonly GuardedCancellation[], manager: EntityManager): Promise<void>;
  /** May be called again for the same batch. */
  onEnded(batches: readonly GuardedEnd[], manager: EntityManager): Promise<void>;
}

/**
 * Injection token of the app's {@link SpendGuard}; any module may provide one.
 * @example
 * providers: [{ provide: MESSAGING_SPEND_GUARD, useClass: Credits }]
 */
export const MESSAGING_SPEND_GUARD = Symbol('MESSAGING_SPEND_GUARD');

/** Holds the app's guard, which Nest makes after the store, and the library's own. */
export class SpendGuards {
  /** Bounds what a tenant sends; `undefined`: the option `policy.guard` is not set. */
  abuse: AcceptanceGuard<unknown> | undefined;
  /** Reads the holds again, after those of the library's own guard. */
  followHolds: (() => Promise<void>) | undefined;
  #guard: SpendGuard | undefined;

  get guard(): SpendGuard | undefined {
    return this.#guard;
  }

  set(guard: SpendGuard): void {
    this.#guard = guard;
  }
}
