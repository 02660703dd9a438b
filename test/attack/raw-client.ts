import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A TCP client that writes any bytes and reads when it likes. */
export class RawClient {
  /** Text that the client has read. */
  answer = '';
  readonly ended: Promise<unknown>;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (chunk: string) => (this.answer += chunk));
    socket.on('end', () => socket.end()).on('error', () => undefined);
    this.ended = new Promise((resolve) => socket.once('close', resolve));
  }

  /** @param localAddress the client's address as the server sees it */
  static async connect(url: string, localAddress?: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({
      port: Number(port),
      host: hostname,
      allowHalfOpen: true,
      ...(localAddress !== undefined && { localAddress }),
    });
    const client = new RawClient(socket);
    await once(socket, 'connect');
    return client;
  }

  /** Stops reading: the buffers of both systems fill. */
  readNothing(): this {
    this.socket.pause();
    return this;
  }

  /** Resolves when the bytes are with the system. */
  write(bytes: string | Buffer): Promise<void> {
    const written = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    return new Promise((resolve) => this.socket.write(written, () => resolve()));
  }

  /** Writes, and closes its writing side alone. */
  halfClose(bytes: string): void {
    this.socket.end(bytes, 'latin1');
  }

  /** Ends with a reset. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** The statuses of its answers so far. */
  get statuses(): number[] {
    return [...this.answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }
}

/** A request without a body. */
export function get(path: string, token = ''): string {
  const authorization = token === '' ? '' : `Authorization: Bearer ${token}\r\n`;
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`;
}

/** A JSON request; `length` differs from the body's where the rest never comes. */
export function post(
  path: string,
  body: string,
  token = '',
  length = body.length,
  headers: Readonly<Record<string, string>> = {},
): string {
  const authorization = token === '' ? '' : `Authorization: Bearer ${token}\r\n`;
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization}${more.join('')}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}
