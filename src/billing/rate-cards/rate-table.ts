/** The price of one unit: of a part of an SMS, of a message, of a minute of a call. */
export interface Rate {
  readonly channel: string;
  /** Digits with country code, the start of numbers; `*`: every recipient without a longer one. */
  readonly prefix: string;
  /** `null`: the channel has no categories of prices. */
  readonly category: string | null;
  /** Decimal text with up to six digits after the point. */
  readonly price: string;
  /** The same in millionths. */
  readonly amount: bigint;
  /** Seconds of the first and of each further block, such as `60/60`; `null`: not billed by time. */
  readonly billing: string | null;
}

/** The prefix that stands for every other recipient. */
export const OTHERS = '*';

/** Recipients with one price. */
export interface RateGroup {
  readonly rate: Rate;
  readonly recipients: number;
}

export interface PricedRecipients {
  /** In the order of the first recipient of each. */
  readonly groups: readonly RateGroup[];
  /** Price of one unit to each recipient that has a price, in millionths. */
  readonly amount: bigint;
  /** Place of the first recipient without a price; -1: each has one. */
  readonly unpriced: number;
}

/**
 * The rates of one version of a card in memory. A recipient costs one step for each digit of the longest
 * prefix that may fit it, however many rates there are.
 */
export class RateTable {
  readonly #kinds = new Map<string, PrefixTree>();
  readonly #channels: ReadonlySet<string>;
  readonly #categories = new Map<string, Set<string>>();

  /** @param rates at most one of a channel, category and prefix */
  constructor(readonly rates: readonly Rate[]) {
    this.#channels = new Set(rates.map(({ channel }) => channel));
    const kinds = new Map<string, Rate[]>();
    for (const rate of rates) {
      const list = kinds.get(kindOf(rate));
      if (list) list.push(rate);
      else kinds.set(kindOf(rate), [rate]);
    }
    for (const [kind, list] of kinds) this.#kinds.set(kind, new PrefixTree(list));
    for (const { channel, category } of rates) {
      if (category === null) continue;
      const known = this.#categories.get(channel) ?? new Set();
      this.#categories.set(channel, known.add(category));
    }
  }

  hasRatesOf(channel: string): boolean {
    return this.#channels.has(channel);
  }

  /** Categories in which the channel has prices. */
  categoriesOf(channel: string): readonly string[] {
    return [...(this.#categories.get(channel) ?? [])];
  }

  /**
   * The rate with the longest prefix of the recipient.
   * @param category has no effect on a channel whose rates have none
   * @param recipient an address key; `null`: the rate of every other recipient
   */
  find(channel: string, category: string | null, recipient: string | null): Rate | undefined {
    return this.#treeOf(channel, category)?.find(recipient ?? '');
  }

  /** The rate of the recipient on each channel, in each category. */
  findAll(recipient: string): readonly Rate[] {
    return [...this.#kinds.values()].flatMap((tree) => tree.find(recipient) ?? []);
  }

  /** Prices the recipients of a batch in one pass. */
  price(channel: string, category: string | null, recipients: readonly string[]): PricedRecipients {
    const tree = this.#treeOf(channel, category);
    if (!tree) return { groups: [], amount: 0n, unpriced: recipients.length === 0 ? -1 : 0 };
    return tree.price(recipients);
  }

  #treeOf(channel: string, category: string | null): PrefixTree | undefined {
    const of = (one: string | null) => this.#kinds.get(kindOf({ channel, category: one }));
    return of(category) ?? of(null);
  }
}

function kindOf({ channel, category }: Pick<Rate, 'channel' | 'category'>): string {
  return `${channel} ${category ?? ''}`;
}

const DIGITS = 10;
const ZERO = '0'.charCodeAt(0);

/** The digits of prefixes as a tree in two arrays of numbers. */
class PrefixTree {
  /** The node after a digit, at `node * 10 + digit`; 0: there is none. Node 0 is the root. */
  readonly #next: Int32Array;
  /** The place in `rates` of the prefix that ends at a node; -1: none does. */
  readonly #ends: Int32Array;
  /** Recipients by the place of their rate, while they are priced; all zero before and after. */
  readonly #counts: Int32Array;

  constructor(private readonly rates: readonly Rate[]) {
    const next: number[] = Array.from({ length: DIGITS }, () => 0);
    const ends = [-1];
    for (const [place, { prefix }] of rates.entries()) {
      let node = 0;
      for (const digit of prefix === OTHERS ? '' : prefix) {
        const at = node * DIGITS + Number(digit);
        if (!next[at]) {
          next[at] = ends.push(-1) - 1;
          for (let more = 0; more < DIGITS; more++) next.push(0);
        }
        node = next[at] ?? 0;
      }
      ends[node] = place;
    }
    this.#next = Int32Array.from(next);
    this.#ends = Int32Array.from(ends);
    this.#counts = new Int32Array(rates.length);
  }

  find(recipient: string): Rate | undefined {
    return this.rates[this.#placeOf(recipient)];
  }

  price(recipients: readonly string[]): PricedRecipients {
    const counts = this.#counts;
    const order: number[] = [];
    let unpriced = -1;
    for (let at = 0; at < recipients.length; at++) {
      const place = this.#placeOf(recipients[at] ?? '');
      const count = counts[place];
      if (count === undefined) {
        if (unpriced < 0) unpriced = at;
        continue;
      }
      if (count === 0) order.push(place);
      counts[place] = count + 1;
    }
    let amount = 0n;
    const groups = order.flatMap((place): RateGroup[] => {
      const rate = this.rates[place];
      const count = counts[place] ?? 0;
      counts[place] = 0;
      if (!rate) return [];
      amount += rate.amount * BigInt(count);
      return [{ rate, recipients: count }];
    });
    return { groups, amount, unpriced };
  }

  /** -1: no prefix fits. An address that is no number has the rate of every other recipient. */
  #placeOf(recipient: string): number {
    let found = this.#ends[0] ?? -1;
    for (let at = 0, node = 0; at < recipient.length; at++) {
      const digit = recipient.charCodeAt(at) - ZERO;
      if (digit < 0 || digit >= DIGITS) break;
      node = this.#next[node * DIGITS + digit] ?? 0;
      if (node === 0) break;
      const end = this.#ends[node] ?? -1;
      if (end >= 0) found = end;
    }
    return found;
  }
}
