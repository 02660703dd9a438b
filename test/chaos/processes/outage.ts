import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Outage } from './protocol.js';

/**
 * Takes a server away and brings it back at the same address, as its parent says. While it hangs it
 * takes connections and reads nothing; those are cut when it comes back, so that it never took what
 * they carried.
 */
export class Outages {
  readonly #sockets = new Set<Socket>();
  #outage: Outage = 'none';

  constructor(private readonly server: Server) {
    server.prependListener('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      if (this.#outage === 'hanging') socket.pause();
    });
    process.on('message', ({ outage }: { outage: Outage }) => void this.#begin(outage));
  }

  /** Whether a request that arrived is to be left alone. */
  get isAway(): boolean {
    return this.#outage !== 'none';
  }

  async #begin(outage: Outage): Promise<void> {
    const { port } = (this.server.address() as AddressInfo | null) ?? { port: this.#port };
    this.#port = port;
    this.#outage = outage;
    for (const socket of this.#sockets) socket.destroy();
    if (outage === 'refusing')
      await new Promise<void>((resolve) => this.server.close(() => resolve()));
    else if (!this.server.listening)
      await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', () => resolve()));
    process.send?.({ outage });
  }

  #port = 0;
}
