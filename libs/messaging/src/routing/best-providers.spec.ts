import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OutcomeSpan, RecentOutcomes } from '../message/outcomes.js';
import type { ReceiptFinding } from '../message/receipt-doubts.js';
import { type BestOptions, readBest } from '../ports/best-options.js';
import { BestProviders } from './best-providers.js';

const MINUTE = 60_000;
const SPAN = 5 * MINUTE;
/** Milliseconds in which a delivery is reported. */
const REPORTED_IN = 4_000;
const NAMES = ['a', 'b', 'c'];

/** A generator of numbers from 0 to 1 that a seed repeats. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let one = Math.imul(state ^ (state >>> 15), state | 1);
    one ^= one + Math.imul(one ^ (one >>> 7), one | 61);
    return ((one ^ (one >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Sent {
  readonly provider: string;
  readonly at: number;
  readonly arrives: boolean;
}

const IN_NIGERIA = { channel: 'sms', country: 'NG', p95: 1_000, deliveries: 0, fast: 0 };

const read = (...found: RecentOutcomes[]) => ({ found, doubts: [] });

/** Providers that deliver a share of their messages, and report nothing about the others. */
class World {
  now = 1_790_000_000_000;
  reads = 0;
  readonly sent: Sent[] = [];
  doubts: ReceiptFinding[] = [];
  readonly chosen: BestProviders;
  readonly #random: () => number;
  #number = 0;

  constructor(
    readonly shares: Record<string, number>,
    options: BestOptions = {},
    seed = 1,
  ) {
    this.#random = random(seed);
    this.chosen = new BestProviders(
      readBest('best', options),
      { now: () => this.now, monotonic: () => this.now },
      async (since) => {
        this.reads++;
        return { found: this.#outcomes(since), doubts: this.doubts };
      },
    );
  }

  get group() {
    return { names: Object.keys(this.shares), channel: 'sms', country: 'NG' };
  }

  get leader(): string {
    const counts = new Map<string, number>();
    for (let n = 0; n < 200; n++) {
      const [first = ''] = this.chosen.orderOf(this.group, `look-${n}`);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    return [...counts].toSorted((one, other) => other[1] - one[1])[0]?.[0] ?? '';
  }

  /** Sends `perMinute` messages a minute. @returns by provider */
  async pass(minutes: number, perMinute = 600): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (let n = 0; n < minutes * perMinute; n++) {
      this.now += MINUTE / perMinute;
      await this.chosen.refreshed();
      const [provider = ''] = this.chosen.orderOf(this.group, `id-${this.#number++}`);
      counts[provider] = (counts[provider] ?? 0) + 1;
      const arrives = this.#random() < (this.shares[provider] ?? 0);
      this.sent.push({ provider, at: this.now, arrives });
    }
    return counts;
  }

  #outcomes(since: number): RecentOutcomes[] {
    return Object.keys(this.shares).map((provider) => {
      const own = this.sent.filter((one) => one.provider === provider && one.at >= since);
      const spans = new Map<number, Sent[]>();
      for (const one of own) {
        const start = one.at - (one.at % SPAN);
        const known = spans.get(start);
        if (known) known.push(one);
        else spans.set(start, [one]);
      }
      const isKnown = ({ arrives, at }: Sent) => arrives && at + REPORTED_IN <= this.now;
      return {
        provider,
        channel: 'sms',
        country: 'NG',
        p95: own.some(isKnown) ? REPORTED_IN : null,
        deliveries: own.filter(isKnown).length,
        fast: 0,
        spans: [...spans]
          .map(([start, all]): OutcomeSpan => {
            const delivered = all.filter(isKnown).length;
            return { start, end: start + SPAN, delivered, failed: 0, open: all.length - delivered };
          })
          .toSorted((one, other) => other.start - one.start),
      };
    });
  }
}

describe('BestProviders', () => {
  it('without data the order of the rule is used, and no reason is stated', async () => {
    const world = new World({ a: 0.9, b: 0.9 }, { explore: 0 });
    await world.chosen.refreshed();
    expect(world.chosen.orderOf(world.group, 'one')).toEqual(['a', 'b']);
    expect(world.chosen.reasonOf(world.group, 'one')).toBeNull();
  });

  it('a provider whose messages no longer arrive is left within 5 minutes, and leads again once they arrive', async () => {
    const world = new World({ a: 0.97, b: 0.9 });
    await world.pass(30);
    expect(world.leader).toBe('a');
    world.shares['a'] = 0;
    await world.pass(5);
    expect(world.leader).toBe('b');
    expect(world.chosen.reasonOf(world.group, 'look-0')).toMatch(
      /^b: (?:8|9)\d\.\d % of [\d,]+ delivered in 4 s, a: \d+\.\d % of [\d,]+ delivered in 4 s$/,
    );
    world.shares['a'] = 0.97;
    await world.pass(60);
    expect(world.leader).toBe('a');
  });

  it('a share of submissions leaves by the others, and the same submission always by the same provider', async () => {
    const world = new World({ a: 0.9, b: 0.9, c: 0.9 }, { explore: 0.1, refresh: '10m' });
    const counts = await world.pass(20, 1_000);
    for (const name of ['b', 'c']) {
      expect(counts[name]).toBeGreaterThan(20_000 * 0.04);
      expect(counts[name]).toBeLessThan(20_000 * 0.06);
    }
    const orders = NAMES.map(() => world.chosen.orderOf(world.group, 'one').join());
    expect(new Set(orders).size).toBe(1);
  });

  it('the counts are read once in each `refresh`, however many messages there are, and not without messages', async () => {
    const world = new World({ a: 0.9, b: 0.9 });
    await world.pass(10, 1_000);
    expect(world.reads).toBeLessThanOrEqual(11);
    world.now += 600 * MINUTE;
    expect(world.reads).toBeLessThanOrEqual(11);
  });

  it('a read that fails leaves the leader as it is', async () => {
    let fails = false;
    let now = 1_790_000_000_000;
    const span = { start: now - SPAN, end: now, failed: 0, open: 0 };
    const chosen = new BestProviders(
      readBest('best', { explore: 0 }),
      { now: () => now, monotonic: () => now },
      async () => {
        if (fails) throw new Error('database is gone');
        return read(
          { ...IN_NIGERIA, provider: 'a', spans: [{ ...span, delivered: 200, failed: 200 }] },
          { ...IN_NIGERIA, provider: 'b', spans: [{ ...span, delivered: 400 }] },
        );
      },
    );
    const group = { names: ['a', 'b'], channel: 'sms', country: 'NG' };
    await chosen.refreshed();
    expect(chosen.orderOf(group, 'one')).toEqual(['b', 'a']);
    fails = true;
    now += 600 * MINUTE;
    await chosen.refreshed();
    expect(chosen.orderOf(group, 'one')).toEqual(['b', 'a']);
    expect(chosen.reasonOf(group, 'one')).toBe(
      'b: 100.0 % of 400 delivered in 1 s, a: 50.0 % of 400 delivered in 1 s',
    );
  });

  it('figures are read again while the wall clock is behind the time to which it was ahead', async () => {
    const start = 1_790_000_000_000;
    let passed = 0;
    let ahead = 0;
    const clock = { now: () => start + ahead + passed, monotonic: () => passed };
    const since: number[] = [];
    const settings = readBest('best', { explore: 0 });
    const chosen = new BestProviders(settings, clock, async (at) => {
      since.push(at);
      return read();
    });
    await chosen.refreshed();
    ahead = -60 * MINUTE;
    passed += 2 * MINUTE;
    await chosen.refreshed();
    expect(since).toEqual([start - settings.window, start - 58 * MINUTE - settings.window]);
  });

  it('a slow provider is left where the delivered shares are alike', async () => {
    const now = 1_790_000_000_000;
    const spans = [{ start: now - SPAN, end: now, delivered: 950, failed: 50, open: 0 }];
    const of = (provider: string, p95: number) => ({ ...IN_NIGERIA, provider, p95, spans });
    const chosen = new BestProviders(
      readBest('best', { explore: 0 }),
      { now: () => now, monotonic: () => now },
      async () => read(of('a', 8 * MINUTE), of('b', 2_000)),
    );
    await chosen.refreshed();
    const group = { names: ['a', 'b'], channel: 'sms', country: 'NG' };
    expect(chosen.orderOf(group, 'one')).toEqual(['b', 'a']);
    // Nothing is known of another country.
    expect(chosen.orderOf({ ...group, country: 'GH' }, 'one')).toEqual(['a', 'b']);
  });

  it('a provider whose reports a second witness contradicts is left, however good its figures are', async () => {
    const world = new World({ a: 0.99, b: 0.9 });
    await world.pass(20);
    expect(world.leader).toBe('a');
    const finding = { channel: 'sms', country: 'NG', share: 0.2, others: 0.7, messages: 100 };
    world.doubts = [{ ...finding, provider: 'a', witness: 'codes', doubt: 0.7, reason: 'x' }];
    await world.pass(2);
    expect(world.leader).toBe('b');
    expect(world.chosen.reasonOf(world.group, 'look-0')).toMatch(
      /^b: [\d.]+ % of [\d,]+ delivered in 4 s, a: [\d.]+ % of [\d,]+ delivered in 4 s, 70\.0 % doubted$/,
    );
  });

  it('the leader changes only to a provider whose score is higher by more than the margin', async () => {
    const count = fc.integer({ min: 0, max: 3_000 });
    const figures = fc.array(fc.tuple(count, count), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(figures, { minLength: 1, maxLength: 12 }), async (steps) => {
        let now = 1_790_000_000_000;
        let step: readonly (readonly [number, number])[] = [];
        const settings = readBest('best', { explore: 0 });
        const chosen = new BestProviders(
          settings,
          { now: () => now, monotonic: () => now },
          async () =>
            read(
              ...step.map(([delivered, failed], n) => ({
                ...IN_NIGERIA,
                provider: NAMES[n] as string,
                spans: [{ start: now - 2 * SPAN, end: now - SPAN, delivered, failed, open: 0 }],
              })),
            ),
        );
        const group = { names: ['a', 'b'], channel: 'sms', country: 'NG' };
        let leader = 'a';
        for (step of steps) {
          now += MINUTE;
          await chosen.refreshed();
          const [next] = chosen.orderOf(group, 'one') as [string];
          const shareOf = (name: string) => {
            const [delivered, failed] = step[NAMES.indexOf(name)] as readonly [number, number];
            const all = delivered + failed;
            return all < settings.minSamples ? undefined : delivered / all;
          };
          const isBetter = (shareOf(next) ?? 0) - (shareOf(leader) ?? 2) > settings.margin;
          expect(next === leader || isBetter).toBe(true);
          leader = next;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('equal providers rarely take the lead from each other, whatever the seed', async () => {
    let changes = 0;
    for (let seed = 1; seed <= 5; seed++) {
      const world = new World({ a: 0.95, b: 0.95 }, {}, seed);
      let leader = 'a';
      for (let minute = 0; minute < 60; minute++) {
        await world.pass(1, 100);
        if (world.leader !== leader) changes++;
        ({ leader } = world);
      }
    }
    // In five hours.
    expect(changes).toBeLessThanOrEqual(5);
  });
});
