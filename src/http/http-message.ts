import type { ArgumentsHost } from '@nestjs/common';

/** What the gateway reads of a Fastify request. */
export interface HttpRequest {
  readonly id: string;
  readonly ip: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: unknown;
  readonly body: unknown;
  /** The matched route's pattern; never the path, which may hold a number. */
  readonly routeOptions: { readonly url?: string | undefined };
}

/** What the gateway does to a Fastify reply. */
export interface HttpReply {
  readonly sent: boolean;
  readonly statusCode: number;
  readonly elapsedTime: number;
  code(status: number): this;
  header(name: string, value: string): this;
  headers(values: Readonly<Record<string, string>>): this;
  send(body: unknown): unknown;
}

/** On the way of every request, where `switchToHttp()` would make three functions each time. */
export function requestOf<T extends HttpRequest = HttpRequest>(host: ArgumentsHost): T {
  return host.getArgByIndex<T>(0);
}

/** See {@link requestOf}. */
export function replyOf(host: ArgumentsHost): HttpReply {
  return host.getArgByIndex<HttpReply>(1);
}
