import type { Socket } from 'node:net';
import { decodePdu } from '../codec/decode.js';
import { encodePdu } from '../codec/encode.js';
import { FrameDecoder } from '../codec/frame-decoder.js';
import type { Pdu } from '../codec/pdu.js';
import { SmppDecodeError } from '../errors.js';
import type { PduTurns } from './pdu-turns.js';
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
  /** PDUs that were read and wait for their turn. */
  #unread: Generator<Buffer, void, undefined> | undefined;
  #isStopped = false;
  #isClosed = false;

  constructor(
    private readonly socket: Socket,
    private readonly settings: Pick<SessionSettings, 'maxPduLength' | 'responseTimeout'>,
    private readonly clock: ReadingClock,
    private readonly hooks: ConnectionHooks,
    /** `undefined`: all PDUs that were read are taken at once. */
    private readonly turns: PduTurns | undefined,
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

  /** PDUs of the peer wait for their turn. */
  get hasUnread(): boolean {
    return this.#unread !== undefined;
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
    this.stopReading();
    const { responseTimeout } = this.settings;
    this.#drainTimer ??= setTimeout(() => {
      this.hooks.end('slow_reader');
      // The last bytes do not leave, and the peer may go on writing.
      this.socket.destroy();
    }, responseTimeout);
  }

  /** Reads nothing more; the clock stops. */
  stopReading(): void {
    if (this.#isClosed || this.#isStopped) return;
    this.#isStopped = true;
    this.socket.pause();
    this.clock.stop();
  }

  /** @returns whether the connection had stopped reading */
  readOn(): boolean {
    if (this.#isClosed || !this.#isStopped) return false;
    this.#isStopped = false;
    this.clock.start();
    if (!this.hasUnread) this.socket.resume();
    return true;
  }

  /** Closes after the last bytes, at the latest after a second. */
  close(): void {
    this.#isClosed = true;
    this.#unread = undefined;
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
    this.#unread = this.#frames.push(chunk);
    this.#take();
  }

  /** Takes the PDUs that were read, those that find no place in this turn in the next ones. */
  #take(): void {
    try {
      for (let taken = 0; this.turns?.take(taken) ?? true; taken++) {
        if (this.#isClosed) return;
        const frame = this.#unread?.next();
        if (!frame || frame.done) return this.#taken();
        this.hooks.received();
        if (!this.#isClosed) this.#receive(frame.value);
      }
    } catch (error) {
      if (!(error instanceof SmppDecodeError)) throw error;
      this.hooks.malformed(error);
      this.write(encodePdu({ command: 'generic_nack', sequence: 0, status: error.status }));
      return this.hooks.end('protocol_error', error);
    }
    if (this.#isClosed) return;
    this.socket.pause();
    this.turns?.wait(() => this.#take());
  }

  #taken(): void {
    this.#unread = undefined;
    if (!this.#isStopped && this.socket.isPaused()) this.socket.resume();
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
