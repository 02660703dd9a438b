import type { RequestCommand } from '../codec/commands.js';
import type { Pdu } from '../codec/pdu.js';
import { SmppNoAnswerError, SmppNotSentError } from './session-errors.js';
import type { CloseReason } from './session-errors.js';

/** A request of this side. */
export interface PendingRequest {
  readonly command: RequestCommand;
  readonly sequence: number;
  readonly bytes: Buffer;
  /** Whether it takes a place of the window. */
  readonly isWindowed: boolean;
  readonly resolve: (answer: Pdu) => void;
  readonly reject: (error: Error) => void;
  /** Time on the clock of the session. */
  sentAt: number;
  /** Its caller has an answer or an error. */
  isSettled: boolean;
  /** It had no answer in time. */
  isExpired: boolean;
}

/**
 * The requests of one session: waiting for a place of the window, or sent and without an answer. A
 * request keeps its place until it is answered, however late, so that the peer never has more than
 * `window` of them.
 */
export class PendingRequests {
  readonly #waiting = new Set<PendingRequest>();
  /** In order of sending. */
  readonly #sent = new Map<number, PendingRequest>();
  #inWindow = 0;
  #expiredInWindow = 0;

  constructor(
    public window: number,
    readonly maxQueued: number,
  ) {}

  get waiting(): number {
    return this.#waiting.size;
  }

  get unanswered(): number {
    return this.#inWindow;
  }

  /** Requests of the window whose time has not run out. */
  get live(): number {
    return this.#inWindow - this.#expiredInWindow;
  }

  /** No pending request can still be answered in time. */
  get isSpent(): boolean {
    return this.#expiredInWindow >= this.window;
  }

  hasSequence(sequence: number): boolean {
    return this.#sent.has(sequence);
  }

  /** @throws SmppNotSentError where too many wait */
  add(request: PendingRequest): void {
    if (this.#waiting.size >= this.maxQueued)
      throw new SmppNotSentError(request.command, 'queue_full');
    this.#waiting.add(request);
  }

  /** The next request that may be written. */
  next(): PendingRequest | undefined {
    if (this.#inWindow >= this.window) return undefined;
    const [request] = this.#waiting;
    if (request) this.#waiting.delete(request);
    return request;
  }

  markSent(request: PendingRequest, now: number): void {
    request.sentAt = now;
    this.#sent.set(request.sequence, request);
    if (request.isWindowed) this.#inWindow++;
  }

  /** The request of this number, which its place in the window is free of from now on. */
  take(sequence: number): PendingRequest | undefined {
    const request = this.#sent.get(sequence);
    if (!request) return undefined;
    this.#sent.delete(sequence);
    if (request.isWindowed) {
      this.#inWindow--;
      if (request.isExpired) this.#expiredInWindow--;
    }
    return request;
  }

  peek(sequence: number): PendingRequest | undefined {
    return this.#sent.get(sequence);
  }

  /** The caller gives the request up: one that is not written is dropped, else its answer comes late. */
  abort(request: PendingRequest): void {
    if (request.isSettled) return;
    const { command, sequence, reject } = request;
    request.isSettled = true;
    if (this.#waiting.delete(request)) reject(new SmppNotSentError(command, 'aborted'));
    else reject(new SmppNoAnswerError(command, sequence, 'aborted'));
  }

  /** When the first answer is due that is not. */
  firstSentAt(): number | undefined {
    for (const { isExpired, sentAt } of this.#sent.values()) if (!isExpired) return sentAt;
    return undefined;
  }

  /** Requests that were sent at `time` or before and have no answer now. */
  expire(time: number): PendingRequest[] {
    const expired: PendingRequest[] = [];
    for (const request of this.#sent.values()) {
      if (request.isExpired) continue;
      if (request.sentAt > time) break;
      request.isExpired = true;
      if (request.isWindowed) this.#expiredInWindow++;
      else this.#sent.delete(request.sequence);
      expired.push(request);
      if (request.isSettled) continue;
      request.isSettled = true;
      request.reject(new SmppNoAnswerError(request.command, request.sequence, 'timeout'));
    }
    return expired;
  }

  /** Fails the requests that were not written. */
  refuseWaiting(reason: CloseReason): void {
    for (const request of this.#waiting) {
      request.isSettled = true;
      request.reject(new SmppNotSentError(request.command, reason));
    }
    this.#waiting.clear();
  }

  /** @returns how many submits and the like were sent and never answered */
  failAll(reason: CloseReason): number {
    this.refuseWaiting(reason);
    const unanswered = this.#inWindow;
    for (const request of this.#sent.values()) {
      if (request.isSettled) continue;
      request.isSettled = true;
      request.reject(new SmppNoAnswerError(request.command, request.sequence, reason));
    }
    this.#sent.clear();
    this.#inWindow = 0;
    this.#expiredInWindow = 0;
    return unanswered;
  }
}
