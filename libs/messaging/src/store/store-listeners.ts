import type { Transaction } from './database/store-database.js';
import type { LearntNumber } from './rows/outcome.js';

/** An address that receives nothing more on a channel. */
export interface SuppressedAddress {
  readonly tenant: string;
  readonly address: string;
  readonly channel: string;
  /** `undefined`: every category. */
  readonly category: string | undefined;
  readonly reason: string;
  /** `{batchId}-{position}` of the message that was the reason. */
  readonly message: string;
}

/** A recipient whose window the platform takes for closed. */
export interface ClosedWindow {
  readonly tenant: string;
  readonly address: string;
  /** `''`: the provider chooses it. */
  readonly sender: string;
  /** When the platform said so, in epoch microseconds: a later inbound message opens it again. */
  readonly at: number;
}

/** Work of the layers above the store that follows from what it writes. */
export interface StoreListener {
  /** In the transaction of statuses that suppress their recipients. */
  onSuppressed?(tx: Transaction, suppressed: readonly SuppressedAddress[]): Promise<void>;
  /** In the transaction of refusals that say that a window is closed. */
  onWindowsClosed?(tx: Transaction, closed: readonly ClosedWindow[]): Promise<void>;
  /** After the commit of acceptances that name another number of their recipient. Never rejects. */
  onLearnt?(numbers: readonly LearntNumber[]): Promise<void>;
  /** After the commit of a status that ends a step of a notification. */
  onStepEnded?(): void;
  /** After the commit of reports, for a lane with messages that are sent again. */
  onResent?(lane: string): void;
}

/** The store has it from the start; the layers above add their work as they are made. */
export class StoreListeners {
  readonly #all: StoreListener[] = [];

  add(listener: StoreListener): void {
    this.#all.push(listener);
  }

  async suppressed(tx: Transaction, suppressed: readonly SuppressedAddress[]): Promise<void> {
    for (const listener of this.#all) await listener.onSuppressed?.(tx, suppressed);
  }

  async windowsClosed(tx: Transaction, closed: readonly ClosedWindow[]): Promise<void> {
    for (const listener of this.#all) await listener.onWindowsClosed?.(tx, closed);
  }

  async learnt(numbers: readonly LearntNumber[]): Promise<void> {
    for (const listener of this.#all) await listener.onLearnt?.(numbers);
  }

  stepEnded(): void {
    for (const listener of this.#all) listener.onStepEnded?.();
  }

  resent(lane: string): void {
    for (const listener of this.#all) listener.onResent?.(lane);
  }
}
