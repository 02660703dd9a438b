import type { Clock } from '@dundun/messaging';

/** Answers that are kept at once; each is of one query of one kind of caller. */
const MOST = 200;

interface Kept {
  until: number;
  readonly answer: Promise<unknown>;
}

/** Answers that several open pages share, each for some milliseconds after it was read. */
export class SharedAnswers {
  readonly #kept = new Map<string, Kept>();

  constructor(private readonly clock: () => Pick<Clock, 'monotonic'>) {}

  /** Milliseconds until {@link get} reads anew; 0: at once. */
  left(key: string): number {
    const { until = 0 } = this.#kept.get(key) ?? {};
    return Math.max(0, until - this.clock().monotonic());
  }

  /** @param keep milliseconds, or how many for a read that took so many */
  get<T>(
    key: string,
    read: () => Promise<T>,
    keep: number | ((took: number) => number),
  ): Promise<T> {
    const clock = this.clock();
    const began = clock.monotonic();
    const known = this.#kept.get(key);
    if (known && began < known.until) return known.answer as Promise<T>;
    for (const [old, { until }] of this.#kept)
      if (until < began || this.#kept.size >= MOST) this.#kept.delete(old);
    const kept = { until: Infinity, answer: read() };
    this.#kept.set(key, kept);
    kept.answer.then(
      () => {
        const ended = clock.monotonic();
        kept.until = ended + (typeof keep === 'number' ? keep : keep(ended - began));
      },
      () => this.#kept.delete(key),
    );
    return kept.answer;
  }
}
