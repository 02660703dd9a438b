import { describe, expect, it } from '@jest/globals';
import { type ReceiptEvidence, type ReceiptFinding, receiptFindings } from './receipt-doubts.js';

/** A generator of numbers from 0 to 1 that a seed repeats. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Of those who get a code, the share that checks it. */
const CHECKS = 0.75;

interface Carrier {
  /** Share of the messages that arrive; all others are reported as delivered, too. */
  readonly arrives: number;
  /** Share of reports that come at once. */
  readonly fast: number;
}

const HONEST = { arrives: 0.96, fast: 0.002 };

/** Messages of three carriers, a fifth of them with one-time codes. */
function run(seed: number, a: Carrier, messages: number, codeShare = 0.2): ReceiptEvidence[] {
  const next = random(seed);
  return Object.entries({ a, b: HONEST, c: { ...HONEST, arrives: 0.93 } }).map(
    ([provider, { arrives, fast }]) => {
      const count = { codes: 0, checked: 0, deliveries: 0, fast: 0 };
      for (let n = 0; n < messages; n++) {
        const isHere = next() < arrives;
        const isFast = next() < fast;
        count.deliveries++;
        if (isFast) count.fast++;
        if (next() >= codeShare) continue;
        count.codes++;
        if (isHere && next() < CHECKS) count.checked++;
      }
      return { provider, channel: 'sms', country: 'NG', ...count };
    },
  );
}

describe('receiptFindings', () => {
  const SEEDS = Array.from({ length: 20 }, (_, n) => 7_919 * (n + 1));

  it.each(SEEDS)('honest carriers are not doubted (seed %i)', (seed) => {
    for (const messages of [100, 500, 2_000, 20_000])
      expect(receiptFindings(run(seed, HONEST, messages))).toEqual([]);
  });

  it.each(SEEDS)(
    'a carrier that reports what never arrives is found within 500 messages (seed %i)',
    (seed) => {
      const found = receiptFindings(run(seed, { arrives: 0.3, fast: 0.002 }, 500));
      expect(found.map(({ provider, witness }) => [provider, witness])).toEqual([['a', 'codes']]);
      const [finding] = found;
      expect(finding?.doubt).toBeGreaterThan(0.4);
      expect(finding?.doubt).toBeLessThan(0.95);
      expect(finding?.reason).toMatch(
        /^\d+\.\d % of \d+ one-time codes were checked, of the other providers \d+\.\d %$/,
      );
    },
  );

  it.each(SEEDS)(
    'a carrier whose reports come before a telephone can answer is found within 500 messages (seed %i)',
    (seed) => {
      const found = receiptFindings(run(seed, { arrives: 0.9, fast: 0.5 }, 500, 0));
      expect(found.map(({ provider, witness }) => [provider, witness])).toEqual([['a', 'speed']]);
    },
  );

  it('each delivery that test phones have not got counts, and more of them are doubted more', () => {
    const of = (provider: string, reported: number, seen: number) => {
      const none = { codes: 0, checked: 0, deliveries: 0, fast: 0 };
      return { provider, channel: 'sms', country: 'NG', ...none, reported, seen };
    };
    expect(receiptFindings([of('a', 10, 10), of('b', 3, 3)])).toEqual([]);
    const [few, many] = [
      [of('a', 1, 0), of('b', 3, 3)],
      [of('a', 10, 0), of('b', 10, 9)],
    ].map((evidence) => receiptFindings(evidence)) as [ReceiptFinding[], ReceiptFinding[]];
    expect(few).toMatchObject([
      { provider: 'a', witness: 'phones', share: 0, others: 1, messages: 1 },
    ]);
    expect(few[0]?.doubt).toBeCloseTo(0.207, 3);
    expect(many).toMatchObject([
      { provider: 'a', reason: expect.stringContaining('got 0 of 10 messages') },
      { provider: 'b', share: 0.9, others: null },
    ]);
    expect(many[0]?.doubt).toBeCloseTo(0.722, 3);
    expect(many[1]?.doubt).toBeCloseTo(0.018, 3);
  });

  it('a carrier alone is not compared by its codes, and fast reports of other channels are no finding', () => {
    const alone = { provider: 'a', channel: 'sms', country: 'NG', codes: 500, checked: 10 };
    expect(receiptFindings([{ ...alone, deliveries: 500, fast: 0 }])).toEqual([]);
    expect(
      receiptFindings([{ ...alone, channel: 'whatsapp', deliveries: 500, fast: 400 }]),
    ).toEqual([]);
    expect(receiptFindings([{ ...alone, deliveries: 500, fast: 400 }])).toMatchObject([
      { witness: 'speed', share: 0.8, others: null },
    ]);
  });
});
