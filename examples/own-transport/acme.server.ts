import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

/** Plays the provider: accepts messages once per key, and calls back when one is delivered. */
export class AcmeServer {
  /** Address of reports, with the secret of the callbacks in the path. */
  callback: string | undefined;
  /** Numbers that get nothing. */
  readonly blocked = new Set<string>();
  /** The messages by idempotency key. */
  readonly accepted = new Map<string, string>();
  /** Answer to the next request, such as one of a proxy instead of the provider. */
  next: { readonly status: number; readonly body: string; readonly accepts: boolean } | undefined;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** @returns its address */
  async start(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { to } = (await json(request)) as { readonly to: string };
    const { next } = this;
    this.next = undefined;
    const key = String(request.headers['idempotency-key']);
    const isRefused = this.blocked.has(to);
    if (!isRefused && (next?.accepts ?? true)) this.#accept(key, to);
    const answer = isRefused
      ? { status: 422, body: JSON.stringify({ error: { code: 'number_blocked' } }) }
      : { status: 201, body: JSON.stringify({ message_id: this.accepted.get(key) }) };
    const { status, body } = next ?? answer;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }

  #accept(key: string, to: string): void {
    if (this.accepted.has(key)) return;
    const id = `acme-${this.accepted.size + 1}`;
    this.accepted.set(key, id);
    if (this.callback === undefined) return;
    void fetch(this.callback, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, to, dlr: 'DELIVRD' }),
    });
  }
}
