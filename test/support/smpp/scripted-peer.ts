import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import {
  type Command,
  decodePdu,
  encodePdu,
  FrameDecoder,
  type Pdu,
  type PduInput,
  type PduOf,
} from '@dundun/smpp';

/** One end of a connection that reads and writes PDUs, and bytes that are none. */
export class ScriptedPeer {
  readonly received: Pdu[] = [];
  readonly #frames = new FrameDecoder();
  #waiting: (() => void)[] = [];
  isEnded = false;

  constructor(readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isEnded = true;
      this.#wake();
    });
    socket.on('end', () => {
      this.isEnded = true;
      this.#wake();
    });
    socket.on('data', (chunk: Buffer) => {
      for (const frame of this.#frames.push(chunk)) this.received.push(decodePdu(frame));
      this.#wake();
    });
  }

  /** @param localAddress its address as the server sees it */
  static async connect(port: number, localAddress = '127.0.0.1'): Promise<ScriptedPeer> {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    await once(socket, 'connect');
    return new ScriptedPeer(socket);
  }

  write(...pdus: PduInput[]): void {
    this.socket.write(Buffer.concat(pdus.map((pdu) => encodePdu(pdu))));
  }

  /** The PDUs of a command, once there are `count`. */
  async all<C extends Command>(command: C, count: number): Promise<PduOf<C>[]> {
    await this.until(() => this.#of(command).length >= count);
    return this.#of(command);
  }

  async first<C extends Command>(command: C): Promise<PduOf<C>> {
    return (await this.all(command, 1))[0] as PduOf<C>;
  }

  async ended(): Promise<void> {
    while (!this.isEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.isEnded) throw new Error(`The connection ended after ${this.#log()}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #of<C extends Command>(command: C): PduOf<C>[] {
    return this.received.filter((pdu): pdu is PduOf<C> & Pdu => pdu.command === command);
  }

  #log(): string {
    return this.received.map(({ command, sequence }) => `${command} ${sequence}`).join(', ');
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** An SMSC that answers the bind, and writes else only the PDUs of a test. */
export class ScriptedSmsc {
  readonly peers: ScriptedPeer[] = [];
  #waiting: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** @param onBind @default answers with status 0 */
  static async start(
    onBind: (peer: ScriptedPeer, bind: Pdu) => void = acceptBind,
  ): Promise<ScriptedSmsc> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const smsc = new ScriptedSmsc(server, (server.address() as AddressInfo).port);
    server.on('connection', (socket) => {
      const peer = new ScriptedPeer(socket);
      smsc.peers.push(peer);
      peer
        .until(() => peer.received.length > 0)
        .then(() => {
          onBind(peer, peer.received[0] as Pdu);
          for (const wake of smsc.#waiting.splice(0)) wake();
        })
        .catch(() => undefined);
    });
    return smsc;
  }

  /** The connection with this place, once it has sent its bind. */
  async peer(index = 0): Promise<ScriptedPeer> {
    while (!this.peers[index]?.received.length)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.peers[index] as ScriptedPeer;
  }

  async stop(): Promise<void> {
    for (const { socket } of this.peers) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

function acceptBind(peer: ScriptedPeer, bind: Pdu): void {
  const command = `${bind.command}_resp` as 'bind_transceiver_resp';
  peer.write({ command, sequence: bind.sequence, systemId: 'SMSC' });
}
