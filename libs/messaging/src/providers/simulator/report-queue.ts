import { Logger } from '@nestjs/common';
import type { Clock } from '../../ports/clock.js';

const BATCH = 5_000;
const RETRY = 500;
const LONGEST_TIMER = 2 ** 31 - 1;

interface Item<T> {
  readonly report: T;
  /** Called when the sink has the report, or the queue is stopped. */
  readonly taken?: () => void;
}

/**
 * Passes reports, or inbound messages, to the sink when they are due. Reports of one slot of time share a timer. One
 * sink call runs at a time, with all due reports. The reports of a failed call are due again later, so none is lost
 * while the process lives.
 *
 * ```
 * add → slot → (timer) → due → sink
 *         ↑______________________| rejected
 * ```
 */
export class ReportQueue<T> {
  readonly #logger = new Logger(ReportQueue.name);
  readonly #slots = new Map<
    number,
    { readonly timer: NodeJS.Timeout; readonly items: Item<T>[] }
  >();
  #due: Item<T>[] = [];
  #pump: Promise<void> | undefined;
  #stopped = false;

  /** `slot`: most milliseconds between the due time of a report and its sink call. */
  constructor(
    private readonly sink: (reports: readonly T[]) => Promise<void>,
    private readonly clock: Clock,
    private readonly slot: number,
  ) {}

  /** Passes `report` to the sink after `delay` milliseconds. */
  add(report: T, delay: number): void {
    this.#wait({ report }, delay);
  }

  /** Puts the reports into the next sink call; resolves when the sink has them. */
  handOver(reports: readonly T[]): Promise<void> {
    return new Promise((taken) => {
      if (this.#stopped) taken();
      else {
        const last = reports.length - 1;
        const items = reports.map((report, n) => (n === last ? { report, taken } : { report }));
        this.#due = [...items, ...this.#due];
        this.#start();
      }
    });
  }

  /** Drops the reports that are not due or not yet taken; a poll finds them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const dropped = this.#due.splice(0);
    for (const { timer, items } of this.#slots.values()) {
      clearTimeout(timer);
      dropped.push(...items);
    }
    this.#slots.clear();
    for (const { taken } of dropped) taken?.();
    await this.#pump;
  }

  #wait(item: Item<T>, delay: number): void {
    if (this.#stopped) {
      item.taken?.();
      return;
    }
    const now = this.clock.monotonic();
    const slot = Math.ceil((now + delay) / this.slot);
    const waiting = this.#slots.get(slot);
    if (waiting) {
      waiting.items.push(item);
      return;
    }
    const items = [item];
    const ring = () => {
      this.#slots.delete(slot);
      this.#due = this.#due.concat(items);
      this.#start();
    };
    const timer = setTimeout(ring, Math.min(slot * this.slot - now, LONGEST_TIMER));
    this.#slots.set(slot, { timer, items });
  }

  #start(): void {
    if (this.#due.length > 0) this.#pump ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#due.length > 0) {
      const items = this.#due.splice(0, BATCH);
      try {
        await this.sink(items.map(({ report }) => report));
        for (const { taken } of items) taken?.();
      } catch {
        this.#logger.warn(`${items.length} reports were not taken; again in ${RETRY} ms`);
        for (const item of items) this.#wait(item, RETRY);
      }
    }
    this.#pump = undefined;
  }
}
