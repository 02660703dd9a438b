import type { ServerResponse } from 'node:http';
import { type Handler, RecordingServer } from '../recording-server.js';

type Request = Parameters<Handler>[0];

export interface ProviderAnswer {
  readonly status: number;
  /** JSON, or a text. */
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file of an inbound message. */
export interface ServedFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** The `Authorization` that it needs. @default none */
  readonly credential?: string;
}

/** A provider over HTTP on loopback, written from its published reference. It ignores keys. */
export abstract class ProviderServer<Message> extends RecordingServer {
  /** Messages that were accepted. */
  readonly taken: Message[] = [];
  /** Files of inbound messages by path and query. */
  readonly files = new Map<string, ServedFile>();

  constructor() {
    super((request, response) => {
      const file = request.method === 'GET' ? this.files.get(request.url) : undefined;
      if (file) return serve(file, request, response);
      const { status, body, headers } = this.handle(request);
      const isText = typeof body === 'string';
      const type = isText ? 'text/plain' : 'application/json';
      response.writeHead(status, { 'content-type': type, ...headers });
      response.end(isText ? body : JSON.stringify(body));
    });
  }

  /** Answers the next POST so, without taking it. */
  refuse({ status, body }: ProviderAnswer): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    this.answerAsProxy({ status, body: text }, 'before acceptance');
  }

  protected abstract handle(request: Request): ProviderAnswer;
}

function serve(
  { bytes, contentType, credential }: ServedFile,
  { headers }: Request,
  response: ServerResponse,
): void {
  if (credential !== undefined && headers.authorization !== credential)
    return void response.writeHead(401).end();
  response.writeHead(200, { 'content-type': contentType, 'content-length': bytes.length });
  response.end(bytes);
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
