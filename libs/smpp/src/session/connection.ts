import type { Socket } from 'node:net';
import { decodePdu } from '../codec/decode.js';
import { encodePdu } from '../codec/encode.js';
import { FrameDecoder } from '../codec/frame-decoder.js';
import type { Pdu } from '../codec/pdu.js';
import { SmppDecodeError } from '../errors.js';
import type { ReadingClock } from './reading-clock.js';
import type { CloseReason } from './session-errors.js';
import type { SessionSettings } from './session-options.js';

export interface ConnectionHooks {
  /** A whole PDU came, readable or not: the rest of one that is cut off would hide a dead link. */
  readonly received: () => void;
  readonly pdu: (pdu: Pdu) => void;
  /** A PDU whose length was right; the stream goes on. */
  readonly malformed: (error: SmppDecodeError) => void;
  /** The peer reads again. */
  readonly writable: () => void;
  readonly end: (reason: CloseReason, error?: Error) => void;
}

/** Time for the last bytes to leave after the end, in milliseconds. */
const LINGER = 1_000;

/** PDUs over a socket, with back-pressure in both directions. */
export class SmppConnection {
  readonly #frames: FrameDecoder;
  #drainTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    private readonly socket: Socket,
    private readonly settings: Pick<SessionSettings, 'maxPduLength' | 'responseTimeout'>,
    private readonly clock: ReadingClock,
    private readonly hooks: ConnectionHooks,
  ) {
    this.#frames = new FrameDecoder(settings.maxPduLength);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('drain', () => this.#drained());
    socket.on('end', () => hooks.end('peer_closed'));
    socket.on('error', (error: Error) => hooks.end('connection_lost', error));
    socket.on('close', () => hooks.end('connection_lost'));
  }

  get remoteAddress(): string {
    return this.socket.remoteAddress ?? '';
  }

  /** The system takes bytes; otherwise they would pile up in this process. */
  get isWritable(): boolean {
    return !this.#isClosed && !this.socket.writableNeedDrain;
  }

  /** PDUs of one turn of the event loop leave together: a system call for each took a quarter of a session's CPU. */
  write(bytes: Buffer): void {
    if (this.#isClosed) return;
    if (this.socket.writableCorked === 0) {
      this.socket.cork();
      process.nextTick(() => this.socket.uncork());
    }
    if (this.socket.write(bytes)) return;
    // A peer that does not read gets no answers: nothing more of it is read.
    this.hold();
    const { responseTimeout } = this.settings;
    this.#drainTimer ??= setTimeout(() => this.hooks.end('slow_reader'), responseTimeout);
  }

  /** Reads nothing more; the clock stops. */
  hold(): void {
    if (this.#isClosed || this.socket.isPaused()) return;
    this.socket.pause();
    this.clock.stop();
  }

  /** @returns whether the connection was held */
  release(): boolean {
    if (this.#isClosed || !this.socket.isPaused()) return false;
    this.clock.start();
    this.socket.resume();
    return true;
  }

  /** Closes after the last bytes, at the latest after a second. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#drainTimer);
    const { socket } = this;
    socket.resume();
    socket.destroySoon();
    if (socket.closed) return;
    const linger = setTimeout(() => socket.destroy(), LINGER);
    socket.once('close', () => clearTimeout(linger));
  }

  #drained(): void {
    clearTimeout(this.#drainTimer);
    this.#drainTimer = undefined;
    if (!this.#isClosed) this.hooks.writable();
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return;
    try {
      for (const frame of this.#frames.push(chunk)) {
        this.hooks.received();
        this.#receive(frame);
        if (this.#isClosed) return;
      }
    } catch (error) {
      if (!(error instanceof SmppDecodeError)) throw error;
      this.hooks.malformed(error);
      this.write(encodePdu({ command: 'generic_nack', sequence: 0, status: error.status }));
      this.hooks.end('protocol_error', error);
    }
  }

  #receive(frame: Buffer): void {
    let pdu: Pdu;
    try {
      pdu = decodePdu(frame);
    } catch (error) {
      if (!(error instanceof SmppDecodeError) || !error.header) throw error;
      return this.hooks.malformed(error);
    }
    this.hooks.pdu(pdu);
  }
}
