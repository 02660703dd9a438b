import type { ArgumentsHost } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type HttpRequest = Pick<
  FastifyRequest,
  'id' | 'ip' | 'method' | 'headers' | 'query' | 'body' | 'raw'
> & { readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url'> };

export type HttpReply = FastifyReply;

/** Nest's `switchToHttp()` would create three functions for each request. */
export function requestOf<T extends HttpRequest = HttpRequest>(host: ArgumentsHost): T {
  return host.getArgByIndex<T>(0);
}

export function replyOf(host: ArgumentsHost): HttpReply {
  return host.getArgByIndex<HttpReply>(1);
}
