import { isDataError } from './database-errors.js';
import { GroupCommit } from './group-commit.js';

export interface LaneGroupOptions<T, R> {
  /**
   * Does it for all of them at once and waits for nobody's lock. Lanes missing in its answer it has not touched.
   */
  readonly together: (items: readonly T[]) => Promise<ReadonlyMap<string, R>>;
  /** Does it for one lane, and waits where it has to. */
  readonly alone: (item: T) => Promise<R>;
  /** Weight of one flush at most. */
  readonly most: number;
  /** @default 1 each */
  readonly weight?: (item: T) => number;
  /** What weighs more goes alone, at once. @default none does */
  readonly heavy?: number;
}

/**
 * The same thing for many lanes in one statement or transaction: what lanes ask for while a flush runs
 * goes into the next one. A lane whose rows somebody else has locked, or whose data the database
 * refuses, goes alone, and the others do not wait for it.
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
    const { weight, heavy = Infinity, alone } = this.options;
    return weight && weight(item) > heavy ? alone(item) : this.#group.add(item);
  }

  async #flush(items: readonly T[]): Promise<(R | Promise<R>)[]> {
    const { together, alone } = this.options;
    // A lane asks for one thing at a time. Should it ask twice, the second waits for its row.
    const first = new Map<string, T>();
    for (const item of items) if (!first.has(item.lane)) first.set(item.lane, item);
    const done = await together([...first.values()]);
    return items.map((item) =>
      first.get(item.lane) === item && done.has(item.lane)
        ? (done.get(item.lane) as R)
        : alone(item),
    );
  }
}
