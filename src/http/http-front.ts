import { context, propagation, trace } from '@opentelemetry/api';
import type { IncomingMessage, Server } from 'node:http';
import { Logger } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiError } from './api-error.js';
import { fastifyOptions, type HttpLimits } from './fastify.options.js';

export interface HttpFrontOptions extends HttpLimits {
  /** Logs one line for each request, at level debug. */
  readonly accessLog: boolean;
  /** Prefixes of the served paths; other paths get 404. @default all routes */
  readonly only?: readonly string[];
}

/** Interval, in ms, of closing idle connections during a stop. */
const REAP_EVERY = 20;

/** Fastify with the gateway's limits and the interface's error form. */
export class HttpFront {
  readonly adapter: FastifyAdapter;
  readonly #logger = new Logger('Access');
  readonly #methods = new Map<string, Set<string>>();
  #collectsMethods = true;
  #stopping = false;

  constructor(options: HttpFrontOptions) {
    this.adapter = new FastifyAdapter<Server>(fastifyOptions(options));
    const fastify = this.adapter.getInstance();
    fastify.server.maxConnections = options.maxConnections;
    fastify.addHook('onRoute', ({ url, method }) => {
      if (!this.#collectsMethods) return;
      const methods = this.#methods.get(url) ?? new Set();
      for (const name of [method].flat()) methods.add(name);
      this.#methods.set(url, methods);
    });
    // Declared here, because adding the property later would change the hidden class of every
    // request.
    fastify.decorateRequest('account', null);
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id);
      // The interface requires Content-Type on every request, also on a DELETE without a body.
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
        .headers({ connection: 'close', ...error.headers })
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

  /**
   * Responds with 405 and `Allow` to other methods of each known path. Call it after Nest
   * registered its routes.
   */
  registerMethodNotAllowed(): void {
    this.#collectsMethods = false;
    const fastify = this.adapter.getInstance();
    for (const [url, methods] of this.#methods) {
      const others = fastify.supportedMethods.filter((name) => !methods.has(name));
      const allow = [...methods].sort().join(', ');
      if (others.length === 0) continue;
      fastify.route({
        url,
        method: others,
        onRequest: async (request, reply) => {
          const error = new ApiError(
            'method_not_allowed',
            `This path takes ${allow}, not ${request.method}`,
          );
          await reply.code(error.status).header('allow', allow).send(error.body);
        },
        handler: () => undefined,
      });
    }
  }

  /**
   * Continues the trace in a request's headers, unless an instrumented HTTP server has continued it
   * already.
   */
  continueTraces(): void {
    // Runs after the body was read, because events of the body belong to the socket, not to the
    // request.
    this.adapter.getInstance().addHook('preHandler', (request, _reply, done) => {
      if (trace.getActiveSpan()) return done();
      context.with(propagation.extract(context.active(), request.headers), done);
    });
  }

  /**
   * While `close` runs, new requests get 503 and requests under way end normally. Then their
   * connections are closed: kept alive, they would delay the close until the clients close them.
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
