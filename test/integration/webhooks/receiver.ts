import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** The `webhook-id`. */
  readonly id: string;
  readonly data: {
    readonly message_id: string;
    readonly sequence: number;
    readonly status: string;
  };
}

export type Answer = (
  response: ServerResponse,
  received: Received,
  request: IncomingMessage,
) => void | Promise<void>;

export function answer(status: number, headers: Record<string, string> = {}, body = ''): Answer {
  return (response) => void response.writeHead(status, headers).end(body);
}

/** A customer's webhook on loopback that records calls and answers as scripted. */
export class Receiver {
  readonly received: Received[] = [];
  /** Requests being answered now, and the most there ever were. */
  open = 0;
  most = 0;
  #waiting: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    public respond: Answer,
  ) {
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async start(respond: Answer = answer(204)): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server, respond);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook?key=1`;
  }

  /** Resolves with the first `count` requests. */
  async first(count: number): Promise<readonly Received[]> {
    while (this.received.length < count)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.received.slice(0, count);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open++;
    this.most = Math.max(this.most, this.open);
    response.on('close', () => this.open--);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const headers = request.headers as Record<string, string>;
    const received: Received = {
      path: request.url ?? '',
      headers,
      body,
      id: headers['webhook-id'] ?? '',
      data: (JSON.parse(body) as { data: Received['data'] }).data,
    };
    this.received.push(received);
    for (const resolve of this.#waiting.splice(0)) resolve();
    await this.respond(response, received, request);
  }
}
