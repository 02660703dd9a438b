import { Logger } from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { onRequestHookHandler, onSendHookHandler } from 'fastify';
import { ApiError } from '../http/api-error.js';
import { hasBody } from '../http/http-message.js';
import { networkOf, type RequestWindow } from './limits.js';

/**
 * Limits callbacks without a valid signature per network, as `AuthGuard` limits requests without a
 * valid credential. Above the limit no body is read: a valid callback passes only without a body.
 * Call it before Nest registers its routes.
 */
export function limitCallbackFailures(
  adapter: FastifyAdapter,
  failures: RequestWindow,
  isCallback: (route: string | undefined) => boolean,
): void {
  const logger = new Logger('Callbacks');
  const refuse: onRequestHookHandler = ({ ip, raw }, _reply, done) => {
    const seconds = hasBody(raw) ? failures.exhaustedFor(networkOf(ip)) : undefined;
    done(seconds === undefined ? undefined : tooMany(seconds));
  };
  const count: onSendHookHandler = ({ id, ip, routeOptions }, reply, payload, done) => {
    if (reply.statusCode !== 401) return done(null, payload);
    const { remaining, reset } = failures.take(networkOf(ip));
    // One line per window, so that a flood of callbacks does not flood the log.
    if (remaining === 0)
      logger.warn({ message: 'callbacks throttled', ip, route: routeOptions.url, request: id });
    if (remaining >= 0) return done(null, payload);
    const { status, headers, body } = tooMany(reset);
    void reply.code(status).headers(headers);
    done(null, JSON.stringify(body));
  };
  adapter.getInstance().addHook('onRoute', (route) => {
    if (!isCallback(route.url)) return;
    route.onRequest = [refuse, ...[route.onRequest ?? []].flat()];
    route.onSend = [count, ...[route.onSend ?? []].flat()];
  });
}

function tooMany(seconds: number): ApiError {
  return new ApiError(
    'rate_limited',
    'Too many callbacks without a valid signature from this address; check the secret',
    { headers: { 'retry-after': String(seconds) } },
  );
}
