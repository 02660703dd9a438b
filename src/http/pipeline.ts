import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { freeBuffer } from './read-body.js';

/** Most requests of one process that wait for answers before them on their connection. */
const MOST_WAITING = 10_000;

/**
 * Most requests of one connection that wait. Node parses all that it has read, up to 64 KiB: without
 * this limit 2,500 small requests, which take 29 ms and 4 MB.
 */
const MOST_OF_ONE = 64;

/** Milliseconds for which a connection stays after its last answer is written. */
const LINGER = 5_000;

/** Milliseconds between two reads, of 64 KiB each, of discarded bytes. */
const DISCARD_EVERY = 100;

/** Most connections that are read to discard; each holds the 64 KiB of its next read. */
const MOST_DISCARDED = 64;

/** Answer to an HTTP parser that stops it. */
const STOP = 2;

interface ParsedRequest extends IncomingMessage {
  upgrade: boolean;
}

/** Internals of Node. */
interface Parser {
  onIncoming: (request: ParsedRequest, keepAlive: boolean) => number;
}

interface HttpSocket extends Socket {
  readonly parser?: Parser | null;
}

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
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #discarded = 0;

  /** @param refuse refuses the next request of a connection on which too many wait, and closes it */
  constructor(private readonly refuse: (socket: Socket) => void) {}

  /** Lets `handle` answer the requests of a server that has no other listener for them. */
  serve(server: Server, handle: RequestListener): void {
    const count = (change: number): void => {
      this.#waiting += change;
    };
    // After Node's own listener, which makes the parser.
    server.on('connection', (socket: HttpSocket) => {
      const pipeline = new Pipeline(socket, handle, count, this.#inTurn);
      this.#bySocket.set(socket, pipeline);
      const destroySoon = socket.destroySoon.bind(socket);
      // Node calls it after the last answer.
      socket.destroySoon = () => {
        if (pipeline.isUnread) this.#discard(socket.end());
        else destroySoon();
      };
      if (socket.parser) this.#limit(socket, socket.parser, pipeline);
    });
    server.on('request', (request, response) => {
      const { socket } = request;
      this.#bySocket.get(socket)?.add({ request, response });
      // An answer out of order is not possible; the client repeats unanswered requests.
      if (this.#waiting > MOST_WAITING) socket.destroy();
    });
  }

  /**
   * Runs one waiting request in each turn of the event loop. The loop accepts one connection a turn,
   * so that thousands of waiting requests must not make turns long.
   */
  readonly #inTurn = (work: () => void): void => {
    const ours = this.#turn;
    this.#turn = ours.then(() => nextTurn());
    void ours.then(work);
  };

  /** Runs `work` after the answers to the requests that arrived whole. */
  afterAnswers(socket: Socket, work: () => void): void {
    const pipeline = this.#bySocket.get(socket);
    if (pipeline) pipeline.end(work);
    else work();
  }

  /** Ends the parsing where too many requests wait, and after one that Node itself has refused. */
  #limit(socket: Socket, parser: Parser, pipeline: Pipeline): void {
    const { onIncoming } = parser;
    parser.onIncoming = (request, keepAlive) => {
      if (pipeline.isFull)
        pipeline.end(() => {
          this.refuse(socket);
          this.#discard(socket);
        });
      else {
        const result = onIncoming(request, keepAlive);
        if (result !== 0 || pipeline.newest === request) return result;
        pipeline.end(() => this.#discard(socket.end()));
      }
      // Node would hand over a connection that asks for another protocol.
      request.upgrade = false;
      return STOP;
    };
  }

  /**
   * Reads for a while, and slowly, the bytes that a client sends after the last answer: left unread, they
   * would end the connection before the client has read the answers. Above the limit a connection
   * waits unread: its client gets the answers where it reads while it sends.
   */
  #discard(socket: Socket): void {
    socket.pause();
    socket.once('finish', () => setTimeout(() => socket.destroy(), LINGER).unref());
    if (this.#discarded >= MOST_DISCARDED) return;
    this.#discarded++;
    socket.once('close', () => this.#discarded--);
    // In this event Node begins to read.
    socket.once('resume', () => {
      socket.removeAllListeners('data');
      socket.on('data', (bytes: Buffer) => {
        freeBuffer(bytes);
        socket.pause();
        setTimeout(() => socket.resume(), DISCARD_EVERY).unref();
      });
    });
    socket.resume();
  }
}

/** The requests of one connection. */
class Pipeline {
  readonly #waiting: Exchange[] = [];
  #handled: Exchange | undefined;
  /** Answered before it arrived whole. */
  #unfinished: IncomingMessage | undefined;
  #last: (() => void) | undefined;
  #newest: IncomingMessage | undefined;

  get newest(): IncomingMessage | undefined {
    return this.#newest;
  }

  /** The last answer was written before its request had arrived. */
  get isUnread(): boolean {
    return this.#handled?.request.complete === false;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MOST_OF_ONE;
  }

  constructor(
    private readonly socket: Socket,
    private readonly handle: RequestListener,
    private readonly count: (change: number) => void,
    private readonly inTurn: (work: () => void) => void,
  ) {
    // Reading a body resumes the whole connection; it happens after this event.
    socket.on('resume', () => {
      if (this.#waiting.length === 0 && !this.#last) return;
      // In this event Node has begun to read, also where the socket was paused again since.
      if (socket.isPaused()) socket.emit('pause');
      else socket.pause();
    });
    socket.once('close', () => this.#drop());
  }

  add(exchange: Exchange): void {
    this.#newest = exchange.request;
    if (!this.#handled) return this.#start(exchange);
    this.#waiting.push(exchange);
    this.count(1);
    // Node parses the bytes that it has read, and reads no more.
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
    const last = this.#last;
    if (last && !next?.request.complete) {
      this.#last = undefined;
      return last();
    }
    if (!next) return;
    this.#handled = next;
    this.inTurn(() => {
      if (this.socket.destroyed) return;
      this.#start(next);
      if (this.#waiting.length === 0) this.socket.resume();
    });
  };

  #start(exchange: Exchange): void {
    this.#handled = exchange;
    // Emitted once. `once()` would let every request and response outlive the young generation: with
    // 64 connections, a tenth of the CPU of a send.
    exchange.response.on('close', this.#next);
    this.handle(exchange.request, exchange.response);
  }

  #drop(): void {
    this.count(-this.#waiting.length);
    this.#waiting.length = 0;
  }
}

/**
 * Reads a body at most 64 KiB in a turn of the event loop. Node itself reads up to 2 MiB of each
 * connection, which is more than a second for 300 uploads.
 */
export function readInTurns(request: IncomingMessage): void {
  const { socket } = request;
  // Paused until the parser of the body listens as well.
  request.pause();
  request.on('data', () => {
    socket.pause();
    setImmediate(() => socket.resume());
  });
}
