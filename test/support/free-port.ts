import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that a system hands out by itself: a listener or connection of somebody else's never gets one by chance. */
const PORTS = [15_000, 30_000] as const;

/** A port that nobody listens on, and that nobody is given before its caller takes it. */
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
