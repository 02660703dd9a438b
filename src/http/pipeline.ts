import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Most requests of one process that wait for answers before them on their connection. */
const MOST_WAITING = 10_000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Handles the requests of a connection one at a time: the next one when the answer before it is
 * written, or its client is gone. Node itself hands over all requests that a client pipelines,
 * and what their answers hold (rows, open files) would stay until the client reads, or for ever.
 */
export class Pipelines {
  readonly #bySocket = new WeakMap<Socket, Pipeline>();
  #waiting = 0;

  /** The listener of a server whose requests `handle` answers. */
  listener(handle: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      let pipeline = this.#bySocket.get(socket);
      if (!pipeline) {
        pipeline = new Pipeline(socket, handle, (change) => (this.#waiting += change));
        this.#bySocket.set(socket, pipeline);
      }
      pipeline.add({ request, response });
      // An answer out of order is not possible; the client repeats what was not answered.
      if (this.#waiting > MOST_WAITING) socket.destroy();
    };
  }

  /** Runs `work` after the answers to the requests that arrived whole. */
  afterAnswers(socket: Socket, work: () => void): void {
    const pipeline = this.#bySocket.get(socket);
    if (pipeline) pipeline.end(work);
    else work();
  }
}

/** The requests of one connection. */
class Pipeline {
  readonly #waiting: Exchange[] = [];
  #handled: Exchange | undefined;
  /** Answered before it arrived whole. */
  #unfinished: IncomingMessage | undefined;
  #last: (() => void) | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly handle: RequestListener,
    private readonly count: (change: number) => void,
  ) {
    // Reading a body resumes the whole connection; it happens after this event.
    socket.on('resume', () => this.#waiting.length > 0 && socket.pause());
    socket.once('close', () => this.#drop());
  }

  add(exchange: Exchange): void {
    if (!this.#handled) return this.#start(exchange);
    this.#waiting.push(exchange);
    this.count(1);
    // Node parses what it has read, at most 64 KiB, and reads no more.
    this.socket.pause();
  }

  end(work: () => void): void {
    if (this.#waiting.length > 0 || this.#handled?.request.complete) this.#last = work;
    // The client would take a second answer for that of its next request.
    else if (!this.#handled && this.#unfinished?.complete === false) this.socket.destroy();
    else work();
  }

  readonly #next = (): void => {
    const request = this.#handled?.request;
    this.#unfinished = request?.complete === false ? request : undefined;
    this.#handled = undefined;
    if (this.socket.writableEnded || this.socket.destroyed) this.#drop();
    const next = this.#waiting.shift();
    if (next) this.count(-1);
    if (this.#last && !next?.request.complete) return this.#last();
    if (!next) return;
    this.#start(next);
    if (this.#waiting.length === 0) this.socket.resume();
  };

  #start(exchange: Exchange): void {
    this.#handled = exchange;
    exchange.response.once('close', this.#next);
    this.handle(exchange.request, exchange.response);
  }

  #drop(): void {
    this.count(-this.#waiting.length);
    this.#waiting.length = 0;
  }
}
