import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { COMMAND_STATUS } from '../command-status.js';
import {
  COMMAND_ID,
  isResponseId,
  type RequestCommand,
  type ResponseCommand,
  responseCommandOf,
} from '../codec/commands.js';
import { encodePdu, MAX_SEQUENCE } from '../codec/encode.js';
import type { BodyInput, Pdu, PduInput, PduOf } from '../codec/pdu.js';
import type { SmppDecodeError } from '../errors.js';
import { type ConnectionHooks, SmppConnection } from './connection.js';
import { LinkWatch } from './link-watch.js';
import { BIND_MODES, type BindMode, maySend, type Role } from './message-rights.js';
import { PeerRequests } from './peer-requests.js';
import { ReadingClock } from './reading-clock.js';
import { PendingRequests, type PendingRequest } from './pending-requests.js';
import { type CloseReason, SmppNoAnswerError, SmppNotSentError } from './session-errors.js';
import type {
  AnswerOf,
  BoundSession,
  MessageRequest,
  RequestOptions,
  SessionEvents,
  SessionLimits,
  SessionSettings,
  ServerHooks,
} from './session-options.js';

/**
 * One bind: sends requests within its window and answers those of the peer. Made by `connectSmpp()` or
 * an `SmppServer`.
 *
 * ```
 * open ── bind answered ─▶ bound ── unbind() ─▶ unbinding ─▶ closed
 *   └──────── any ────────────┴──── unbind of the peer, connection lost, time-out ──▶ closed
 * ```
 */
export class SmppSession extends EventEmitter<SessionEvents> implements BoundSession {
  #state: 'open' | 'bound' | 'unbinding' | 'closed' = 'open';
  #mode: BindMode = 'transceiver';
  #systemId = '';
  #sequence = 0;
  readonly #pending: PendingRequests;
  readonly #connection: SmppConnection;
  readonly #peerRequests: PeerRequests;
  #peerUnbind: Pdu | undefined;
  readonly #clock = new ReadingClock();
  readonly #watch: LinkWatch;
  #answerTimer: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];

  /** @internal */
  constructor(
    readonly role: Role,
    socket: Socket,
    private readonly settings: SessionSettings,
    private readonly server?: ServerHooks,
  ) {
    super();
    this.#pending = new PendingRequests(settings.window, settings.maxQueued);
    this.#peerRequests = new PeerRequests(settings.receiveWindow, (pdu) => this.#handle(pdu));
    this.#watch = new LinkWatch(settings, this.#clock, {
      enquire: () => this.control('enquire_link', {}),
      isActive: () => this.#pending.unanswered > 0 || this.#peerRequests.isWorking,
      leave: () => this.#leave(),
    });
    const hooks: ConnectionHooks = {
      received: () => {
        this.#watch.received();
        if (this.#state === 'open' && this.server && !this.server.mayReceive())
          this.end('too_many_requests');
      },
      pdu: (pdu) => this.#receive(pdu),
      malformed: (error) => this.#receiveMalformed(error),
      writable: () => {
        this.#pump();
        this.#handleQueued();
      },
      end: (reason, error) => this.end(reason, error),
    };
    // A client takes all at once: the answers of a peer that breaks the connection are not lost.
    const turns = server?.turns;
    this.#connection = new SmppConnection(socket, settings, this.#clock, hooks, turns);
  }

  /** The rights of the bind. */
  get mode(): BindMode {
    return this.#mode;
  }

  /** The peer's `system_id`, from its bind or its answer to the bind. */
  get systemId(): string {
    return this.#systemId;
  }

  /** The peer's network address; empty once the connection is closed. */
  get remoteAddress(): string {
    return this.#connection.remoteAddress;
  }

  get isBound(): boolean {
    return this.#state === 'bound';
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Requests of this side without an answer; never above `window`. */
  get unanswered(): number {
    return this.#pending.unanswered;
  }

  /** Requests of this side that wait for a place of the window. */
  get queued(): number {
    return this.#pending.waiting;
  }

  /**
   * Sends a request when the window has a place, and returns its answer, whatever its status.
   * @throws SmppValueError naming a field that SMPP cannot carry; nothing was sent
   * @throws SmppNotSentError where the session ended, or the signal aborted, before it was written
   * @throws SmppNoAnswerError where it was written and is not answered: the peer may have acted on it
   * @example
   * const answer = await session.request('submit_sm', { source, destination, shortMessage });
   * if (answer.status === COMMAND_STATUS.ESME_RTHROTTLED) slowDown();
   */
  async request<C extends MessageRequest>(
    command: C,
    body: BodyInput<C>,
    { signal }: RequestOptions = {},
  ): Promise<AnswerOf<C>> {
    if (this.#state !== 'bound') throw new SmppNotSentError(command, 'not_bound');
    if (!maySend(this.role, this.#mode, command)) throw new SmppNotSentError(command, 'wrong_bind');
    if (signal?.aborted) throw new SmppNotSentError(command, 'aborted');
    let request: PendingRequest | undefined;
    const abort = (): void => {
      if (request) this.#pending.abort(request);
    };
    try {
      return await new Promise<AnswerOf<C>>((resolve, reject) => {
        request = this.#pendingRequest(command, body, true, resolve as (pdu: Pdu) => void, reject);
        this.#pending.add(request);
        signal?.addEventListener('abort', abort, { once: true });
        this.#pump();
      });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Tells a receiver that a subscriber can be reached; it has no answer. */
  alert(body: BodyInput<'alert_notification'>): void {
    if (this.#state !== 'bound') throw new SmppNotSentError('alert_notification', 'not_bound');
    const pdu = { ...body, command: 'alert_notification', sequence: this.#nextSequence() };
    this.#connection.write(encodePdu(pdu as PduInput<'alert_notification'>));
  }

  /**
   * Ends the session in order: refuses new requests, waits for the answers of both sides, sends
   * `unbind`, and closes the connection after its answer, at the latest after twice `responseTimeout`.
   */
  async unbind(): Promise<void> {
    if (this.#state !== 'bound') return this.close();
    this.#state = 'unbinding';
    this.#pending.refuseWaiting('unbound');
    const limit = setTimeout(() => this.end('unbound'), 2 * this.settings.responseTimeout);
    try {
      await this.#untilIdle();
      if (!this.isClosed) await this.control('unbind', {});
    } catch {
      // No answer: the connection closes all the same.
    } finally {
      clearTimeout(limit);
      this.end('unbound');
    }
  }

  /** Closes the connection at once. Requests without an answer fail with `SmppNoAnswerError`. */
  close(): void {
    this.end('closed');
  }

  /** @internal Sends a request that takes no place of the window. */
  control<C extends RequestCommand>(command: C, body: BodyInput<C>): Promise<AnswerOf<C>> {
    return new Promise<AnswerOf<C>>((resolve, reject) => {
      if (this.isClosed) throw new SmppNotSentError(command, 'closed');
      this.#send(this.#pendingRequest(command, body, false, resolve as (pdu: Pdu) => void, reject));
    });
  }

  /** @internal Writes the answer to a request. */
  answer(request: Pdu, status: number, body: object = {}): void {
    const command = responseCommandOf(request.command) as ResponseCommand;
    const { sequence } = request;
    this.#connection.write(
      encodePdu({ ...body, command, sequence, status } as PduInput<ResponseCommand>),
    );
  }

  /** @internal */
  bound(mode: BindMode, systemId: string, limits: SessionLimits = {}): void {
    if (this.#state !== 'open') return;
    this.#state = 'bound';
    this.#mode = mode;
    this.#systemId = systemId;
    this.#peerRequests.window = limits.receiveWindow ?? this.#peerRequests.window;
    this.#pending.window = limits.window ?? this.#pending.window;
    this.#watch.start();
  }

  /** @internal */
  end(reason: CloseReason, error?: Error): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#answerTimer);
    this.#watch.stop();
    this.#peerRequests.clear();
    const unanswered = this.#pending.failAll(reason);
    this.#wakeIdle();
    this.#connection.close();
    this.emit('close', { reason, unanswered, ...(error && { error }) });
  }

  #pendingRequest(
    command: RequestCommand,
    body: object,
    isWindowed: boolean,
    resolve: (pdu: Pdu) => void,
    reject: (error: Error) => void,
  ): PendingRequest {
    const sequence = this.#nextSequence();
    const bytes = encodePdu({ ...body, command, sequence, status: 0 } as PduInput);
    const rest = { sentAt: 0, isSettled: false, isExpired: false };
    return { command, sequence, bytes, isWindowed, resolve, reject, ...rest };
  }

  #nextSequence(): number {
    do this.#sequence = this.#sequence === MAX_SEQUENCE ? 1 : this.#sequence + 1;
    while (this.#pending.hasSequence(this.#sequence));
    return this.#sequence;
  }

  /** Writes as many requests as the window and the connection take. */
  #pump(): void {
    while (this.#state === 'bound' && this.#connection.isWritable) {
      const request = this.#pending.next();
      if (!request) return;
      this.#watch.message();
      this.#send(request);
    }
  }

  #send(request: PendingRequest): void {
    this.#pending.markSent(request, this.#clock.now());
    this.#connection.write(request.bytes);
    this.#armAnswers();
  }

  #receive(pdu: Pdu): void {
    if (isResponseId(COMMAND_ID[pdu.command])) this.#settle(pdu);
    else this.#receiveRequest(pdu);
  }

  /** @returns whether the session goes on after a PDU that is neither a message nor an answer */
  #mayControl(): boolean {
    // Before the bind every PDU is counted.
    if (this.#state === 'open' || !this.server || this.server.mayControl()) return true;
    this.end('too_many_requests');
    return false;
  }

  #receiveMalformed(error: SmppDecodeError): void {
    this.emit('malformed', error);
    const { header, status } = error;
    if (!header || !this.#mayControl()) return;
    const { commandId, sequence } = header;
    if (!isResponseId(commandId)) {
      const nack = encodePdu({ command: 'generic_nack', sequence, status });
      return this.#connection.write(nack);
    }
    const request = this.#pending.take(sequence);
    if (request && !request.isSettled) {
      request.isSettled = true;
      request.reject(new SmppNoAnswerError(request.command, sequence, 'malformed'));
    }
    this.#answered();
  }

  #settle(pdu: Pdu): void {
    const request = this.#pending.peek(pdu.sequence);
    const isAnswer =
      request !== undefined &&
      (pdu.command === 'generic_nack' || pdu.command === responseCommandOf(request.command));
    if (!isAnswer) return void (this.#mayControl() && this.emit('unexpected', pdu));
    this.#pending.take(pdu.sequence);
    this.server?.answered();
    if (request.isWindowed) this.#watch.message();
    // Before the PDUs that follow the answer in the same bytes.
    const mode = BIND_MODES[request.command];
    if (mode && pdu.status === 0 && 'systemId' in pdu) this.bound(mode, pdu.systemId);
    if (request.isSettled) {
      const { command, sequence } = request;
      this.emit('late', { command, sequence, answer: pdu });
    } else {
      request.isSettled = true;
      request.resolve(pdu);
    }
    this.#answered();
  }

  /** A place of the window is free. */
  #answered(): void {
    this.#armAnswers();
    this.#wakeIdle();
    this.#pump();
  }

  #receiveRequest(pdu: Pdu): void {
    if (!this.#isMessage(pdu) && !this.#mayControl()) return;
    switch (pdu.command) {
      case 'enquire_link':
        return this.answer(pdu, COMMAND_STATUS.ESME_ROK);
      case 'unbind':
        this.#peerUnbind = pdu;
        this.#pending.refuseWaiting('peer_unbound');
        return this.#handleQueued();
      case 'alert_notification':
        return void this.emit('alert', pdu);
      case 'outbind':
        return;
      case 'bind_receiver':
      case 'bind_transmitter':
      case 'bind_transceiver':
        if (this.#state === 'open' && this.server) return this.server.bind(pdu);
        return this.answer(pdu, COMMAND_STATUS.ESME_RALYBND);
      default:
        this.#watch.message();
        this.#peerRequests.queue(pdu as PduOf<MessageRequest>);
        this.#handleQueued();
    }
  }

  /** Hands requests of the peer to the handlers, as many as `receiveWindow` at a time. */
  #handleQueued(): void {
    const requests = this.#peerRequests;
    requests.start(() => this.#connection.isWritable);
    if (this.#peerUnbind && requests.isEmpty) {
      this.answer(this.#peerUnbind, COMMAND_STATUS.ESME_ROK);
      return this.end('peer_unbound');
    }
    if (requests.isFull || !this.#connection.isWritable) this.#connection.stopReading();
    else if (this.#connection.readOn()) this.#armAnswers();
  }

  async #handle(pdu: PduOf<MessageRequest>): Promise<void> {
    try {
      const { status = COMMAND_STATUS.ESME_ROK, ...body } = await this.#askHandler(pdu);
      this.answer(pdu, status, body);
    } catch (error) {
      this.emit('handlerError', error, pdu.command);
      const { ESME_RX_T_APPN, ESME_RSYSERR } = COMMAND_STATUS;
      this.answer(pdu, this.role === 'client' ? ESME_RX_T_APPN : ESME_RSYSERR);
    }
    this.#peerRequests.finish();
    if (this.isClosed) return;
    this.#handleQueued();
    this.#wakeIdle();
  }

  /** The bind allows the request, and it has a handler. */
  #isMessage({ command }: Pdu): boolean {
    return command in this.settings.handlers && this.#allows(command);
  }

  #allows(command: Pdu['command']): boolean {
    const peer = this.role === 'client' ? 'server' : 'client';
    return this.#state !== 'open' && maySend(peer, this.#mode, command);
  }

  async #askHandler(pdu: PduOf<MessageRequest>): Promise<{ readonly status?: number }> {
    if (!this.#allows(pdu.command)) return { status: COMMAND_STATUS.ESME_RINVBNDSTS };
    const handler = this.settings.handlers[pdu.command] as
      | ((pdu: Pdu, session: SmppSession) => Promise<{ readonly status?: number }>)
      | undefined;
    return handler ? handler(pdu, this) : { status: COMMAND_STATUS.ESME_RINVCMDID };
  }

  /** One timer, for the request that is due first. */
  #armAnswers(): void {
    clearTimeout(this.#answerTimer);
    const sentAt = this.#pending.firstSentAt();
    if (sentAt === undefined || this.isClosed || this.#clock.isStopped) return;
    const wait = sentAt + this.settings.responseTimeout - this.#clock.now();
    // An answer that came while the process was busy is read before the time-out is judged.
    this.#answerTimer = setTimeout(() => setImmediate(() => this.#expire()), Math.max(0, wait));
  }

  #expire(): void {
    if (this.isClosed || this.#clock.isStopped) return;
    if (this.#connection.hasUnread) {
      this.#answerTimer = setTimeout(() => this.#expire(), 1);
      return;
    }
    const expired = this.#pending.expire(this.#clock.now() - this.settings.responseTimeout);
    if (this.#pending.isSpent) return this.end('response_timeout');
    for (const { command, sentAt } of expired)
      if (command === 'enquire_link' && this.#watch.lastReceived <= sentAt)
        return this.end('enquire_link_timeout');
    this.#wakeIdle();
    this.#armAnswers();
  }

  #leave(): void {
    this.#state = 'unbinding';
    const end = (): void => this.end('inactivity');
    this.control('unbind', {}).then(end, end);
  }

  get #isIdle(): boolean {
    return this.#pending.live === 0 && !this.#peerRequests.isWorking;
  }

  /** Every request of both sides was answered, or had no answer in time. */
  #untilIdle(): Promise<void> {
    if (this.#isIdle || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #wakeIdle(): void {
    if (this.#isIdle || this.isClosed) for (const wake of this.#idle.splice(0)) wake();
  }
}
