import { Transform, type TransformCallback } from 'node:stream';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The texts of one connection, sent one after another; the last one or its answer is lost. */
interface Loss {
  readonly texts: readonly string[];
  readonly what: 'request' | 'answer';
}

/** A TCP relay that can drop connections silently, lose a request or an answer, hold back a request and inject bytes. */
export class Relay {
  readonly #open = new Set<Socket>();
  /** Sockets to the clients. */
  readonly #near = new Set<Socket>();
  readonly #server: Server;
  #carries = true;
  #loss: Loss | undefined;
  #held: { readonly text: string; readonly came: (pass: () => void) => void } | undefined;

  private constructor(private readonly target: URL) {
    this.#server = createServer((near) => this.#join(near));
  }

  /** @param target of the server, such as `redis://127.0.0.1:6379` @param port @default a free one */
  static async start(target: string, port = 0): Promise<Relay> {
    const relay = new Relay(new URL(target));
    relay.#server.listen(port, '127.0.0.1');
    await new Promise((resolve) => relay.#server.once('listening', resolve));
    return relay;
  }

  /** The target's address with the port of the relay. */
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

  /**
   * Breaks the first connection on which all the texts were sent, one after another, before the
   * answer to the last one.
   */
  loseAnswer(...texts: readonly string[]): void {
    this.#loss = { texts, what: 'answer' };
  }

  /** Like {@link loseAnswer}, but the target does not get the last text. */
  loseRequest(...texts: readonly string[]): void {
    this.#loss = { texts, what: 'request' };
  }

  /** Whether a request or an answer is still to be lost. */
  get isLosing(): boolean {
    return this.#loss !== undefined;
  }

  /** Holds back the next request with the text. @returns after its arrival: a function that lets it pass */
  hold(text: string): Promise<() => void> {
    return new Promise((came) => (this.#held = { text, came }));
  }

  /** Sends bytes to the client that the target did not send. */
  inject(bytes: Buffer): void {
    for (const near of this.#near) near.write(bytes);
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket): void {
    this.#near.add(near);
    near.on('close', () => this.#near.delete(near));
    if (!this.#carries) return this.#watch(near);
    const far = connect(Number(this.target.port), this.target.hostname);
    this.#watch(near, () => far.destroy());
    this.#watch(far, () => near.destroy());
    near.pipe(this.#requests(near, far)).pipe(far);
    far.pipe(near);
  }

  #requests(near: Socket, far: Socket): Transform {
    let awaited: Loss | undefined;
    let sent = 0;
    const transform = (data: Buffer, _encoding: string, done: TransformCallback) => {
      if (awaited !== this.#loss) [awaited, sent] = [this.#loss, 0];
      if (awaited && data.includes(awaited.texts[sent]!) && ++sent === awaited.texts.length) {
        this.#loss = undefined;
        if (awaited.what === 'request') {
          near.destroy();
          return done();
        }
        far.unpipe(near);
        far.once('data', () => near.destroy()).resume();
      }
      const held = this.#held;
      if (!held || !data.includes(held.text)) return done(null, data);
      this.#held = undefined;
      held.came(() => done(null, data));
    };
    return new Transform({ transform });
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
