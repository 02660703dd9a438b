import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';

const CONNECT_TIMEOUT = 5_000;

/** One complete HTTP request. */
export interface HttpRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
  /** Most bytes read of the answer's body; a longer answer is cut and marked. */
  readonly maxBytes: number;
}

/** The answer as received. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The body was longer than `maxBytes`; `body` is empty. */
  readonly tooLarge: boolean;
}

/** Updated during the exchange, so that the handler of its error knows how far the request came. */
export interface ExchangeTrace {
  /** `sent`: a socket took the request, so the service may have it. */
  reach: 'untried' | 'unsent' | 'sent' | 'unknown';
}

/**
 * Keep-alive HTTP/1.1 over undici: one pool per origin, one request per connection at a time, because with pipelining
 * one lost connection would make many requests uncertain. Redirects are not followed, and answers are not
 * decompressed (the client requests no compression).
 */
export class UndiciClient {
  readonly #connecting = new Set<Socket>();
  readonly #agent: Agent;
  /** Exchanges by their abort signal. A signal may have hundreds of exchanges, with one listener for all. */
  readonly #watched = new WeakMap<AbortSignal, Set<ExchangeHandler>>();

  constructor(connections: number) {
    const open = buildConnector({ timeout: CONNECT_TIMEOUT });
    this.#agent = new Agent({
      connections,
      pipelining: 1,
      connect: (options, callback) => {
        // The type declaration omits the return value, but the connector returns its socket.
        const socket = open(options, (...result) => {
          this.#connecting.delete(socket);
          callback(...result);
        }) as unknown as Socket;
        this.#connecting.add(socket);
      },
    });
  }

  exchange(request: HttpRequest, signal: AbortSignal, trace: ExchangeTrace): Promise<HttpAnswer> {
    trace.reach = 'unsent';
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const under = this.#under(signal);
      const handler = new ExchangeHandler(request.maxBytes, under, trace, resolve, reject);
      under.add(handler);
      const { origin, path, method, headers, body = null } = request;
      this.#agent.dispatch({ origin, path, method, headers, body }, handler);
    });
  }

  #under(signal: AbortSignal): Set<ExchangeHandler> {
    const known = this.#watched.get(signal);
    if (known) return known;
    const exchanges = new Set<ExchangeHandler>();
    this.#watched.set(signal, exchanges);
    const abort = () => {
      for (const exchange of exchanges) exchange.abort(signal.reason);
    };
    // Callers also listen to the signal, so the warning about a listener leak does not apply.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort, { once: true });
    return exchanges;
  }

  /** Waits at most `grace` milliseconds for running exchanges, then closes their connections. */
  async close(grace: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, grace)));
    await Promise.race([this.#agent.close().catch(() => undefined), late]);
    clearTimeout(timer);
    // undici does not track sockets before the end of their handshake; they would keep the process alive.
    for (const socket of this.#connecting) socket.destroy();
    await this.#agent.destroy().catch(() => undefined);
  }
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  #aborted = false;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: HttpAnswer['headers'] = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(
    private readonly maxBytes: number,
    /** Set that contains this exchange until it ends. */
    private readonly watched: Set<ExchangeHandler>,
    private readonly trace: ExchangeTrace,
    private readonly resolve: (answer: HttpAnswer) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  abort(reason: unknown): void {
    this.#aborted = true;
    this.#done();
    this.reject(reason);
    this.#controller?.abort(new Error('aborted'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A thrown error removes the request from the queue; controller.abort() would also close a healthy connection.
    if (this.#aborted) throw new Error('aborted');
    this.#controller = controller;
    this.trace.reach = 'sent';
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpAnswer['headers'],
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (Number(headers['content-length']) > this.maxBytes) this.#overflow(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.maxBytes) this.#overflow(controller);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#done();
    const [first] = this.#chunks;
    const bytes = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    this.#settle(bytes.toString('utf8'), false);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#done();
    this.reject(error);
  }

  /** Keeps the status and drops the rest of the body. */
  #overflow(controller: Dispatcher.DispatchController): void {
    this.#done();
    this.#settle('', true);
    controller.abort(new Error('answer too large'));
  }

  #settle(body: string, tooLarge: boolean): void {
    this.resolve({ status: this.#status, headers: this.#headers, body, tooLarge });
  }

  #done(): void {
    this.watched.delete(this);
  }
}
