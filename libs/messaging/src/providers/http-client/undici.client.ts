import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
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
   * `untried`: an interceptor failed first; `unsent`: no socket took the request; `sent`: a socket took it, so the
   * service may have it; `unknown`: a custom adapter does not report it.
   */
  reach: 'untried' | 'unsent' | 'sent' | 'unknown';
}

/**
 * Keep-alive HTTP/1.1 over undici: one pool per origin, one request per connection at a time, because with pipelining
 * one lost connection would make many requests uncertain. Redirects are not followed, and answers are not
 * decompressed (the client requests no compression).
 */
export class UndiciClient {
  readonly #agent: Agent;
  readonly #connecting = new Set<Socket>();

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

  exchange(
    { maxBytes, body, ...request }: HttpRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<HttpAnswer> {
    trace.reach = 'unsent';
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      let running: Dispatcher.DispatchController | undefined;
      let answer: Omit<HttpAnswer, 'body'> = { status: 0, headers: {} };
      let size = 0;
      const chunks: Buffer[] = [];
      const abort = () => {
        reject(signal.reason as Error);
        running?.abort(new Error('aborted'));
      };
      const finish = (text: string) => {
        signal.removeEventListener('abort', abort);
        resolve({ ...answer, body: text });
      };
      // Requests that start together share a signal, so the warning about a listener leak does not apply.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', abort, { once: true });
      this.#agent.dispatch(
        { ...request, body: body ?? null },
        {
          onRequestStart: (controller) => {
            // A thrown error removes the request from the queue; abort() would also close a healthy connection.
            if (signal.aborted) throw new Error('aborted');
            running = controller;
            trace.reach = 'sent';
          },
          onResponseStart: (_controller, status, headers) => {
            if (status >= 200) answer = { status, headers };
          },
          onResponseData: (controller, chunk) => {
            size += chunk.length;
            if (size <= maxBytes) {
              chunks.push(chunk);
              return;
            }
            finish('');
            controller.abort(new Error('answer too large'));
          },
          onResponseEnd: () => finish(Buffer.concat(chunks).toString()),
          onResponseError: (_controller, error) => {
            signal.removeEventListener('abort', abort);
            reject(error);
          },
        },
      );
    });
  }

  /** Waits at most `grace` milliseconds for running exchanges, then closes their connections. */
  async close(grace: number): Promise<void> {
    const closed = this.#agent.close().catch(() => undefined);
    await Promise.race([closed, delay(grace, undefined, { ref: false })]);
    // undici does not track sockets before the end of their handshake; they would keep the process alive.
    for (const socket of this.#connecting) socket.destroy();
    await this.#agent.destroy().catch(() => undefined);
  }
}
