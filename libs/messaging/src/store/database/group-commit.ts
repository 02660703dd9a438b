import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { isDataError } from './database-errors.js';

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitOptions<T> {
  /** Largest weight of one flush. */
  readonly maxItems: number;
  /** Weight of one item against `maxItems`. @default 1 each */
  readonly weight?: (item: T) => number;
  /** Delays a flush while its group grows or more items are expected. @default no delay */
  readonly gather?: {
    /** Number of items that ends the delay. */
    readonly items: number;
    /** Longest delay in milliseconds. */
    readonly milliseconds: number;
    /** Longest time in milliseconds since the last item, while more items are expected. */
    readonly silence: number;
    readonly expecting: () => boolean;
  };
  /** Whether the error concerns the items: the group is split until the bad item fails alone. */
  readonly isItemError: (error: unknown) => boolean;
}

/** Commits a group; calls `take` once its transaction is open. A retry takes the same group. */
export type Flush<T, R> = (take: () => readonly T[]) => Promise<readonly R[]>;

/**
 * Natural batching: items that arrive during a flush go into the next one, so that a single caller
 * never waits and many callers share commits. A caller's promise settles after its item's commit.
 */
export class GroupCommit<T, R> {
  #waiting: Waiting<T, R>[] = [];
  #running: Promise<void> | undefined;

  constructor(
    private readonly flush: Flush<T, R>,
    private readonly options: GroupCommitOptions<T>,
  ) {}

  add(item: T): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // Items of one turn of the event loop share a flush.
    await turn();
    while (this.#waiting.length > 0) {
      await this.#gather();
      let group: readonly Waiting<T, R>[] | undefined;
      await this.#settle(() => (group ??= this.#take()));
    }
    this.#running = undefined;
  }

  /** Waits a moment while each turn of the event loop brings more items, which spares a commit. */
  async #gather(): Promise<void> {
    const { gather } = this.options;
    if (!gather) return;
    const until = performance.now() + gather.milliseconds;
    let before = 0;
    let quietAt = Infinity;
    for (;;) {
      const now = performance.now();
      const size = this.#waiting.length;
      if (size >= gather.items || now >= until) return;
      if (size > before) {
        before = size;
        quietAt = now + gather.silence;
        await turn();
      } else if (now < quietAt && gather.expecting()) await wait(1);
      else return;
    }
  }

  #take(): Waiting<T, R>[] {
    const { maxItems, weight } = this.options;
    let total = 0;
    let count = 0;
    for (const { item } of this.#waiting) {
      total += weight ? weight(item) : 1;
      if (count > 0 && total > maxItems) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #settle(take: () => readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.flush(() => take().map(({ item }) => item));
      take().forEach(({ resolve }, index) => resolve(results[index] as R));
    } catch (error) {
      const group = take();
      if (group.length === 1 || !this.options.isItemError(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      const middle = group.length >> 1;
      for (const half of [group.slice(0, middle), group.slice(middle)])
        await this.#settle(() => half);
    }
  }
}

interface LaneGroupOptions<T, R> {
  /** Handles all items without waiting for locks. Lanes missing from the result are unchanged. */
  readonly many: (items: readonly T[]) => Promise<ReadonlyMap<string, R>>;
  readonly alone: (item: T) => Promise<R>;
  /** Largest weight of one flush. */
  readonly most: number;
  readonly weight?: (item: T) => number;
}

/**
 * Runs the same request of many lanes in one statement or transaction. A lane with locked rows, or
 * with data that the database refuses, runs alone, and the other lanes do not wait for it.
 */
export class LaneGroup<T extends { readonly lane: string }, R> {
  readonly #group: GroupCommit<T, R | Promise<R>>;

  constructor(private readonly options: LaneGroupOptions<T, R>) {
    const { most, weight } = options;
    this.#group = new GroupCommit((take) => this.#flush(take()), {
      maxItems: most,
      ...(weight && { weight }),
      isItemError: isDataError,
    });
  }

  async add(item: T): Promise<R> {
    return this.#group.add(item);
  }

  async #flush(items: readonly T[]): Promise<(R | Promise<R>)[]> {
    const { many, alone } = this.options;
    // A lane has one request at a time; a second one waits for the lane's row.
    const first = new Map<string, T>();
    for (const item of items) if (!first.has(item.lane)) first.set(item.lane, item);
    const done = await many([...first.values()]);
    return items.map((item) =>
      first.get(item.lane) === item && done.has(item.lane)
        ? (done.get(item.lane) as R)
        : alone(item),
    );
  }
}
