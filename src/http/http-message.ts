import type { ArgumentsHost } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type HttpRequest = Pick<
  FastifyRequest,
  'id' | 'ip' | 'method' | 'headers' | 'query' | 'body' | 'raw'
> & { readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url'> };

export type HttpReply = FastifyReply;

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Nest's `switchToHttp()` would create three functions for each request. */
export function requestOf<T extends HttpRequest = HttpRequest>(host: ArgumentsHost): T {
  return host.getArgByIndex<T>(0);
}

export function replyOf(host: ArgumentsHost): HttpReply {
  return host.getArgByIndex<HttpReply>(1);
}
