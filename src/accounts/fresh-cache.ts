export interface FreshCacheOptions<V> {
  /** Reads the values of `keys` that exist; called with many at once. */
  readonly load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;
  /** Whether to cache the value; other values are read each time. */
  readonly keep: (value: V) => boolean;
  /** Most entries; the entry with the oldest access is dropped first. @default 10000 */
  readonly max?: number;
  /** Longest age of a returned value, in milliseconds. @default 1000 */
  readonly maxAge?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

interface Entry<V> {
  readonly value: V;
  /** Start of the read that found it. */
  readonly readAt: number;
}

/** Past this part of `maxAge`, a request refreshes the entry in the background. */
const REFRESH_AFTER = 0.4;
const KEYS_A_READ = 500;

/**
 * Caches values for up to a second. Frequent callers never wait for the database: ageing entries
 * are refreshed in the background, many in one read. Missing values are not cached, so that new
 * rows are found at once.
 */
export class FreshCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #waiting = new Map<string, ((value: V | undefined, error?: unknown) => void)[]>();
  readonly #now: () => number;
  readonly #max: number;
  readonly #maxAge: number;
  #reading = false;
  #generation = 0;

  constructor(private readonly options: FreshCacheOptions<V>) {
    this.#now = options.now ?? (() => performance.now());
    this.#max = options.max ?? 10_000;
    this.#maxAge = options.maxAge ?? 1_000;
  }

  /** The value, if the cache has a fresh one; synchronous, for the hot path. */
  peek(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const age = this.#now() - entry.readAt;
    if (age >= this.#maxAge) return undefined;
    if (age >= this.#maxAge * REFRESH_AFTER && !this.#waiting.has(key)) this.#enqueue(key);
    return entry.value;
  }

  /** The value, from the cache if it has a fresh one, else from the database. */
  get(key: string): Promise<V | undefined> {
    const known = this.peek(key);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      this.#enqueue(key, (value, error) => (error === undefined ? resolve(value) : reject(error)));
    });
  }

  /** Empties the cache; the results of reads under way are not cached. */
  clear(): void {
    this.#generation++;
    this.#entries.clear();
  }

  #enqueue(key: string, settle?: (value: V | undefined, error?: unknown) => void): void {
    const settlers = this.#waiting.get(key);
    if (settlers) {
      if (settle) settlers.push(settle);
    } else this.#waiting.set(key, settle ? [settle] : []);
    if (this.#reading) return;
    this.#reading = true;
    queueMicrotask(() => void this.#readAll());
  }

  async #readAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, KEYS_A_READ);
      for (const [key] of batch) this.#waiting.delete(key);
      await this.#read(batch);
    }
    this.#reading = false;
  }

  async #read(
    batch: readonly (readonly [string, ((value: V | undefined, error?: unknown) => void)[]])[],
  ): Promise<void> {
    const generation = this.#generation;
    const readAt = this.#now();
    try {
      const found = await this.options.load(batch.map(([key]) => key));
      for (const [key, settlers] of batch) {
        const value = found.get(key);
        if (generation === this.#generation) this.#put(key, value, readAt);
        for (const settle of settlers) settle(value);
      }
    } catch (error) {
      // The next request repeats a refresh that failed; the entry still ages.
      for (const [, settlers] of batch) for (const settle of settlers) settle(undefined, error);
    }
  }

  #put(key: string, value: V | undefined, readAt: number): void {
    this.#entries.delete(key);
    if (value === undefined || !this.options.keep(value)) return;
    this.#entries.set(key, { value, readAt });
    if (this.#entries.size > this.#max) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
  }
}
