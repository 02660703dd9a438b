import { context, propagation, trace } from '@opentelemetry/api';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiError } from './api-error.js';
import { toApiError } from './error-mapping.js';

type FastifyAdapterOptions = Exclude<
  ConstructorParameters<typeof FastifyAdapter<Server>>[0],
  { server: unknown } | undefined
>;

export interface HttpFrontOptions {
  /** Largest body of a request, in bytes. */
  readonly bodyLimit: number;
  /** Longest time for a request to arrive, in milliseconds; a third of it for its headers. */
  readonly requestTimeout: number;
  readonly maxConnections: number;
  /** Logs one line for each request, at level debug. */
  readonly accessLog: boolean;
  /** Prefixes of the served paths; other paths get 404. @default all routes */
  readonly only?: readonly string[];
}

/** Idle time after which a connection is closed, as a multiple of the request timeout. */
const ABANDONED_AFTER = 4;

/** Milliseconds between two checks for slow requests. */
const CHECK_EVERY = 500;

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

/** Options of the Fastify adapter: limits, and the interface's error form for Fastify's own errors. */
function fastifyOptions({ bodyLimit, requestTimeout }: HttpFrontOptions): FastifyAdapterOptions {
  return {
    logger: false,
    trustProxy: false,
    bodyLimit,
    requestTimeout,
    // Closes connections whose client does not read the response, or no longer exists.
    connectionTimeout: ABANDONED_AFTER * requestTimeout,
    http: {
      requestTimeout,
      headersTimeout: Math.ceil(requestTimeout / 3),
      connectionsCheckingInterval: CHECK_EVERY,
    },
    keepAliveTimeout: 72_000,
    // During a stop the gateway itself responds with 503, in the interface's error form.
    return503OnClosing: false,
    genReqId: requestIds(),
    frameworkErrors: (error: unknown, request: { id: string }, reply: RoutelessReply) => {
      const answer = toApiError(error);
      // This reply belongs to no route, so its body has the type `never`.
      void reply
        .code(answer.status)
        .header('x-request-id', request.id)
        .send(answer.body as never);
    },
    clientErrorHandler: answerUnreadable,
  };
}

interface RoutelessReply {
  code(status: number): this;
  header(name: string, value: string): this;
  send(...body: never[]): unknown;
}

/** Short ids, unique among the processes of a gateway: a random prefix and a counter. */
function requestIds(): () => string {
  const process = randomBytes(4).toString('hex');
  let count = 0;
  return () => `req-${process}-${(++count).toString(36)}`;
}

/** Responds on the socket to bytes that are not HTTP, and closes it. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { status, reason, body } = unreadable(error.code ?? '');
  if (!socket.writable) return void socket.destroy();
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function unreadable(code: string): { status: number; reason: string; body: string } {
  const timeout = new ApiError('request_timeout');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, reason: 'Request Timeout', body: JSON.stringify(timeout.body) };
  const isLong = code === 'HPE_HEADER_OVERFLOW';
  const { body } = new ApiError(
    'malformed_request',
    isLong
      ? 'The headers are too large; send fewer or shorter ones'
      : 'This is not readable HTTP; a line break inside a header is the usual cause',
  );
  return {
    status: isLong ? 431 : 400,
    reason: isLong ? 'Request Header Fields Too Large' : 'Bad Request',
    body: JSON.stringify(body),
  };
}
