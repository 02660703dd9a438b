import { Operator } from '../billing/paying.account.js';
import type { Extent } from '../harness/extent.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio, type SideResult } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import { GatewayProcess } from './gateway.process.js';

const CONNECTIONS = 64;

/**
 * A1: durable single sends per second through a gateway that only accepts, through the bare program,
 * and through a gateway that dispatches too. The account does not pay; M2 measures what paying costs.
 */
export async function measureSingles(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  extent: Extent,
): Promise<void> {
  const accepting = await againstBare(kind, { ROLE: 'api' }, extent);
  book.sides('A1', name, accepting);
  book.figure({
    id: 'A1',
    database: name,
    what: `durable single sends through the gateway ÷ bare Fastify and raw driver, ${CONNECTIONS} in flight`,
    value: ratio(...accepting),
    goal: ['>=', 0.75],
  });
  book.figure({
    id: 'A1',
    database: name,
    what: 'the same through a gateway that dispatches beside it, at its rate limit of 50/s',
    value: ratio(...(await againstBare(kind, {}, extent))),
  });
}

async function againstBare(
  kind: DatabaseKind,
  settings: Readonly<Record<string, string>>,
  { ms, rounds }: Extent,
): Promise<[gateway: SideResult, bare: SideResult]> {
  const [own, bare] = [await makeDatabase(kind), await makeDatabase(kind)];
  const gateway = await GatewayProcess.start(own.url, settings);
  await new Operator(own.url).frees();
  const worker = await Worker.start(new URL('./bare.worker.js', import.meta.url), {
    url: bare.url,
  });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${gateway.token}`,
  };
  const request = { path: '/ng/v1/sendsms', headers };
  const loads = [gateway.url, await worker.call<string>('address')].map(
    (origin) => new HttpLoad(origin, CONNECTIONS, request),
  ) as [HttpLoad, HttpLoad];
  try {
    const [through, least] = await alternate(
      [
        { name: 'gateway', pid: gateway.pid, run: () => loads[0].run(ms, bodyOf) },
        { name: 'bare Fastify, raw driver', pid: worker.pid, run: () => loads[1].run(ms, bodyOf) },
      ],
      rounds,
    );
    if (!through || !least) throw new Error('a side is missing');
    return [through, least];
  } finally {
    await Promise.all(loads.map((load) => load.close()));
    await gateway.stop();
    await worker.stop();
    await own.remove();
    await bare.remove();
  }
}

function bodyOf(n: number): string {
  return `{"from":"ACME","to":["23480${10_000_000 + n}"],"body":"Your code is ${100_000 + (n % 900_000)}"}`;
}
