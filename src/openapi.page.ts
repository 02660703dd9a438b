import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { openApiDocument } from './openapi.document.js';

/** The page loads nothing from another host. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

/** `/openapi.json`, and an interactive page at `/docs`. Call it before `init()`. */
export function serveOpenApi(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRoute', (route) => {
      if (!route.url.startsWith('/docs')) return;
      route.onRequest = [
        ...[route.onRequest ?? []].flat(),
        (_request, reply, done) => {
          reply.header('content-security-policy', POLICY);
          done();
        },
      ];
    });
  SwaggerModule.setup('docs', app, openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Dundun',
    swaggerOptions: { validatorUrl: null, persistAuthorization: false },
  });
}
