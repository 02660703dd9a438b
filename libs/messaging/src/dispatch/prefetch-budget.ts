/** Messages that all lanes of a process together may have ready to start. */
const MOST = 32_000;

/** Messages a lane with nothing ready may always take. */
const LEAST = 16;

/**
 * What lanes have ready to start, over all lanes of a process. A lane that wants more gets a quarter of
 * what is left, so that whoever comes next finds some, and its least where nothing is left: nobody
 * waits for anybody. So all of them hold at most `most`, and `least` for each lane.
 */
export class PrefetchBudget {
  #held = 0;

  constructor(
    private readonly most = MOST,
    private readonly least = LEAST,
  ) {}

  /** Messages ready to start, or about to be. */
  get held(): number {
    return this.#held;
  }

  /** How many of `wanted` messages a lane may have planned at once that has `ready` ones; 0: it has enough. */
  share(wanted: number, ready: number): number {
    const part = Math.floor((this.most - this.#held) / 4);
    // A whole slice is kept ahead: planning and writing one down takes a good part of the time another needs to leave.
    if (part >= wanted) return ready <= wanted ? wanted : 0;
    const size = Math.min(wanted, Math.max(this.least, part));
    return ready <= Math.max(0, size - this.least) ? size : 0;
  }

  hold(messages: number): void {
    this.#held += messages;
  }

  release(messages: number): void {
    this.#held -= messages;
  }
}
