import type { WakeSignal } from './wake-signal.js';

/**
 * Requests that all lanes of a process together have in flight: no more than the transport carries at
 * once. What it had to queue itself would leave when a connection is free, whatever rate and policy say
 * by then. Lanes that find none free take turns.
 */
export class RequestSlots {
  #taken = 0;
  /** In the order they came. */
  readonly #waiting = new Set<WakeSignal>();

  constructor(private readonly most = Infinity) {}

  /** False: `lane` is woken when it is its turn. */
  free(lane: WakeSignal): boolean {
    if (this.#taken < this.most) return true;
    this.#waiting.add(lane);
    return false;
  }

  take(lane: WakeSignal): void {
    this.#taken++;
    this.leave(lane);
  }

  giveBack(): void {
    this.#taken--;
    this.#next();
  }

  /** It waits for none any more; if it was its turn, the next has it. */
  leave(lane: WakeSignal): void {
    this.#waiting.delete(lane);
    this.#next();
  }

  #next(): void {
    if (this.#waiting.size === 0 || this.#taken >= this.most) return;
    const [first] = this.#waiting;
    if (!first) return;
    this.#waiting.delete(first);
    first.wake();
  }
}
