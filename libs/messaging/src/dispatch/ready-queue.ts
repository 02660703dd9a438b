import type { Ready } from './slice.js';
import type { PrefetchBudget } from './prefetch-budget.js';

/** Submissions of a lane that are ready to start, in order; their messages are held against the budget. */
export class PrefetchQueue {
  #items: Ready[] = [];
  /** A submission holds one or many. */
  #messages = 0;

  constructor(private readonly budget: PrefetchBudget) {}

  get next(): Ready | undefined {
    return this.#items[0];
  }

  get length(): number {
    return this.#items.length;
  }

  get messages(): number {
    return this.#messages;
  }

  get items(): readonly Ready[] {
    return this.#items;
  }

  push(item: Ready): void {
    this.#items.push(item);
    this.#hold(item.positions.length);
  }

  /** Before all others. */
  unshift(items: readonly Ready[]): void {
    this.#items.unshift(...items);
    for (const { positions } of items) this.#hold(positions.length);
  }

  shift(): Ready | undefined {
    const item = this.#items.shift();
    if (item) this.#hold(-item.positions.length);
    return item;
  }

  /** Takes out those that are `wanted`. */
  remove(wanted: (item: Ready) => boolean): Ready[] {
    const removed = this.#items.filter(wanted);
    if (removed.length === 0) return removed;
    this.#items = this.#items.filter((item) => !wanted(item));
    for (const { positions } of removed) this.#hold(-positions.length);
    return removed;
  }

  #hold(messages: number): void {
    this.#messages += messages;
    this.budget.hold(messages);
  }
}
