import { context, propagation, trace } from '@opentelemetry/api';
import type { FastifyAdapter } from '@nestjs/platform-fastify';

/**
 * A request goes on in the trace its headers name. An instrumented HTTP server has seen to that
 * already; then nothing is done here.
 */
export function continueTraces(adapter: FastifyAdapter): void {
  // After the body was read: its events belong to the socket, not to the request.
  adapter.getInstance().addHook('preHandler', (request, _reply, done) => {
    if (trace.getActiveSpan()) return done();
    context.with(propagation.extract(context.active(), request.headers), done);
  });
}
