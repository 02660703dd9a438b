import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, invalidField } from './api-error.js';
import { freeBuffer, keepRaw, readBody } from './read-body.js';
import { BEGUN, parseInSlices } from './sliced-json.js';

/** Bodies from this size on are counted, and parsed in slices, in bytes. */
const LARGE = 65_536;

/** Most fields, and lists and objects, of a large body; most requests have less than fifty. */
const MOST = 100;

type IsRoute = (route: string | undefined) => boolean;

interface JsonRoutes {
  /** Routes whose handler verifies the raw bytes and parses them afterwards. */
  readonly raw: IsRoute;
  /** Most fields of a large body to a route that takes more than others. */
  readonly mostOf?: (route: string | undefined) => number | undefined;
}

/**
 * Takes JSON bodies, and parses a large one in slices. Refuses texts that no database stores: bytes
 * that are not UTF-8, and halves of surrogate pairs; and a large body of many fields, lists or
 * objects before it is parsed.
 */
export function takeJson(fastify: FastifyInstance, { raw, mostOf }: JsonRoutes): void {
  const native = fastify.getDefaultJsonParser('error', 'error') as unknown as NativeParse;
  const parseBody = async (request: FastifyRequest, body: Buffer): Promise<unknown> => {
    // Many programs send the content type with every request, also where the route takes no body.
    if (body.length === 0) return undefined;
    if (!isUtf8(body))
      throw new ApiError('malformed_json', 'The body is not UTF-8; encode it as UTF-8');
    const parse = (json: string, field?: string): unknown => {
      const value = parsed(native, request, json);
      const wrong = json.includes('\\u') ? fieldWithHalfPair(value, field) : undefined;
      if (wrong !== undefined) throw invalidField(wrong, HALF_PAIR);
      return value;
    };
    if (body.length < LARGE) return parse(body.toString());
    const most = mostOf?.(request.routeOptions.url) ?? MOST;
    const { socket } = request.raw;
    return parseInSlices(body, { most, parse, isGone: () => socket.destroyed }).finally(() =>
      freeBuffer(body),
    );
  };
  fastify.addContentTypeParser('application/json', (request, payload, done) => {
    // Fastify makes a new object for each request.
    const { url, bodyLimit } = request.routeOptions;
    if (raw(url)) return keepRaw(request, payload, done);
    const parse = (error: Error | null, body: Buffer): void => {
      if (error) done(error);
      else parseBody(request, body).then((value) => done(null, value), done);
    };
    readBody(request, payload, parse, bodyLimit);
  });
}

type NativeParse = (
  request: FastifyRequest,
  json: string,
  done: (error: Error | null, value?: unknown) => void,
) => void;

/** @throws its error, which Fastify answers */
function parsed(parse: NativeParse, request: FastifyRequest, json: string): unknown {
  let result: { readonly error: Error | null; readonly value?: unknown } | undefined;
  parse(request, json, (error, value) => (result = { error, value }));
  if (result?.error) throw result.error;
  return result?.value;
}

const HALF_PAIR = 'must be Unicode text; a surrogate without its pair is the usual cause';

const HALF = /\p{Cs}/u;

/** The field of the body with such a text, or `''` for a name. @param begun by an earlier piece */
function fieldWithHalfPair(value: unknown, begun: string | undefined): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, one] of Object.entries(value)) {
    if (HALF.test(name)) return '';
    if (hasHalfPair(one)) return name === BEGUN ? begun : name;
  }
  return undefined;
}

/** Without recursion: a list may be deep. */
function hasHalfPair(value: unknown): boolean {
  const open: object[] = [[value]];
  for (let next = open.pop(); next; next = open.pop())
    for (const one of Array.isArray(next) ? (next as unknown[]) : Object.entries(next).flat()) {
      if (typeof one === 'string' && HALF.test(one)) return true;
      if (typeof one === 'object' && one !== null) open.push(one);
    }
  return false;
}

interface TextRoutes {
  /** Routes whose handler verifies texts. */
  readonly taken: IsRoute;
  /** Routes whose handler takes any file. */
  readonly raw: IsRoute;
}

/** Takes texts at these routes; others answer 415 to them. */
export function takeTexts(fastify: FastifyInstance, { taken, raw }: TextRoutes): void {
  fastify.addContentTypeParser('text/plain', (request, payload, done) => {
    const { url } = request.routeOptions;
    if (raw(url)) return keepRaw(request, payload, done);
    if (!taken(url)) return done(new ApiError('unsupported_media_type'), undefined);
    readBody(request, payload, (error, body) => done(error, error ? undefined : body.toString()));
  });
}

/** Keeps the bytes of images, audio, videos and documents at these routes; others answer 415 to them. */
export function takeFiles(fastify: FastifyInstance, raw: IsRoute): void {
  const files = /^(?:image|audio|video|application)\//;
  fastify.addContentTypeParser(files, (request, payload, done) => {
    if (raw(request.routeOptions.url)) keepRaw(request, payload, done);
    else done(new ApiError('unsupported_media_type'));
  });
}

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
