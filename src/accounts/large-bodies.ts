import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiError } from '../http/api-error.js';
import type { AuthGuard } from './auth.guard.js';

/** Bytes of a body that are read whoever sends it. */
const READ_OF_ANYBODY = 65_536;

export interface ProvenOtherwise {
  /** Where callers are known by what they send, not by a credential. */
  readonly path: string;
  /** Bytes that are read there. */
  readonly bodyLimit: number;
}

/**
 * Reads a large body only where the credential is somebody's. Some megabytes of JSON hold the process
 * for half a second, and a route asks for the credential when that is over. Call it before Nest
 * registers its routes.
 */
export function guardLargeBodies(
  adapter: FastifyAdapter,
  auth: AuthGuard,
  { path, bodyLimit }: ProvenOtherwise,
): void {
  const fastify = adapter.getInstance();
  const isProvenOtherwise = (url = ''): boolean => url === path || url.startsWith(`${path}/`);
  fastify.addHook('onRoute', (route) => {
    if (isProvenOtherwise(route.url)) route.bodyLimit = bodyLimit;
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!isLarge(request.headers)) done();
    else if (request.is404) done(new ApiError('not_found', 'There is nothing at this path'));
    else if (isProvenOtherwise(request.routeOptions.url)) done();
    else auth.recognises(request).then(() => done(), done);
  });
}

/** Also where nobody says how large it is. */
function isLarge(headers: Readonly<Record<string, unknown>>): boolean {
  return (
    Number(headers['content-length'] ?? 0) > READ_OF_ANYBODY ||
    headers['transfer-encoding'] !== undefined
  );
}
