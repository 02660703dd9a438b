import { GatewayProcess } from '../accept/gateway.process.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { cpuMilliseconds } from '../harness/process.usage.js';
import type { ResultBook } from '../harness/result.book.js';
import { quantile } from '../harness/rounds.js';

/** Milliseconds from the start of the gateway's process until it serves requests, on a new and on a migrated database. */
export async function measureStart(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { rounds }: { readonly rounds: number },
): Promise<void> {
  const samples: { readonly ms: number; readonly cpu: number }[] = [];
  const place = await makeDatabase(kind);
  try {
    await (await GatewayProcess.start(place.url)).stop();
    for (let round = 0; round < rounds; round++) {
      const begun = performance.now();
      const gateway = await GatewayProcess.restart(place.url);
      samples.push({ ms: performance.now() - begun, cpu: cpuMilliseconds(gateway.pid) });
      await gateway.stop();
    }
  } finally {
    await place.remove();
  }
  const median = (of: 'ms' | 'cpu') =>
    quantile(
      samples.map((sample) => sample[of]),
      0.5,
    ) / 1_000;
  const figure = (what: string, value: number) =>
    book.figure({ id: 'B', database: name, what, value, unit: ' s', goal: ['<=', 1.2] });
  figure('start to ready, on a migrated database', median('ms'));
  figure('CPU of the gateway until it is ready', median('cpu'));
}
