import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { InterfaceWhatsApp } from './interface-whatsapp.js';

/** A complete request as received. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers instead of the server: write to `response`, or cut its socket. Return `false` to let the server answer. */
export type Answer = (
  request: ReceivedRequest,
  response: ServerResponse,
) => boolean | void | Promise<boolean | void>;

interface AcceptedBatch {
  readonly key: string;
  readonly body: string;
  readonly reference: string;
  readonly recipients: readonly string[];
}

/**
 * A small server of the interface on a free loopback port, for tests. It checks the credential and the sender,
 * honours `Idempotency-Key`, records the accepted submissions, and lists every accepted recipient as delivered,
 * WhatsApp messages as read. {@link InterfaceServer.answer} injects faults.
 *
 * @example
 * const service = await InterfaceServer.start();
 * http({ baseUrl: service.url, apiToken: service.apiToken });
 */
export class InterfaceServer {
  readonly apiToken = 'tok_test';
  readonly apiKey = 'svk_test';
  readonly whatsApp = new InterfaceWhatsApp();
  /** The one registered sender. */
  readonly sender = 'ACME';
  readonly requests: ReceivedRequest[] = [];
  /** Accepted submissions by idempotency key. */
  readonly accepted = new Map<string, AcceptedBatch>();
  /** Reports on one page of a list. */
  pageSize = 1000;
  #answer: Answer | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<InterfaceServer> {
    const server = createServer();
    const self = new InterfaceServer(server);
    server.on('request', (request, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        void self.#take(
          {
            method: request.method ?? '',
            url: request.url ?? '',
            headers: request.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          },
          response,
        );
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return self;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Injects a fault: called before each request is answered, until the next call of this method. */
  answer(answer: Answer | undefined): void {
    this.#answer = answer;
  }

  /** Accepts the next send and cuts its connection instead of answering. */
  loseNextAnswer(): void {
    this.#answer = (request, response) => {
      this.#answer = undefined;
      const cut = { writeHead: () => cut, end: () => response.socket?.destroy() };
      this.#send(request, cut as unknown as ServerResponse);
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #take(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    this.requests.push(request);
    if (this.#answer && (await this.#answer(request, response)) !== false) return;
    const url = new URL(request.url, this.url);
    const whatsApp = url.pathname.startsWith('/whatsapp/ng/v1/');
    if (request.headers.authorization !== `Bearer ${whatsApp ? this.apiKey : this.apiToken}`)
      return refuse(response, 401, 'authentication_error', 'unauthorized');
    if (request.method === 'POST' && url.pathname === '/ng/v1/sendsms')
      return this.#send(request, response);
    if (request.method === 'GET' && url.pathname === '/ng/v1/deliveryreports')
      return this.#reports(url.searchParams, response);
    if (request.method === 'POST' && url.pathname === '/whatsapp/ng/v1/sendwhatsapp') {
      const answer = this.whatsApp.send(keyOf(request), request.body);
      return reply(response, answer.status, answer.body);
    }
    const [, id] = /^\/whatsapp\/ng\/v1\/messages\/([^/]+)$/.exec(url.pathname) ?? [];
    if (request.method === 'GET' && id !== undefined) {
      const answer = this.whatsApp.find(decodeURIComponent(id));
      return reply(response, answer.status, answer.body);
    }
    refuse(response, 404, 'invalid_request_error', 'not_found');
  }

  #send(request: ReceivedRequest, response: ServerResponse): void {
    const key = keyOf(request);
    const known = this.accepted.get(key);
    if (known && known.body !== request.body)
      return refuse(response, 422, 'validation_error', 'idempotency_key_reused');
    const sent = JSON.parse(request.body) as { from?: unknown; to?: unknown };
    if (!Array.isArray(sent.to) || sent.to.length === 0)
      return refuse(response, 422, 'validation_error', 'invalid_field');
    if (sent.from !== this.sender)
      return refuse(response, 422, 'validation_error', 'sender_not_registered');
    const recipients = sent.to.map(String);
    const reference = known?.reference ?? randomUUID();
    this.accepted.set(key, { key, body: request.body, reference, recipients });
    reply(response, 200, {
      status_code: 200,
      message: 'Request is being processed',
      reference_id: reference,
      recipients_processed: recipients.length,
    });
  }

  #reports(query: URLSearchParams, response: ServerResponse): void {
    const references = new Set(query.getAll('reference_id'));
    const keys = new Set(query.getAll('idempotency_key'));
    const items = [...this.accepted.values()]
      .filter(({ key, reference }) => references.has(reference) || keys.has(key))
      .flatMap(({ reference, recipients }) =>
        recipients.map((to, position) => ({
          reference_id: reference,
          message_id: `${reference}-${position}`,
          to,
          from: this.sender,
          status: 'delivered',
          error_code: null,
          smsc_timestamp: '2026-01-02T03:04:05.678Z',
          sequence: 2,
          received_at: '2026-01-02T03:04:06.000Z',
        })),
      );
    const start = Number(query.get('cursor') ?? 0);
    const end = start + this.pageSize;
    reply(response, 200, {
      data: items.slice(start, end),
      next_cursor: end < items.length ? String(end) : null,
    });
  }
}

function keyOf({ headers }: ReceivedRequest): string {
  return String(headers['idempotency-key'] ?? randomUUID());
}

function refuse(response: ServerResponse, status: number, type: string, code: string): void {
  reply(response, status, { error: { type, code, message: 'Refused' } });
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
