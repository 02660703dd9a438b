import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
}

/** Answers, or cuts the socket, instead of the server; `false` lets the server answer. */
export type Answer = (
  request: ReceivedRequest,
  response: ServerResponse,
) => boolean | void | Promise<boolean | void>;

export type Handler = (request: ReceivedRequest, response: ServerResponse) => void;

/** A server on a free loopback port that records its requests. `answer()` injects faults. */
export class RecordingServer {
  readonly requests: ReceivedRequest[] = [];
  #answer: Answer | undefined;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  constructor(private readonly handler: Handler) {}

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Called before each request is answered, until the next call of this method. */
  answer(answer: Answer | undefined): void {
    this.#answer = answer;
  }

  /** Handles the next POST and cuts its connection instead of answering. */
  loseNextAnswer(): void {
    this.replaceNextAnswer((response) => void response.socket?.destroy());
  }

  /** A proxy answers the next POST, before this server has it or after it has handled it. */
  answerAsProxy(
    { status, body }: { readonly status: number; readonly body: string },
    when: 'before acceptance' | 'after acceptance',
  ): void {
    const say = (response: ServerResponse) => void response.writeHead(status).end(body);
    if (when === 'after acceptance') return this.replaceNextAnswer(say);
    this.#answerNextPost((_request, response) => say(response));
  }

  /** Handles the next POST; `say` answers in the server's place, as a proxy would. */
  replaceNextAnswer(say: (response: ServerResponse) => void): void {
    this.#answerNextPost((request, response) => this.handleUnheard(request, () => say(response)));
  }

  /** Handles a request; nothing of its answer leaves, and `then` is called in its place. */
  handleUnheard(request: ReceivedRequest, then: () => void): void {
    const silent = { writeHead: () => silent, end: then };
    this.handler(request, silent as unknown as ServerResponse);
  }

  /** Polls for reports, which come at any time, are answered as always. */
  #answerNextPost(answer: Handler): void {
    this.#answer = (request, response) => {
      if (request.method !== 'POST') return false;
      this.#answer = undefined;
      answer(request, response);
    };
  }

  async #receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming;
    const bytes = await buffer(incoming);
    const request = { method, url, headers, body: bytes.toString(), bytes };
    this.requests.push(request);
    if (this.#answer && (await this.#answer(request, response)) !== false) return;
    this.handler(request, response);
  }
}
