import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';

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

function keepRaw(
  request: FastifyRequest,
  payload: NodeJS.ReadableStream,
  done: (error: Error | null, body?: undefined) => void,
): void {
  const most = request.routeOptions.bodyLimit;
  const parts: Buffer[] = [];
  let bytes = 0;
  const keep = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= most) return void parts.push(part);
    payload.off('data', keep);
    payload.off('end', end);
    payload.resume();
    done(new ApiError('payload_too_large'));
  };
  const end = (): void => {
    Object.assign(request, { rawBody: Buffer.concat(parts) });
    done(null, undefined);
  };
  payload.on('data', keep);
  payload.once('end', end);
  payload.once('error', (error) => done(error as Error));
  // A large body is paused until its parser listens.
  payload.resume();
}
