import { setTimeout } from 'node:timers/promises';
import { cpuMilliseconds, machineCpuMilliseconds } from '../harness/process.usage.js';
import type { ResultBook } from '../harness/result.book.js';
import { quantile } from '../harness/rounds.js';
import { type GatewayRelay, startGatewayRelay } from '../kannel/gateway.relay.js';
import { REST, Stages } from './stages.js';

interface Sample {
  /** Messages a second. */
  readonly rate: number;
  /** CPU microseconds of the gateway's processes for a message. */
  readonly own: number;
  /** CPU microseconds of all other processes for a message: database, carrier, customer, client. */
  readonly others: number;
}

const WARM_UPS = 2;

/** Their lanes spread over the processes. */
const ACCOUNTS = 16;

/**
 * X1: the whole way of several accounts through two gateways on one PostgreSQL, divided by one. On two cores, one process
 * takes at most 1 ÷ a messages a second and two take 2 ÷ (a + s), where a is the CPU of the gateway
 * and s that of all others for a message.
 */
export async function measureReplicas(
  book: ResultBook,
  name: string,
  { messages, rounds }: { readonly messages: number; readonly rounds: number },
): Promise<void> {
  const relays: GatewayRelay[] = [];
  try {
    for (const processes of [1, 2])
      relays.push(await startGatewayRelay('postgres', { processes, accounts: ACCOUNTS }));
    const stages = new Stages(messages, false);
    const samples: (readonly [Sample, Sample])[] = [];
    for (let n = -WARM_UPS; n < rounds; n++) {
      const round: Sample[] = [];
      for (const relay of relays) round.push(await sampleOf(relay, stages, messages));
      if (n >= 0) samples.push(round as never);
    }
    const median = (of: (one: Sample, two: Sample) => number) =>
      quantile(
        samples.map(([one, two]) => of(one, two)),
        0.5,
      );
    book.sides(
      'X1',
      name,
      (['one process', 'two processes'] as const).map((side, n) => ({
        name: side,
        rate: median((...both) => (both[n] as Sample).rate),
        rates: samples.map((both) => (both[n] as Sample).rate),
        cpu: median((...both) => (both[n] as Sample).own),
        peak: Number.NaN,
      })),
    );
    const figure = (what: string, value: number, goal?: readonly ['>=' | '<=', number]) =>
      book.figure({ id: 'X1', database: name, what, value, ...(goal && { goal }) });
    figure(
      'two processes ÷ one, of what their CPU allows (2a ÷ (a + s))',
      median((one, two) => two.rate / one.rate / ((2 * two.own) / (two.own + two.others))),
      ['>=', 0.9],
    );
    figure(
      'two processes ÷ one, messages a second',
      median((one, two) => two.rate / one.rate),
    );
    figure(
      'CPU of a message, two processes ÷ one',
      median((one, two) => two.own / one.own),
      ['<=', 1.15],
    );
    figure(
      'CPU of all others for a message beside two processes, µs',
      median((_, two) => two.others),
    );
  } finally {
    for (const relay of relays) await relay.stop();
  }
}

async function sampleOf(relay: GatewayRelay, stages: Stages, messages: number): Promise<Sample> {
  const used = () => {
    const own = relay.pids.reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
    return { own, others: machineCpuMilliseconds() - own };
  };
  const before = used();
  const ms = await stages.told(relay);
  await setTimeout(REST);
  const after = used();
  const per = (of: 'own' | 'others') => ((after[of] - before[of]) * 1_000) / messages;
  return { rate: (messages / ms) * 1_000, own: per('own'), others: per('others') };
}
