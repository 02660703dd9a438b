import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A network between an app and its broker that may lose connections without telling anybody. */
export class Relay {
  readonly #open = new Set<Socket>();
  readonly #server: Server;

  private constructor(private readonly target: number) {
    this.#server = createServer((near) => this.#join(near));
  }

  static async start(target: number): Promise<Relay> {
    const relay = new Relay(target);
    relay.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => relay.#server.once('listening', resolve));
    return relay;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What is open stays open and carries nothing more; what is opened from now on works. */
  lose(): void {
    for (const socket of this.#open) {
      socket.unpipe();
      socket.removeAllListeners('data');
      socket.pause();
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket): void {
    const far = connect(this.target, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
