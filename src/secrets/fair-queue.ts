interface Share<T> {
  size: number;
  readonly items: T[];
  /** In the order of their turns. */
  readonly shares: Map<string, Share<T>>;
}

const emptyShare = <T>(): Share<T> => ({ size: 0, items: [], shares: new Map() });

/**
 * A bounded queue whose turns go round: first over the classes of the items, then over the shares of
 * a class, such as networks, and so on along the path of an item. A share with many items delays the
 * others by one item a turn, and loses its own newest item where its class is full.
 */
export class FairQueue<T> {
  readonly #root: Share<T> = emptyShare();

  /** @param most items of a class, which is the first step of a path */
  constructor(private readonly most: number) {}

  /**
   * @param path of the item, from its class down
   * @returns the item that found no place: another of the largest share, or `item` itself
   */
  push(path: readonly string[], item: T): T | undefined {
    const way = [this.#root];
    for (const step of path) {
      const last = way[way.length - 1] ?? this.#root;
      const next = last.shares.get(step) ?? emptyShare<T>();
      last.shares.set(step, next);
      way.push(next);
    }
    way.at(-1)?.items.push(item);
    for (const share of way) share.size++;
    const ofClass = way[1] ?? this.#root;
    return ofClass.size > this.most ? this.#dropFrom([this.#root, ofClass]) : undefined;
  }

  /** The next item, whose share gets its next turn after all others. */
  shift(): T | undefined {
    let share = this.#root;
    while (share.size > 0) {
      share.size--;
      const item = share.items.shift();
      if (item !== undefined) return item;
      const [first] = share.shares;
      if (!first) return undefined;
      const [step, next] = first;
      share.shares.delete(step);
      if (next.size > 1) share.shares.set(step, next);
      share = next;
    }
    return undefined;
  }

  /** Drops the newest item of the largest share below the last one of `way`. */
  #dropFrom(way: Share<T>[]): T | undefined {
    for (;;) {
      const share = way.at(-1) ?? this.#root;
      if (share.items.length > 0) {
        for (const one of way) one.size--;
        return share.items.pop();
      }
      const [largest] = [...share.shares].toSorted(([, a], [, b]) => b.size - a.size);
      if (!largest) return undefined;
      const [step, next] = largest;
      if (next.size === 1) share.shares.delete(step);
      way.push(next);
    }
  }
}
