import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, invalidField } from './api-error.js';

type Parse = (
  request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, body?: unknown) => void,
) => void;

/** Bodies from this size on are checked for their number of fields, lists and objects, in bytes. */
const LARGE = 65_536;

/** Most of them in a large body; most requests of the interface have less than fifty. */
const MOST = 100;

/**
 * Parses a JSON body. Refuses texts that no database stores: bytes that are not UTF-8, and halves
 * of surrogate pairs; and a large body of many fields, lists or objects before it is parsed, which
 * would stop the event loop for a second.
 * @param mostOf most fields of a large body to a route that takes more than others
 * @param isForeign routes whose bodies carriers define: the library verifies their bytes, and
 *   parses them afterwards
 */
export function jsonParser(
  fastify: FastifyInstance,
  isForeign: (route: string | undefined) => boolean,
  mostOf: (route: string | undefined) => number | undefined = () => undefined,
): Parse {
  const parse = fastify.getDefaultJsonParser('error', 'error') as unknown as Parse;
  return (request, body, done) => {
    if (isForeign(request.routeOptions.url)) return done(null, undefined);
    if (!isUtf8(body))
      return done(new ApiError('malformed_json', 'The body is not UTF-8; encode it as UTF-8'));
    const most = mostOf(request.routeOptions.url) ?? MOST;
    if (body.length >= LARGE && hasMany(body, most)) return done(tooMany(most));
    if (!body.includes('\\u')) return parse(request, body, done);
    parse(request, body, (error, value) => {
      const field = error ? undefined : fieldWithHalfPair(value);
      done(field === undefined ? error : invalidField(field, HALF_PAIR), value);
    });
  };
}

function tooMany(most: number): ApiError {
  return new ApiError(
    'invalid_field',
    `The body has more than ${most} fields, or lists and objects`,
    {
      details: [
        { path: '', message: `must have at most ${most} fields, and as many lists and objects` },
      ],
    },
  );
}

const HALF_PAIR = 'must be Unicode text; a surrogate without its pair is the usual cause';

const [COLON, LIST, OBJECT, QUOTE, BACKSLASH] = Buffer.from(':[{"\\');

/** Whether the body has more fields, or more lists and objects. */
function hasMany(body: Buffer, most: number): boolean {
  // Native, and enough for most bodies: 10 ms less for one of 4 MiB.
  if (!hasMore(body, ':', most) && !hasMore(body, '[{', most)) return false;
  let fields = 0;
  let lists = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfText(body, at);
    else if (byte === COLON) fields++;
    else if (byte === LIST || byte === OBJECT) lists++;
    else continue;
    if (fields > most || lists > most) return true;
  }
  return false;
}

/** Whether the characters occur more often, in texts or outside. */
function hasMore(body: Buffer, characters: string, most: number): boolean {
  let found = 0;
  for (const one of characters)
    for (let at = body.indexOf(one); at !== -1; at = body.indexOf(one, at + 1))
      if (++found > most) return true;
  return false;
}

/** The place of the quote that ends the text at `start`; the end of a body without it. */
function endOfText(body: Buffer, start: number): number {
  for (let at = start + 1; at < body.length; at++) {
    if (body[at] === QUOTE) return at;
    if (body[at] === BACKSLASH) at++;
  }
  return body.length;
}

const HALF = /\p{Cs}/u;

/** The field of the body with such a text, or `''` for a name. */
function fieldWithHalfPair(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  for (const [name, value] of Object.entries(body)) {
    if (HALF.test(name)) return '';
    if (hasHalfPair(value)) return name;
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
