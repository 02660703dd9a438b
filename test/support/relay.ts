import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay that can drop connections silently. */
export class Relay {
  readonly #open = new Set<Socket>();
  readonly #server: Server;
  #carries = true;

  private constructor(private readonly target: URL) {
    this.#server = createServer((near) => this.#join(near));
  }

  /** @param target of the server, such as `redis://127.0.0.1:6379` */
  static async start(target: string): Promise<Relay> {
    const relay = new Relay(new URL(target));
    relay.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => relay.#server.once('listening', resolve));
    return relay;
  }

  /** The target's, by this way. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return url.href;
  }

  /** Open connections stay open and carry no more data; new ones work. */
  lose(): void {
    for (const socket of this.#open) {
      socket.unpipe();
      socket.removeAllListeners('data');
      socket.pause();
    }
  }

  /** Like {@link lose}; new connections carry no data either. */
  hang(): void {
    this.#carries = false;
    this.lose();
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket): void {
    if (!this.#carries) return this.#watch(near);
    const far = connect(Number(this.target.port), this.target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#watch(socket, () => other.destroy());
      socket.pipe(other);
    }
  }

  #watch(socket: Socket, onClose?: () => void): void {
    this.#open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#open.delete(socket);
      onClose?.();
    });
  }
}
