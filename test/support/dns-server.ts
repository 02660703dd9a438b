import { type Answer, decode, encode, type Packet } from 'dns-packet';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

export type DnsRecord =
  | { readonly type: 'TXT'; readonly data: string | readonly string[] }
  | { readonly type: 'CNAME'; readonly data: string }
  | {
      readonly type: 'MX';
      readonly data: { readonly preference: number; readonly exchange: string };
    };

/** A name server on loopback with the records of a test. */
export class DnsServer {
  /** By name. */
  readonly records = new Map<string, DnsRecord[]>();
  /** Names that are answered with SERVFAIL. */
  readonly failing = new Set<string>();
  questions = 0;

  private constructor(private readonly socket: Socket) {
    socket.on('message', (message, { port, address }) => {
      this.questions++;
      socket.send(encode(this.#answer(decode(message))), port, address);
    });
  }

  static async start(): Promise<DnsServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new DnsServer(socket);
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async close(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }

  #answer({ id, questions = [] }: Packet): Packet {
    const [question] = questions;
    const name = question?.name.toLowerCase() ?? '';
    const known = this.records.get(name);
    const answers = (known ?? [])
      .filter(({ type }) => type === question?.type)
      .map((record) => ({ name, ttl: 0, ...record }) as Answer);
    // The lower bits of the flags are the response code: SERVFAIL is 2, NXDOMAIN 3.
    const code = this.failing.has(name) ? 2 : known ? 0 : 3;
    return { id, type: 'response', flags: 0x180 | code, questions, answers };
  }
}
