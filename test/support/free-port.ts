import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral range, so that the system assigns none of them by itself. */
const PORTS = [15_000, 30_000] as const;

/** A free port, reserved for the caller. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
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
