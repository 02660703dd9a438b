import { GatewayProcess } from '../accept/gateway.process.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { Extent } from '../harness/extent.js';
import { HttpLoad } from '../harness/http.load.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, quantile, ratio, type Side, type SideResult } from '../harness/rounds.js';
import { type GatewayRelay, startGatewayRelay } from '../kannel/gateway.relay.js';
import { type Sample, Stages } from '../pipeline/stages.js';
import { Operator, PRICES } from './paying.account.js';

const CONNECTIONS = 64;

/** Requests in flight of the hot account and of the account beside it. */
const HOT = 48;
const BESIDE = 16;

const GOAL = ['>=', 0.93] as const;
const PATH = '/ng/v1/sendsms';

/** Both sides, the account that pays first. */
const SIDES = [true, false] as const;
const nameOf = (isPaying: boolean): string => (isPaying ? 'with billing' : 'without');

interface SentAndReported {
  readonly send: Sample;
  readonly report: Sample;
}

/** A1 with billing ÷ without: durable single sends through a gateway that only accepts. */
export async function measurePaidSends(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { ms, rounds }: Extent,
): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const sides: Side[] = [];
    for (const isPaying of SIDES) {
      const place = await makeDatabase(kind);
      stops.unshift(() => place.remove());
      const gateway = await GatewayProcess.start(place.url, { ...PRICES, ROLE: 'api' });
      stops.unshift(() => gateway.stop());
      const operator = new Operator(place.url);
      await operator.pays(await operator.demo(), isPaying);
      await operator.known();
      const load = new HttpLoad(gateway.url, CONNECTIONS, requestOf(gateway.token));
      stops.unshift(() => load.close());
      sides.push({
        name: nameOf(isPaying),
        pid: gateway.pid,
        run: () => load.run(ms, bodyOf),
      });
    }
    const [paying, free] = await alternate(sides, rounds);
    if (!paying || !free) throw new Error('a side is missing');
    book.sides('M2', name, [paying, free]);
    book.figure({
      id: 'M2',
      database: name,
      what: `durable single sends of an account that pays ÷ of one that does not, ${CONNECTIONS} in flight (A1)`,
      value: ratio(paying, free),
      goal: GOAL,
    });
  } finally {
    for (const stop of stops) await stop();
  }
}

/** D1 and R1 with billing ÷ without: messages sent to a carrier, and then reported by it. */
export async function measurePaidWay(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds }: { readonly messages: number; readonly rounds: number },
): Promise<void> {
  const relays: GatewayRelay[] = [];
  try {
    for (const isPaying of SIDES) {
      const relay = await startGatewayRelay(kind, { tellsCustomer: false, settings: PRICES });
      relays.push(relay);
      const operator = new Operator(relay.place.url);
      await operator.pays(await operator.demo(), isPaying);
      await operator.known();
    }
    const all = relays.map((relay) => ({ relay, stages: new Stages(messages, false) }));
    const samples = all.map((): SentAndReported[] => []);
    const round = async (n: number, isMeasured: boolean): Promise<void> => {
      for (let turn = 0; turn < all.length; turn++) {
        const index = (n + turn) % all.length;
        const { relay, stages } = all[index]!;
        const sample = await stages.alone(relay);
        if (isMeasured) samples[index]!.push(sample);
      }
    };
    for (let n = 0; n < 2; n++) await round(n, false);
    for (let n = 0; n < rounds; n++) await round(n, true);
    for (const [stage, what, id] of [
      ['send', 'messages to a carrier', 'D1'],
      ['report', 'reports of a carrier', 'R1'],
    ] as const) {
      const [paying, free] = samples.map((own, index) =>
        sideOf(
          `${stage}, ${nameOf(index === 0)}`,
          own.map((one) => one[stage]),
        ),
      );
      if (!paying || !free) throw new Error('a side is missing');
      book.sides('M2', name, [paying, free]);
      book.figure({
        id: 'M2',
        database: name,
        what: `${what} of an account that pays ÷ of one that does not (${id})`,
        value: ratio(paying, free),
        goal: GOAL,
      });
    }
  } finally {
    for (const relay of relays) await relay.stop();
  }
}

/**
 * An account beside a hot one: both pay ÷ neither pays. With one of them alone, each would have a group of
 * commits of its own, and the account beside as many as the hot one.
 */
export async function measureHotAccount(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { ms, rounds }: Extent,
): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const sides: Side[] = [];
    for (const isPaying of SIDES) {
      const place = await makeDatabase(kind);
      stops.unshift(() => place.remove());
      const gateway = await GatewayProcess.start(place.url, { ...PRICES, ROLE: 'api' });
      stops.unshift(() => gateway.stop());
      const operator = new Operator(place.url);
      await operator.pays(await operator.demo(), isPaying);
      const other = await operator.account();
      await operator.pays(other.id, isPaying);
      await operator.known();
      const hot = new HttpLoad(gateway.url, HOT, requestOf(gateway.token));
      const beside = new HttpLoad(gateway.url, BESIDE, requestOf(other.token));
      stops.unshift(
        () => hot.close(),
        () => beside.close(),
      );
      sides.push({
        name: `beside a hot account ${nameOf(isPaying)}`,
        pid: gateway.pid,
        run: async () => (await Promise.all([beside.run(ms, bodyOf), hot.run(ms, bodyOf)]))[0],
      });
    }
    const [paying, free] = await alternate(sides, rounds);
    if (!paying || !free) throw new Error('a side is missing');
    book.sides('M3', name, [paying, free]);
    book.figure({
      id: 'M3',
      database: name,
      what: `durable single sends of an account beside a hot one, both pay ÷ neither pays, ${BESIDE} and ${HOT} in flight`,
      value: ratio(paying, free),
      goal: GOAL,
    });
  } finally {
    for (const stop of stops) await stop();
  }
}

function sideOf(name: string, samples: readonly Sample[]): SideResult {
  const rates = samples.map(({ rate }) => rate);
  return {
    name,
    rate: quantile(rates, 0.5),
    rates,
    cpu: quantile(
      samples.map(({ cpu }) => cpu),
      0.5,
    ),
    peak: Number.NaN,
  };
}

function requestOf(token: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return { path: PATH, headers };
}

function bodyOf(n: number): string {
  return `{"from":"ACME","to":["23480${10_000_000 + n}"],"body":"Your code is ${100_000 + (n % 900_000)}"}`;
}
