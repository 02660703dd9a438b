import { parsedUrl } from '@dundun/messaging/values';
import type { ArgumentsHost } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';

export type HttpRequest = Pick<
  FastifyRequest,
  'id' | 'ip' | 'method' | 'headers' | 'query' | 'body' | 'raw' | 'originalUrl'
> & { readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url'> };

/** A request with what the log of requests says of it. */
export interface LoggedRequest extends HttpRequest {
  /** The known credential that it was made with, also where it is refused. */
  credential: { readonly id: string; readonly accountId: string } | null;
  /** Code of the error that it is answered with. */
  errorCode: string | null;
}

export type HttpReply = FastifyReply;

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Why the head of a request is refused: a proxy before this process may have read another host or
 * another body than the gateway. `undefined`: it is not.
 */
export function headFault({
  originalUrl,
  raw: { rawHeaders, headers },
}: Pick<FastifyRequest, 'originalUrl' | 'raw'>): ApiError | undefined {
  let hosts = 0;
  for (let n = 0; n < rawHeaders.length; n += 2)
    if (rawHeaders[n]?.length === 4 && rawHeaders[n]?.toLowerCase() === 'host') hosts++;
  if (hosts > 1 || !isOfHost(originalUrl, headers.host)) return new ApiError('invalid_host');
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding.toLowerCase() === 'identity'
    ? undefined
    : new ApiError('unsupported_media_type', 'Send the body without Content-Encoding', {
        headers: { 'accept-encoding': 'identity' },
      });
}

/** Node does not check an address in the request line (RFC 9112, section 3.2.2). */
function isOfHost(url: string, host: string | undefined): boolean {
  if (url.startsWith('/') || url === '*') return true;
  const whole = parsedUrl(url);
  const own = `${whole?.protocol}//${host}`;
  return whole !== undefined && parsedUrl(own)?.host === whole.host;
}

/** Nest's `switchToHttp()` would create three functions for each request. */
export function requestOf<T extends HttpRequest = HttpRequest>(host: ArgumentsHost): T {
  return host.getArgByIndex<T>(0);
}

export function replyOf(host: ArgumentsHost): HttpReply {
  return host.getArgByIndex<HttpReply>(1);
}
