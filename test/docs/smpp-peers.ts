import { type ConnectOptions, connectSmpp, SmppServer } from '@dundun/smpp';

/** An SMSC for the blocks of SMPP, and their server at any free port. */
export class SmppPeers {
  readonly #servers: SmppServer[] = [];

  /** What the blocks use, in place of their own names. */
  async scope() {
    const smsc = new SmppServer({
      authenticate: () => ({ status: 0 }),
      handlers: { submit_sm: async () => ({ messageId: '1' }) },
    });
    const { port } = await this.#listen(smsc);
    const listen = (server: SmppServer) => this.#listen(server);
    return {
      connectSmpp: (options: ConnectOptions) =>
        connectSmpp({ ...options, host: '127.0.0.1', port }),
      SmppServer: class extends SmppServer {
        override listen() {
          return listen(this);
        }
      },
      isKnown: () => true,
      accept: async () => '1',
      settle: async () => undefined,
      receive: async () => undefined,
    };
  }

  async close(): Promise<void> {
    for (const server of this.#servers.splice(0)) await server.close();
  }

  #listen(server: SmppServer) {
    this.#servers.push(server);
    return SmppServer.prototype.listen.call(server, { host: '127.0.0.1', port: 0 });
  }
}
