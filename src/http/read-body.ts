import type { FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';

/** An error without a body, or a body without an error. */
type Done = (error: Error | null, body: Buffer) => void;

/**
 * Reads a body into one buffer of its declared length, and frees the parts in which it arrives. The
 * buffer of a body of unknown length doubles.
 */
export function readBody(
  request: FastifyRequest,
  payload: NodeJS.ReadableStream,
  done: Done,
  most = request.routeOptions.bodyLimit,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > most) return done(new ApiError('payload_too_large'), EMPTY);
  let body: Buffer = EMPTY;
  let length = 0;
  const add = (part: Buffer): void => {
    const end = length + part.length;
    if (end > most) return finish(new ApiError('payload_too_large'));
    if (length === 0) body = part;
    else {
      if (end > body.length) resize(Math.max(declared, Math.min(end * 2, most)));
      part.copy(body, length);
      freeBuffer(part);
    }
    length = end;
  };
  const resize = (size: number): void => {
    const resized = Buffer.allocUnsafeSlow(size);
    body.copy(resized);
    freeBuffer(body);
    body = resized;
  };
  const finish = (error: Error | null): void => {
    payload.off('data', add).off('end', end).off('error', finish);
    if (error) freeBuffer(body);
    else if (length < body.length) resize(length);
    done(error, body);
  };
  const end = (): void => finish(null);
  payload.on('data', add).on('end', end).on('error', finish);
  // A large body is paused until its parser listens.
  payload.resume();
}

/** Leaves the bytes to the handler of the route, as `rawBody`. */
export function keepRaw(
  request: FastifyRequest,
  payload: NodeJS.ReadableStream,
  done: (error: Error | null, body?: undefined) => void,
): void {
  readBody(request, payload, (error, rawBody) => {
    if (!error) Object.assign(request, { rawBody });
    done(error);
  });
}

const EMPTY = Buffer.alloc(0);

/** A transfer to it detaches the memory from the sender, and nothing receives it. */
const closed = new MessageChannel().port1;
closed.close();

/**
 * Frees the memory of a buffer at once; its length is 0 afterwards. The garbage collector would
 * free it after some 32 MiB more, and the allocator keeps most of what it needed at its peak.
 * Does nothing to a part of a larger memory, which other buffers may share.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer.byteLength === byteLength) closed.postMessage(null, [buffer as ArrayBuffer]);
}
