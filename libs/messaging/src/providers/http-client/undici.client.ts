import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';

const CONNECT_TIMEOUT = 5_000;

export interface HttpRequest {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Most bytes read of the answer's body; the body of a longer answer is dropped. */
  readonly maxBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Updated during the exchange, so that the handler of its error knows how far the request came. */
export interface ExchangeTrace {
  /**
   * `untried`: an interceptor failed first; `unsent`: no socket took the request; `sent`: the
   * service may have it; `unknown`: a custom adapter does not report it.
   */
  reach: 'untried' | 'unsent' | 'sent' | 'unknown';
  /** Called when a socket takes the request. */
  readonly written?: (() => void) | undefined;
}

/**
 * Keep-alive HTTP/1.1 over undici, one pool per origin. No pipelining: one lost connection would
 * make many requests uncertain. No redirects and no decompression (none is requested).
 */
export class UndiciClient {
  readonly #agent: Agent;
  /** Also ends sockets in their handshake, which undici does not track. */
  readonly #closed = new AbortController();
  readonly #running = new WeakMap<AbortSignal, Set<Exchange>>();

  constructor(connections: number) {
    const { signal } = this.#closed;
    setMaxListeners(0, signal);
    const connect = { timeout: CONNECT_TIMEOUT, signal };
    this.#agent = new Agent({ connections, pipelining: 1, connect });
  }

  exchange(request: HttpRequest, signal: AbortSignal, trace: ExchangeTrace): Promise<HttpAnswer> {
    trace.reach = 'unsent';
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const running = this.#runningUnder(signal);
      const exchange = new Exchange(request.maxBytes, trace, running, resolve, reject);
      running.add(exchange);
      const { origin, path, method, headers, body = null } = request;
      this.#agent.dispatch({ origin, path, method, headers, body }, exchange);
    });
  }

  /** Gets an address, whose body is read as it comes. */
  async open(
    { origin, pathname, search }: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{
    readonly status: number;
    readonly headers: HttpAnswer['headers'];
    readonly stream: Readable;
  }> {
    const path = pathname + search;
    const answer = await this.#agent.request({ origin, path, method: 'GET', headers, signal });
    // The caller may leave the body unread: without a listener, its cut connection ends the process.
    answer.body.on('error', () => undefined);
    return { status: answer.statusCode, headers: answer.headers, stream: answer.body };
  }

  /**
   * The running exchanges under one signal. Hundreds share a signal and its one listener, because
   * removing a listener takes time in proportion to their number.
   */
  #runningUnder(signal: AbortSignal): Set<Exchange> {
    const known = this.#running.get(signal);
    if (known) return known;
    const running = new Set<Exchange>();
    this.#running.set(signal, running);
    // Callers also listen to the signal, so the warning about a listener leak does not apply.
    setMaxListeners(0, signal);
    const abort = () => running.forEach((exchange) => exchange.abort(signal.reason));
    signal.addEventListener('abort', abort, { once: true });
    return running;
  }

  /** Gives running exchanges one second to end, then closes their connections. */
  async close(): Promise<void> {
    const closed = this.#agent.close().catch(() => undefined);
    await Promise.race([closed, delay(1_000, undefined, { ref: false })]);
    this.#closed.abort();
    await this.#agent.destroy().catch(() => undefined);
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;
  #answer: Omit<HttpAnswer, 'body'> = { status: 0, headers: {} };
  #size = 0;
  readonly #chunks: Buffer[] = [];

  constructor(
    private readonly maxBytes: number,
    private readonly trace: ExchangeTrace,
    private readonly running: Set<Exchange>,
    private readonly resolve: (answer: HttpAnswer) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  abort(reason: unknown): void {
    this.#aborted = true;
    this.onResponseError(undefined, reason);
    this.#controller?.abort(new Error('aborted'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A thrown error dequeues the request; abort() would also close a healthy connection.
    if (this.#aborted) throw new Error('aborted');
    this.#controller = controller;
    this.trace.reach = 'sent';
    this.trace.written?.();
  }

  onResponseStart(_controller: unknown, status: number, headers: HttpAnswer['headers']): void {
    if (status >= 200) this.#answer = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.maxBytes) this.#chunks.push(chunk);
    else {
      this.#finish('');
      controller.abort(new Error('answer too large'));
    }
  }

  onResponseEnd(): void {
    const [first, ...others] = this.#chunks;
    this.#finish((others.length === 0 ? first : Buffer.concat(this.#chunks))?.toString() ?? '');
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.running.delete(this);
    this.reject(error);
  }

  #finish(body: string): void {
    this.running.delete(this);
    const { status, headers } = this.#answer;
    this.resolve({ status, headers, body });
  }
}
