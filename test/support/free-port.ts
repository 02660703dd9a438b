import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral range, so that the system assigns none of them by itself. */
const [FIRST, LAST] = [15_000, 30_000];
const PER_WORKER = 1_500;

/** Each jest worker takes the ports of a range of its own in turn, so that no two suites get one port. */
const start =
  FIRST + (((Number(process.env['JEST_WORKER_ID'] ?? 1) - 1) * PER_WORKER) % (LAST - FIRST));
let taken = randomInt(PER_WORKER);

/** A free port of 127.0.0.1 for the caller. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = start + (taken++ % PER_WORKER);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    await once(server.close(), 'close');
    return port;
  }
}
