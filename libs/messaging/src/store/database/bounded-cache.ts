/** Keeps the latest used values up to a total size. */
export class BoundedCache<T> {
  readonly #values = new Map<string, { readonly value: T; readonly size: number }>();
  #size = 0;

  constructor(private readonly most: number) {}

  get(key: string): T | undefined {
    const known = this.#values.get(key);
    if (!known) return undefined;
    this.#values.delete(key);
    this.#values.set(key, known);
    return known.value;
  }

  set(key: string, value: T, size: number): void {
    this.#drop(key);
    this.#values.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.most || oldest === key) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#values.get(key)?.size ?? 0;
    this.#values.delete(key);
  }
}
