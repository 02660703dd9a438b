/** Counts the connections and binds of each network. */
export class Networks {
  readonly #counts = new Map<string, { readonly connections: number; readonly binds: number }>();

  constructor(private readonly networkOf: (address: string) => string) {}

  unbound(address: string): number {
    const { connections, binds } = this.#of(this.networkOf(address));
    return connections - binds;
  }

  binds(address: string): number {
    return this.#of(this.networkOf(address)).binds;
  }

  /** @param by 1, or -1 at the end; a network without connections takes no memory */
  add(kind: 'connections' | 'binds', address: string, by: 1 | -1): void {
    const key = this.networkOf(address);
    const count = { ...this.#of(key) };
    count[kind] += by;
    if (count.connections === 0 && count.binds === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  #of(key: string) {
    return this.#counts.get(key) ?? { connections: 0, binds: 0 };
  }
}

/** An IPv4 address, or the /64 of an IPv6 address, which one customer usually has whole. */
export function smallNetworkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head, tail] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const written = head ?? [];
  const zeros = tail ? Array<string>(Math.max(0, 8 - written.length - tail.length)).fill('0') : [];
  return [...written, ...zeros, ...(tail ?? [])].slice(0, 4).join(':');
}

/** Counts events in windows of a second. */
export class SecondsRate {
  #taken = 0;
  #endsAt = 0;

  constructor(private readonly max: number) {}

  /** @returns whether the second has room for one more */
  take(): boolean {
    const now = performance.now();
    if (now >= this.#endsAt) {
      this.#endsAt = now + 1_000;
      this.#taken = 0;
    }
    return ++this.#taken <= this.max;
  }

  /** Gives a place back. */
  give(): void {
    this.#taken--;
  }
}
