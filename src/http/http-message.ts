import type { ArgumentsHost } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';

/** The parts of a Fastify request that the gateway reads. */
export interface HttpRequest {
  readonly id: string;
  readonly ip: string;
  readonly method: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly query: unknown;
  readonly body: unknown;
  /**
   * The pattern of the matched route. Logs use it instead of the path, which may contain a number.
   */
  readonly routeOptions: { readonly url?: string | undefined };
}

/** The parts of a Fastify reply that the gateway uses. */
export interface HttpReply {
  readonly sent: boolean;
  readonly statusCode: number;
  readonly elapsedTime: number;
  code(status: number): this;
  header(name: string, value: string): this;
  headers(values: Readonly<Record<string, string>>): this;
  send(body: unknown): unknown;
}

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
