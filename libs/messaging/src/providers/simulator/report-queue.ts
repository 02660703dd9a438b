import { Logger } from '@nestjs/common';
import type { Clock } from '../../ports/clock.js';

const BATCH = 5_000;
const FIRST_RETRY = 100;
const LAST_RETRY = 5_000;
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Passes reports, or inbound messages, to the sink when they are due. One timer serves any number of reports: they
 * wait in slots of a few milliseconds. One sink call runs at a time, with all due reports. A failed call is repeated
 * until it succeeds, so no report is lost while the process lives.
 *
 * ```
 * add → slot → (timer) → due → sink
 *                         ↑______| rejected
 * ```
 */
export class ReportQueue<T> {
  readonly #logger = new Logger(ReportQueue.name);
  readonly #slots = new Map<number, T[]>();
  readonly #stop = new AbortController();
  #due: T[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerSlot = Number.POSITIVE_INFINITY;
  #pumping = false;
  /** Resolves when the last requested sink call has ended. */
  #turn: Promise<void> = Promise.resolve();

  /** `slot`: most milliseconds between the due time of a report and its sink call. */
  constructor(
    private readonly sink: (items: readonly T[]) => Promise<void>,
    private readonly clock: Clock,
    private readonly slot: number,
  ) {}

  /** Passes `report` to the sink after `delay` milliseconds. */
  add(report: T, delay: number): void {
    if (this.#stop.signal.aborted) return;
    const slot = Math.ceil((this.clock.monotonic() + delay) / this.slot);
    const waiting = this.#slots.get(slot);
    if (waiting) waiting.push(report);
    else this.#slots.set(slot, [report]);
    if (slot < this.#timerSlot) this.#setTimer(slot);
  }

  /** Adds the reports to the next sink call; resolves when the sink has them. */
  async handOver(reports: readonly T[]): Promise<void> {
    let wait = FIRST_RETRY;
    while (!this.#stop.signal.aborted && !(await this.#call(reports))) {
      this.#logger.warn(`${reports.length} reports were not taken; again in ${wait} ms`);
      await this.#pause(wait);
      wait = Math.min(wait * 2, LAST_RETRY);
    }
  }

  /** Drops the reports that are not due or not yet taken; a poll finds them. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#slots.clear();
    await this.#turn;
  }

  #setTimer(slot: number): void {
    clearTimeout(this.#timer);
    this.#timerSlot = slot;
    const wait = slot * this.slot - this.clock.monotonic();
    this.#timer = setTimeout(() => this.#ring(), Math.min(Math.max(wait, 0), LONGEST_TIMER));
  }

  #ring(): void {
    const now = this.clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    const ripe: number[] = [];
    for (const slot of this.#slots.keys())
      if (slot * this.slot <= now) ripe.push(slot);
      else if (slot < next) next = slot;
    for (const slot of ripe.toSorted((one, other) => one - other)) {
      this.#due = this.#due.concat(this.#slots.get(slot) ?? []);
      this.#slots.delete(slot);
    }
    this.#timerSlot = Number.POSITIVE_INFINITY;
    if (next !== Number.POSITIVE_INFINITY) this.#setTimer(next);
    void this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#due.length > 0 && !this.#stop.signal.aborted)
      await this.handOver(this.#due.splice(0, BATCH));
    this.#pumping = false;
  }

  #pause(wait: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, wait);
      signal.addEventListener('abort', end);
    });
  }

  /** @returns whether the sink took them */
  async #call(reports: readonly T[]): Promise<boolean> {
    const call = this.#turn.then(() =>
      this.#stop.signal.aborted ? undefined : this.sink(reports),
    );
    this.#turn = call.then(noop, noop);
    return call.then(
      () => true,
      () => false,
    );
  }
}

function noop(): void {}
