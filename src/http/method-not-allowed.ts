import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiError } from './api-error.js';

/**
 * Answers 405 with `Allow` where a path exists for other methods. Call it before Nest registers its
 * routes, and what it returns after.
 */
export function methodNotAllowed(adapter: FastifyAdapter): () => void {
  const fastify = adapter.getInstance();
  const known = new Map<string, Set<string>>();
  let watching = true;
  fastify.addHook('onRoute', ({ url, method }) => {
    if (!watching) return;
    const methods = known.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    known.set(url, methods);
  });
  return () => {
    watching = false;
    for (const [url, methods] of known) {
      const others = fastify.supportedMethods.filter((name) => !methods.has(name));
      const allow = [...methods].sort().join(', ');
      if (others.length === 0) continue;
      fastify.route({
        url,
        method: others,
        onRequest: async (request, reply) => {
          const error = new ApiError(
            'method_not_allowed',
            `This path takes ${allow}, not ${request.method}`,
          );
          await reply.code(error.status).header('allow', allow).send(error.body);
        },
        handler: () => undefined,
      });
    }
  };
}
