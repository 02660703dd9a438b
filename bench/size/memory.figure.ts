import { setTimeout } from 'node:timers/promises';
import { GatewayProcess } from '../accept/gateway.process.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { memory } from '../harness/process.usage.js';
import type { ResultBook } from '../harness/result.book.js';

const RECIPIENTS = 100_000;

/** Resident memory of the gateway before a batch of 100,000 recipients, and some time after it was sent. */
export async function measureMemory(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { restMs }: { readonly restMs: number },
): Promise<void> {
  const place = await makeDatabase(kind);
  const gateway = await GatewayProcess.start(place.url, { RATE_LIMIT: '100000/s' });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${gateway.token}`,
  };
  try {
    // Longer than the gateway waits before it collects what its start has left.
    await setTimeout(restMs);
    const idle = memory(gateway.pid);
    const to = Array.from({ length: RECIPIENTS }, (_, n) => `23480${10_000_000 + n}`);
    const sent = await fetch(`${gateway.url}/ng/v1/sendsms`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ from: 'ACME', to, body: 'Your code is 123456' }),
    });
    const { reference_id: id } = (await sent.json()) as { reference_id: string };
    const isCompleted = async () => {
      const answer = await fetch(`${gateway.url}/ng/v1/sms/${id}`, { headers });
      return ((await answer.json()) as { status: string }).status === 'completed';
    };
    while (!(await isCompleted())) await setTimeout(500);
    await setTimeout(restMs);
    const rest = memory(gateway.pid);
    const figure = (what: string, value: number, most: number) =>
      book.figure({ id: 'B', database: name, what, value, unit: ' MiB', goal: ['<=', most] });
    figure('resident memory of the idle gateway', idle, 140);
    figure(`the same ${restMs / 1_000} s after a batch of 100,000 was sent`, rest, 180);
  } finally {
    await gateway.stop();
    await place.remove();
  }
}
