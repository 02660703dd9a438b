import type { FastifyInstance } from 'fastify';
import { ApiError } from './api-error.js';
import { keepRaw } from './read-body.js';

type IsRoute = (route: string | undefined) => boolean;

interface FormRoutes {
  /** Routes that a form is posted to and whose content does not matter: it is not kept. */
  readonly unread: IsRoute;
  /** Routes whose handler verifies and parses the raw bytes of a form. */
  readonly raw: IsRoute;
}

/** Takes forms at these routes; others answer 415 to them. */
export function takeForms(fastify: FastifyInstance, { unread, raw }: FormRoutes): void {
  fastify.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    (request, payload, done) => {
      const { url } = request.routeOptions;
      const isMultipart = request.headers['content-type']?.startsWith('multipart/') === true;
      if (unread(url)) {
        payload.resume();
        done(null, undefined);
      } else if (raw(url) && !isMultipart) keepRaw(request, payload, done);
      else done(new ApiError('unsupported_media_type'));
    },
  );
}
