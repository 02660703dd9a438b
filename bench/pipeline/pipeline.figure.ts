import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DatabaseKind } from '../harness/database.place.js';
import { peakMemory, resetPeak } from '../harness/process.usage.js';
import type { ResultBook } from '../harness/result.book.js';
import { quantile, type SideResult } from '../harness/rounds.js';
import { type GatewayRelay, startGatewayRelay } from '../kannel/gateway.relay.js';
import { costOf } from './database.cost.js';
import { summaryOf } from './profile.summary.js';
import { startBareRelay } from './bare.relay.js';
import { type Measured, type Sample, type Stage, STAGES, Stages, WHOLE } from './stages.js';

type Round = Readonly<Record<Measured, Sample>>;

/** Rounds before the first measured one: the JIT compiles hot code in them. */
const WARM_UPS = 2;

/**
 * P2: accepted, sent and reported by HTTP and told to the customer, divided by the same with a bare
 * program; each of these stages alone; their sum. T1: the callbacks to the customer, likewise.
 */
export async function measurePipeline(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds }: { readonly messages: number; readonly rounds: number },
): Promise<void> {
  const profiles = process.env['BENCH_PROFILE'] && join(process.env['BENCH_PROFILE'], kind);
  if (profiles) await mkdir(profiles, { recursive: true });
  const settings: Record<string, string> = profiles ? { BENCH_STAGES: profiles } : {};
  const relays: Pick<GatewayRelay, 'stop'>[] = [];
  try {
    const staged = await startGatewayRelay(kind, { tellsCustomer: false, settings });
    relays.push(staged);
    const whole = await startGatewayRelay(kind, { settings });
    relays.push(whole);
    const peer = await startBareRelay(kind, (n) => whole.bodyOf(n));
    relays.push(peer);
    const stages = new Stages(messages, profiles !== undefined);
    const round = async (): Promise<Round> => ({
      ...(await stages.alone(staged)),
      ...(await stages.together(whole)),
      ...(await stages.bare(peer)),
    });
    for (let n = 0; n < WARM_UPS; n++) await round();
    resetPeak(whole.gateway.pid);
    const samples: Round[] = [];
    for (let n = 0; n < rounds; n++) samples.push(await round());
    show(book, name, samples, peakMemory(whole.gateway.pid));
    await showCost(book, name, whole, messages);
    if (profiles)
      for (const stage of [...STAGES, WHOLE])
        process.stderr.write(
          `P2 ${name}: ${stage}: ${await summaryOf(join(profiles, `${stage}.cpuprofile`))}\n`,
        );
  } finally {
    for (const relay of relays) await relay.stop();
  }
}

function show(book: ResultBook, database: string, rounds: readonly Round[], peak: number): void {
  const median = (of: (round: Round) => number) => quantile(rounds.map(of), 0.5);
  const side = (name: string, measured: Measured): SideResult => ({
    name,
    rate: median((round) => round[measured].rate),
    rates: rounds.map((round) => round[measured].rate),
    cpu: median((round) => round[measured].cpu),
    peak: measured === WHOLE ? peak : Number.NaN,
  });
  book.sides('P2', database, [
    ...STAGES.map((stage) => side(`${stage}, alone`, stage)),
    side('the whole way', WHOLE),
    side('bare peer, the whole way', 'bare'),
    side('bare peer, tell', 'bareTell'),
  ]);
  const figure = (id: 'P2' | 'T1', what: string, value: number, least?: number) =>
    book.figure({ id, database, what, value, ...(least && { goal: ['>=', least] as const }) });
  const divided = (own: Stage, peer: Measured, of: keyof Sample) =>
    median((round) => round[own][of] / round[peer][of]);
  figure('P2', 'the whole way ÷ the bare peer', divided(WHOLE, 'bare', 'rate'), 0.7);
  figure('P2', 'CPU of the gateway ÷ CPU of the bare peer', divided(WHOLE, 'bare', 'cpu'));
  figure(
    'T1',
    'two signed callbacks ÷ bare undici and driver',
    divided('tell', 'bareTell', 'rate'),
    0.75,
  );
  const sum = (of: (sample: Sample) => number) => (round: Round) =>
    STAGES.reduce((total, stage) => total + of(round[stage]), 0);
  figure(
    'P2',
    'CPU of the four stages alone ÷ CPU of the whole way',
    median((round) => sum(({ cpu }) => cpu)(round) / round.whole.cpu),
    0.8,
  );
  figure(
    'P2',
    'time of the four stages one after another ÷ time of the whole way',
    median((round) => sum(({ rate }) => 1 / rate)(round) * round.whole.rate),
    0.8,
  );
}

/** Shows the database's cost of a few more messages. */
async function showCost(
  book: ResultBook,
  database: string,
  relay: GatewayRelay,
  messages: number,
): Promise<void> {
  const before = await costOf(relay.place);
  await new Stages(messages, false).told(relay);
  const after = await costOf(relay.place);
  const per = (of: keyof typeof before) => (after[of] - before[of]) / messages;
  const figure = (what: string, value: number, most?: number) =>
    book.figure({
      id: most ? 'B' : 'P2',
      database,
      what,
      value,
      ...(most && { goal: ['<=', most] as const }),
    });
  figure(
    'bytes that a message adds to the database, callbacks included, before any VACUUM',
    per('bytes'),
  );
  if (Number.isNaN(after.commits)) return;
  figure('transactions for a message', per('commits'));
  figure('bytes in the write-ahead log for a message', per('logged'), 4_500);
}
