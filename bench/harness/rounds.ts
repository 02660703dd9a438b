import { cpuMilliseconds, peakMemory, resetPeak } from './process.usage.js';

/** One side of a comparison: one run returns a count and its milliseconds. */
export interface Side {
  readonly name: string;
  readonly pid: number;
  run(): Promise<Count>;
}

export interface Count {
  readonly count: number;
  /** Milliseconds. */
  readonly ms: number;
}

/** Medians of a side over the rounds. */
export interface SideResult {
  readonly name: string;
  /** A second. */
  readonly rate: number;
  readonly rates: readonly number[];
  /** CPU microseconds of the side's own process per item. */
  readonly cpu: number;
  /** MiB, the highest of all rounds. */
  readonly peak: number;
}

/** Warm-up runs: the JIT compiles hot code in them. */
const WARM_UPS = 3;

/** Warms every side up, then alternates the sides; each round starts with another side. */
export async function alternate(sides: readonly Side[], rounds: number): Promise<SideResult[]> {
  for (const side of sides) for (let n = 0; n < WARM_UPS; n++) await side.run();
  const samples = sides.map(() => ({ rates: [] as number[], cpu: [] as number[], peak: 0 }));
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < sides.length; turn++) {
      const index = (round + turn) % sides.length;
      const side = sides[index] as Side;
      const sample = samples[index] as (typeof samples)[0];
      resetPeak(side.pid);
      const before = cpuMilliseconds(side.pid);
      const { count, ms } = await side.run();
      sample.rates.push((count / ms) * 1_000);
      sample.cpu.push(((cpuMilliseconds(side.pid) - before) * 1_000) / count);
      sample.peak = Math.max(sample.peak, peakMemory(side.pid));
    }
  return sides.map(({ name }, index) => {
    const { rates, cpu, peak } = samples[index] as (typeof samples)[0];
    return { name, rate: median(rates), rates, cpu: median(cpu), peak };
  });
}

/** Speed of `a` divided by that of `b`: the median of the rounds' ratios, which cancels common slowdowns. */
export function ratio(a: SideResult, b: SideResult): number {
  return median(a.rates.map((rate, round) => rate / (b.rates[round] as number)));
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
