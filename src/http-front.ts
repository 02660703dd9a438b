import { context, propagation, trace } from '@opentelemetry/api';
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions, FastifyReply } from 'fastify';
import type { Environment } from './config/environment.js';
import { ApiError } from './http/api-error.js';
import { isReadByPerson } from './http/development-log.js';
import { toApiError } from './http/error-mapping.js';
import { hasBody, headFault } from './http/http-message.js';
import { ACCOUNT_IN_ADDRESS, PORTAL_PATH } from './portal/portal-request.js';
import { Pipelines } from './http/pipeline.js';

/** Most characters of a parameter in a path. */
const LONGEST_PARAM = 1_024;

/** Address of a page as people type it: with a slash at its end. */
const PAGE_WITH_SLASH = /^(\/portal(?!\/api\/)(?:\/[\w-]+)*)\/(?=\?|$)/;

/** Scheme and host of a whole address in the request line. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** Prefixes of the paths that a worker serves, for its supervisor; other paths get 404. */
const HEALTH = '/health/';
const WORKER_SERVES = [HEALTH, '/metrics'];

/** Idle time after which a connection is closed, as a multiple of the request timeout. */
const ABANDONED_AFTER = 4;

/** Milliseconds between two checks for slow requests. */
const CHECK_EVERY = 500;

/** Interval, in ms, of closing idle connections during a stop. */
const REAP_EVERY = 20;

export class HttpFront {
  readonly adapter: FastifyAdapter;
  readonly #logger = new Logger('Access');
  readonly #methods = new Map<string, Set<string>>();
  #stopping = false;

  constructor(environment: Environment) {
    const { ROLE, LOG_LEVEL } = environment;
    const isRead = isReadByPerson(environment);
    this.adapter = new FastifyAdapter<Server>(fastifyOptions(environment));
    const fastify = this.adapter.getInstance();
    // Fastify's own: the gateway answers 415 to texts unread, except at callbacks.
    fastify.removeContentTypeParser('text/plain');
    fastify.addHook('onRoute', ({ url, method }) => {
      const methods = this.#methods.get(url) ?? new Set();
      for (const name of [method].flat()) methods.add(name);
      this.#methods.set(url, methods);
    });
    // Declared here: adding it later would change the hidden class of every request.
    fastify.decorateRequest('account', null);
    fastify.decorateRequest('portal', null);
    fastify.decorateRequest('credential', null);
    fastify.decorateRequest('errorCode', null);
    fastify.addHook('onRequest', (request, reply, done) => {
      // Most answers have personal data; a page that may be kept says so itself.
      reply
        .header('x-request-id', request.id)
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff');
      const fault = headFault(request);
      if (fault) return done(fault);
      // The interface requires Content-Type on every request, also on a DELETE without a body.
      if (request.method === 'DELETE' && !hasBody(request.raw))
        delete request.headers['content-type'];
      if (ROLE === 'worker' && !WORKER_SERVES.some((path) => request.url.startsWith(path)))
        return done(new ApiError('not_found', 'This process serves no requests'));
      if (!this.#stopping) return done();
      const headers = { connection: 'close' };
      const error = new ApiError('unavailable', 'The service is stopping; try again', { headers });
      void reply.code(error.status).headers(error.headers).send(error.body);
    });
    if (isRead || LOG_LEVEL === 'debug' || LOG_LEVEL === 'trace')
      fastify.addHook('onResponse', ({ id, method, routeOptions: { url: route } }, reply, done) => {
        const { statusCode: status } = reply;
        const ms = Math.round(reply.elapsedTime * 10) / 10;
        // Not its path, which may have a number or an address.
        if (!isRead)
          this.#logger.debug({ message: 'request', request: id, method, route, status, ms });
        // Health checks come every few seconds, and would hide the requests of people.
        else if (!route?.startsWith(HEALTH))
          this.#logger.log({
            message: `${method} ${route ?? '(no route)'} ${status}`,
            ms,
            request: id,
          });
        done();
      });
  }

  /** 405 and `Allow` for other methods of a path. Call it after Nest registered its routes. */
  registerMethodNotAllowed(): void {
    const fastify = this.adapter.getInstance();
    for (const [url, methods] of this.#methods) {
      const others = fastify.supportedMethods.filter((name) => !methods.has(name));
      const allow = [...methods].sort().join(', ');
      if (others.length === 0) continue;
      fastify.route({
        url,
        method: others,
        onRequest: ({ method }, reply, done) => {
          reply.header('allow', allow);
          done(new ApiError('method_not_allowed', `This path takes ${allow}, not ${method}`));
        },
        handler: () => undefined,
      });
    }
  }

  /** Does nothing where an instrumented HTTP server has continued the trace already. */
  continueTraces(): void {
    // After the body was read: events of the body belong to the socket, not to the request.
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

function fastifyOptions(environment: Environment): FastifyHttpOptions<Server> {
  const pipelines = new Pipelines(refusePipelined);
  return {
    logger: false,
    trustProxy: environment.TRUSTED_PROXIES ?? false,
    bodyLimit: environment.BODY_LIMIT,
    // E-mail addresses and unsubscribe tokens are parts of paths.
    rewriteUrl: ({ url = '/' }) =>
      url
        .replace(ORIGIN, '')
        .replace(ACCOUNT_IN_ADDRESS, `/${PORTAL_PATH}`)
        .replace(PAGE_WITH_SLASH, '$1')
        .replace(/^(?![/*])/, '/'),
    routerOptions: { maxParamLength: LONGEST_PARAM },
    serverFactory: (handle) => serverOf(environment, handle, pipelines),
    // Fastify's own would answer as well.
    clientErrorHandler: () => undefined,
    // During a stop the gateway itself responds with 503, in the interface's error form.
    return503OnClosing: false,
    genReqId: requestIds(),
    frameworkErrors: (error, request, reply) => {
      const { status, body } = toApiError(error);
      // This reply belongs to no route, so its body has the type `never`.
      const routeless = reply as unknown as FastifyReply;
      void routeless.code(status).header('x-request-id', request.id).send(body);
    },
  };
}

/** Fastify calls it for each address that `HOST` names. */
function serverOf(
  { REQUEST_TIMEOUT: requestTimeout, MAX_CONNECTIONS }: Environment,
  handle: RequestListener,
  pipelines: Pipelines,
): Server {
  const options = {
    requestTimeout,
    headersTimeout: Math.ceil(requestTimeout / 3),
    connectionsCheckingInterval: CHECK_EVERY,
    keepAliveTimeout: 72_000,
  };
  const server = createServer(options);
  pipelines.serve(server, handle);
  server.maxConnections = MAX_CONNECTIONS;
  // Closes connections whose client does not read the response, or no longer exists.
  server.timeout = ABANDONED_AFTER * requestTimeout;
  // A client that has sent everything, and says so, still waits for its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('clientError', (error, socket) =>
    pipelines.afterAnswers(socket as Socket, () => answerUnreadable(error, socket as Socket)),
  );
  return server;
}

/** Short ids, unique among the processes of a gateway: a random prefix and a counter. */
function requestIds(): () => string {
  const process = randomBytes(4).toString('hex');
  let count = 0;
  return () => `req-${process}-${(++count).toString(36)}`;
}

/** Responds on the socket to bytes that are not HTTP, and closes it. */
function answerUnreadable({ code }: Error & { code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET') return;
  const isLong = code === 'HPE_HEADER_OVERFLOW';
  const error =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new ApiError('request_timeout')
      : new ApiError(
          'malformed_request',
          isLong
            ? 'The headers are too large; send fewer or shorter ones'
            : 'This is not readable HTTP; a line break inside a header is the usual cause',
        );
  answerAndClose(error, socket, isLong ? 431 : error.status);
}

function refusePipelined(socket: Socket): void {
  const message =
    'Too many requests wait on this connection; read the answers before you send more';
  answerAndClose(new ApiError('rate_limited', message), socket);
}

function answerAndClose(error: ApiError, socket: Socket, status = error.status): void {
  if (socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(error.body);
  const headers = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...error.headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`);
}
