import type { ArgumentsHost } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The parts of a request that the gateway reads. */
export type HttpRequest = Pick<
  FastifyRequest,
  'id' | 'ip' | 'method' | 'headers' | 'query' | 'body'
> & { readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url'> };

export type HttpReply = FastifyReply;

/**
 * The request of a context. Nest's `switchToHttp()` would create three functions for each request.
 */
export function requestOf<T extends HttpRequest = HttpRequest>(host: ArgumentsHost): T {
  return host.getArgByIndex<T>(0);
}

/** The reply of a context; see {@link requestOf}. */
export function replyOf(host: ArgumentsHost): HttpReply {
  return host.getArgByIndex<HttpReply>(1);
}
