import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from './api-error.js';
import { toApiError } from './error-mapping.js';

type FastifyAdapterOptions = Exclude<
  ConstructorParameters<typeof FastifyAdapter<Server>>[0],
  { server: unknown } | undefined
>;

export interface HttpLimits {
  /** Largest body of a request, in bytes. */
  readonly bodyLimit: number;
  /** Longest time for a request to arrive, in milliseconds; a third of it for its headers. */
  readonly requestTimeout: number;
  readonly maxConnections: number;
}

/** Idle time after which a connection is closed, as a multiple of the request timeout. */
const ABANDONED_AFTER = 4;

/** Milliseconds between two checks for slow requests. */
const CHECK_EVERY = 500;

/** Options of the Fastify adapter: limits, and the interface's error form for Fastify's own errors. */
export function fastifyOptions({ bodyLimit, requestTimeout }: HttpLimits): FastifyAdapterOptions {
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
