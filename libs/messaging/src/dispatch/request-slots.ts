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
  /** Whose turn it is: a slot is kept for each, or who asks policy first would find it taken. */
  readonly #called = new Set<WakeSignal>();

  constructor(private readonly most = Infinity) {}

  /** False: `lane` is woken when it is its turn. */
  free(lane: WakeSignal): boolean {
    if (this.#called.has(lane) || this.#left > 0) return true;
    this.#waiting.add(lane);
    return false;
  }

  take(lane: WakeSignal): void {
    this.#taken++;
    this.leave(lane);
  }

  giveBack(): void {
    this.#taken--;
    this.#call();
  }

  /** It waits for none any more, or for something else first; if it was its turn, the next has it. */
  leave(lane: WakeSignal): void {
    this.#waiting.delete(lane);
    this.#called.delete(lane);
    this.#call();
  }

  /** Nobody's. */
  get #left(): number {
    return this.most - this.#taken - this.#called.size;
  }

  #call(): void {
    for (const lane of this.#waiting) {
      if (this.#left <= 0) return;
      this.#waiting.delete(lane);
      this.#called.add(lane);
      lane.wake();
    }
  }
}
