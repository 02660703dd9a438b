import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

interface TakenMessage {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Answers instead of the server; returns `false` to let the server answer. */
type Fault = (response: ServerResponse) => boolean | void;

/**
 * smsbox's sendsms over POST, with the observed answers of Kannel 1.4.5: it checks the user and the number, records
 * the accepted messages, returns no reference and ignores keys.
 */
export class SendsmsServer {
  readonly username = 'tester';
  readonly password = 'kannel-pass-1';
  /** Prefix of numbers that no SMSC takes. */
  readonly unroutable = '99';
  readonly requests: TakenMessage[] = [];
  readonly taken: TakenMessage[] = [];
  #fault: Fault | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<SendsmsServer> {
    const server = createServer();
    const self = new SendsmsServer(server);
    server.on('request', (request, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        self.#take({ headers: request.headers, text }, request.url ?? '', response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return self;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets the fault until the next call. */
  fault(fault: Fault | undefined): void {
    this.#fault = fault;
  }

  /** Accepts the next message and cuts the connection instead of answering. */
  loseNextAnswer(): void {
    this.#fault = (response) => {
      this.#fault = undefined;
      this.taken.push(this.requests.at(-1) as TakenMessage);
      response.socket?.destroy();
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  #take(message: TakenMessage, url: string, response: ServerResponse): void {
    this.requests.push(message);
    if (this.#fault && this.#fault(response) !== false) return;
    const { headers } = message;
    const to = String(headers['x-kannel-to'] ?? '');
    if (url !== '/cgi-bin/sendsms') return say(response, 404, 'Unknown request.');
    if (!headers['content-type']?.startsWith('text/plain'))
      return say(response, 400, 'Invalid content-type');
    if (
      headers['x-kannel-username'] !== this.username ||
      headers['x-kannel-password'] !== this.password
    )
      return say(response, 403, 'Authorization failed for sendsms');
    if (to === '') return say(response, 400, 'Empty receiver number not allowed, rejected');
    if (to.startsWith(this.unroutable))
      return say(response, 403, 'Not routable. Do not try again.');
    this.taken.push(message);
    say(response, 202, '0: Accepted for delivery');
  }
}

export function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end(text);
}
