import { HttpLoad } from '../harness/http.load.js';
import { inFlight } from '../harness/in.flight.js';
import { cpuMilliseconds, peakMemory, resetPeak } from '../harness/process.usage.js';
import { quantile, type SideResult } from '../harness/rounds.js';
import type { Worker } from '../harness/worker.client.js';

/** Requests of customers in flight. */
export const CONNECTIONS = 64;

/** A gateway under test: accepts messages, forwards them, and reports each delivery, all over HTTP. */
export interface Relay {
  readonly name: string;
  /** Its own processes, without the simulated network. */
  readonly pids: readonly number[];
  readonly load: Pick<HttpLoad, 'post'>;
  bodyOf(n: number): string;
  /** The customer's URL. */
  readonly customer: Worker;
  stop(): Promise<void>;
}

interface Sample {
  readonly accepted: number;
  readonly delivered: number;
  readonly cpu: number;
  readonly peak: number;
}

export interface RelayResult {
  readonly accepted: SideResult;
  readonly delivered: SideResult;
}

/** Warms each relay up once, then alternates them. */
export async function alternateRelays(
  relays: readonly Relay[],
  messages: number,
  rounds: number,
): Promise<RelayResult[]> {
  for (const relay of relays) await relayOnce(relay, messages);
  const samples = relays.map((): Sample[] => []);
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < relays.length; turn++) {
      const index = (round + turn) % relays.length;
      samples[index]?.push(await relayOnce(relays[index] as Relay, messages));
    }
  return relays.map(({ name }, index) => resultOf(name, samples[index] as Sample[]));
}

/** Milliseconds from the first request to the last answer, and to the last delivery callback. */
async function relayOnce(relay: Relay, messages: number): Promise<Sample> {
  const { pids, load, customer } = relay;
  const told = customer.call<void>('hear', messages);
  for (const pid of pids) resetPeak(pid);
  const before = cpuOf(pids);
  const begun = performance.now();
  await inFlight(messages, CONNECTIONS, (n) => load.post(relay.bodyOf(n)));
  const accepted = performance.now() - begun;
  await told;
  const delivered = performance.now() - begun;
  return {
    accepted: (messages / accepted) * 1_000,
    delivered: (messages / delivered) * 1_000,
    cpu: ((cpuOf(pids) - before) * 1_000) / messages,
    peak: pids.reduce((sum, pid) => sum + peakMemory(pid), 0),
  };
}

function resultOf(name: string, samples: readonly Sample[]): RelayResult {
  const cpu = quantile(
    samples.map((sample) => sample.cpu),
    0.5,
  );
  const peak = Math.max(...samples.map((sample) => sample.peak));
  const side = (what: 'accepted' | 'delivered'): SideResult => {
    const rates = samples.map((sample) => sample[what]);
    return { name: `${name}, ${what}`, rate: quantile(rates, 0.5), rates, cpu, peak };
  };
  return { accepted: side('accepted'), delivered: side('delivered') };
}

function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
}
