import type { IncomingMessage, Server } from 'node:http';
import { Logger } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiError } from './api-error.js';
import { fastifyOptions, type HttpLimits } from './fastify.options.js';
import { methodNotAllowed } from './method-not-allowed.js';

export interface HttpFrontOptions extends HttpLimits {
  /** One line per request, at debug. */
  readonly accessLog: boolean;
  /** Paths begin with one of these, or are not found. @default all that has a route */
  readonly only?: readonly string[];
}

const REAP_EVERY = 20;

/** The gateway's side of HTTP: Fastify with our limits, and our error form on every way out. */
export class HttpFront {
  readonly adapter: FastifyAdapter;
  readonly #logger = new Logger('Access');
  readonly #completeRoutes: () => void;
  #stopping = false;

  constructor(options: HttpFrontOptions) {
    this.adapter = new FastifyAdapter<Server>(fastifyOptions(options));
    const fastify = this.adapter.getInstance();
    fastify.server.maxConnections = options.maxConnections;
    this.#completeRoutes = methodNotAllowed(this.adapter);
    // Declared here so that setting it later does not change the shape of every request.
    fastify.decorateRequest('account', null);
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id);
      // The interface wants Content-Type on every request; a DELETE with it has no body all the same.
      if (request.method === 'DELETE' && !hasBody(request.raw))
        delete request.headers['content-type'];
      const served = options.only?.some((path) => request.url.startsWith(path)) ?? true;
      if (!this.#stopping && served) return done();
      if (!served) {
        const { status, body } = new ApiError('not_found', 'This process serves no requests');
        void reply.code(status).send(body);
        return;
      }
      const error = new ApiError('unavailable', 'The service is stopping; try again');
      void reply
        .code(error.status)
        .headers({ connection: 'close', 'retry-after': '1' })
        .send(error.body);
    });
    if (options.accessLog)
      fastify.addHook('onResponse', (request, reply, done) => {
        this.#logger.debug({
          message: 'request',
          request: request.id,
          method: request.method,
          route: request.routeOptions.url,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime * 10) / 10,
        });
        done();
      });
  }

  /** After Nest registered its routes: the other methods of each path answer 405. */
  complete(): void {
    this.#completeRoutes();
  }

  /**
   * While `close` runs, new requests are answered 503 and those under way end as they would; their
   * connections are not kept alive after that, or the close would wait for the clients.
   */
  async whileClosing(close: () => Promise<void>): Promise<void> {
    this.#stopping = true;
    const server = this.adapter.getInstance().server;
    const reaper = setInterval(() => server.closeIdleConnections(), REAP_EVERY);
    try {
      await close();
    } finally {
      clearInterval(reaper);
    }
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
