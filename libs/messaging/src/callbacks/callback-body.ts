import { parse as parseForm } from 'node:querystring';
import { TextDecoder } from 'node:util';
import type { CallbackRequest } from '../ports/callback-parser.js';

export class UnreadableCallbackError extends Error {
  override readonly name: string = 'UnreadableCallbackError';
}

/** A body that is neither JSON nor a form, where no other is read. */
export class UnsupportedCallbackTypeError extends UnreadableCallbackError {
  override readonly name = 'UnsupportedCallbackTypeError';
}

const TYPE = /^application\/(json|x-www-form-urlencoded)\s*(?:;|$)/i;

/** `undefined`: no content type, or another one. */
export function bodyTypeOf({
  headers,
}: Pick<CallbackRequest, 'headers'>): 'json' | 'form' | undefined {
  const given = headers['content-type'];
  const name = typeof given === 'string' ? TYPE.exec(given)?.[1] : undefined;
  if (name === undefined) return undefined;
  return name.toLowerCase() === 'json' ? 'json' : 'form';
}

/** @throws UnsupportedCallbackTypeError where there is a body, and it is neither JSON nor a form */
export function requireBodyType(request: CallbackRequest): void {
  const { method, headers } = request;
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (method === 'POST' && hasBody && bodyTypeOf(request) === undefined)
    throw new UnsupportedCallbackTypeError();
}

type Received = Pick<CallbackRequest, 'url' | 'headers' | 'rawBody'>;

/** Whether the request says nothing: providers check like that whether an address answers. */
export function isEmptyCallback(request: Received): boolean {
  return hasNoBody(request) && /^[^?]*\??$/.test(request.url);
}

export function hasNoBody({ headers, rawBody }: Received): boolean {
  if (rawBody) return rawBody.length === 0;
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/**
 * A callback whose raw body is parsed when its `body` is first read: after the verification, and
 * from the bytes that were verified. The platform's parsed body counts where it kept no raw one.
 */
export class ReceivedCallback implements CallbackRequest {
  readonly method: CallbackRequest['method'];
  readonly url: string;
  readonly pathSecret: string | undefined;
  readonly headers: CallbackRequest['headers'];
  readonly query: CallbackRequest['query'];
  readonly rawBody: Buffer | undefined;
  readonly ip: string;
  #parsed: { readonly body: unknown } | undefined;

  constructor(
    private readonly given: Omit<CallbackRequest, 'receivedAt'>,
    readonly receivedAt: number,
  ) {
    this.method = given.method;
    this.url = given.url;
    this.pathSecret = given.pathSecret;
    this.headers = given.headers;
    this.query = given.query;
    this.rawBody = given.rawBody;
    this.ip = given.ip;
  }

  get body(): unknown {
    return (this.#parsed ??= { body: parsedBody(this.given) }).body;
  }
}

function parsedBody(request: Omit<CallbackRequest, 'receivedAt'>): unknown {
  const { body, rawBody } = request;
  const type = bodyTypeOf(request);
  if (!rawBody || type === undefined) return body;
  if (rawBody.length === 0) return undefined;
  const decoder = decoderOf(charsetOf(request));
  // Node passes each name and value with its escapes; a plus is one by then.
  const decodeURIComponent = (given: string) =>
    /[%\x80-\xff]/.test(given) ? decoder.decode(unescaped(given)) : given;
  if (type === 'form')
    return {
      ...parseForm(rawBody.toString('latin1'), '&', '=', { maxKeys: 0, decodeURIComponent }),
    };
  try {
    return JSON.parse(decoder.decode(rawBody));
  } catch {
    // The parser's own message quotes the body.
    throw new UnreadableCallbackError('no JSON');
  }
}

function charsetOf({ headers }: Pick<CallbackRequest, 'headers'>): string | undefined {
  const type = headers['content-type'];
  return typeof type === 'string' ? /;\s*charset="?([^\s;"]+)/i.exec(type)?.[1] : undefined;
}

/** The bytes of a text whose characters are bytes or their escapes (`%EA`). */
export function unescaped(text: string): Buffer {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

/** Leaves out a byte order mark. @returns UTF-8 for an unknown name: identifiers are ASCII in most */
export function decoderOf(charset = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(charset.trim());
  } catch {
    return new TextDecoder();
  }
}
