import { type Handler, RecordingServer } from '../recording-server.js';

type Request = Parameters<Handler>[0];

export interface ProviderAnswer {
  readonly status: number;
  /** JSON, or a text. */
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A provider over HTTP on loopback, written from its published reference. It ignores keys. */
export abstract class ProviderServer<Message> extends RecordingServer {
  /** Messages that were accepted. */
  readonly taken: Message[] = [];

  constructor() {
    super((request, response) => {
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

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
