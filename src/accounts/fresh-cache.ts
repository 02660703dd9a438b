import type { DataSource, FindOptionsWhere } from 'typeorm';

/** Longest age of a returned value, in milliseconds. */
const MAX_AGE = 1_000;
const MAX_ENTRIES = 10_000;
const KEYS_A_READ = 500;

interface Entry<V> {
  readonly value: V;
  /** Start of the read that found it. */
  readonly readAt: number;
}

/**
 * Caches values for up to a second and reads many in one query. Missing values are not cached, so
 * that new rows are found at once.
 */
export class FreshCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  /** The read that has not begun. */
  #next:
    | { readonly keys: Set<string>; readonly found: Promise<ReadonlyMap<string, V>> }
    | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #generation = 0;

  /** `load` returns the values that exist; `now` is in monotonic milliseconds. */
  constructor(
    private readonly load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  async get(key: string): Promise<V | undefined> {
    const entry = this.#entries.get(key);
    if (entry && this.now() - entry.readAt < MAX_AGE) return entry.value;
    return (await this.#read(key)).get(key);
  }

  /** Empties the cache; the results of reads under way are not cached. */
  clear(): void {
    this.#generation++;
    this.#entries.clear();
  }

  /** Adds the key to the next read, which begins when the one before it has ended. */
  #read(key: string): Promise<ReadonlyMap<string, V>> {
    if (!this.#next || this.#next.keys.size === KEYS_A_READ) {
      const keys = new Set<string>();
      const found = this.#last.then(() => this.#load(keys));
      this.#next = { keys, found };
      this.#last = found.catch(() => undefined);
    }
    this.#next.keys.add(key);
    return this.#next.found;
  }

  async #load(keys: ReadonlySet<string>): Promise<ReadonlyMap<string, V>> {
    if (this.#next?.keys === keys) this.#next = undefined;
    const generation = this.#generation;
    const readAt = this.now();
    const found = await this.load([...keys]);
    if (generation === this.#generation)
      for (const key of keys) this.#put(key, found.get(key), readAt);
    return found;
  }

  #put(key: string, value: V | undefined, readAt: number): void {
    this.#entries.delete(key);
    if (value === undefined) return;
    this.#entries.set(key, { value, readAt });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }
}

/** Caches the rows of an entity by the columns that identify one, such as account and sender. */
export class RowCache<E extends object> {
  readonly #keyOf = (row: Partial<E>): string => JSON.stringify(row, this.columns);
  readonly #rows = new FreshCache(async (keys) => {
    const wanted = keys.map((key) => JSON.parse(key) as FindOptionsWhere<E>);
    const found = await this.source.manager.findBy(this.entity, wanted);
    return new Map(found.map((row) => [this.#keyOf(row), row]));
  });

  constructor(
    private readonly source: DataSource,
    private readonly entity: new () => E,
    private readonly columns: (keyof E & string)[],
  ) {}

  find(row: Partial<E>): Promise<E | undefined> {
    return this.#rows.get(this.#keyOf(row));
  }

  clear(): void {
    this.#rows.clear();
  }
}
