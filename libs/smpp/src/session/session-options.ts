import type { RequestCommand, ResponseCommand } from '../codec/commands.js';
import type { BodyInput, Pdu, PduOf } from '../codec/pdu.js';
import { DEFAULT_MAX_PDU_LENGTH } from '../codec/frame-decoder.js';
import type { SmppDecodeError } from '../errors.js';
import { SmppValueError } from '../errors.js';
import type { BindMode, Role } from './message-rights.js';
import type { PduTurns } from './pdu-turns.js';
import type { CloseReason } from './session-errors.js';

/** The request of a peer to bind. */
export type BindRequest = PduOf<'bind_transmitter' | 'bind_receiver' | 'bind_transceiver'>;

/** A server's part before the bind. */
export interface ServerHooks {
  /** Shared by the peers. */
  readonly turns: PduTurns;
  /** Asked for each PDU before the bind; `false` ends the session. */
  readonly mayReceive: () => boolean;
  /** Asked for each PDU that is neither a message nor an answer; `false` ends the session. */
  readonly mayControl: () => boolean;
  /** Called with each answer to a request of this side. */
  readonly answered: () => void;
  /** Decides on the bind. */
  readonly bind: (pdu: BindRequest) => void;
}

/** Limits of one bind, instead of the server's. */
export type SessionLimits = Pick<SessionOptions, 'window' | 'receiveWindow'>;

/** Requests that carry messages, by the side that sends them. */
export type ClientRequest =
  | 'submit_sm'
  | 'submit_multi'
  | 'data_sm'
  | 'query_sm'
  | 'cancel_sm'
  | 'replace_sm';
export type ServerRequest = 'deliver_sm' | 'data_sm';
export type MessageRequest = ClientRequest | ServerRequest;

/** The answer to a request of this side. A status other than 0 is an answer, not an error. */
export type AnswerOf<C extends RequestCommand> = PduOf<
  Extract<ResponseCommand, `${C}_resp`> | 'generic_nack'
>;

/** The answer to a request of the peer: 0 where `status` is left out. */
export type AnswerInput<C extends RequestCommand> = BodyInput<
  Extract<ResponseCommand, `${C}_resp`>
> & { readonly status?: number };

export interface RequestOptions {
  /** Gives the request up; the answer to one that was written comes as `late`. */
  readonly signal?: AbortSignal;
}

/** A session as a handler sees it; it is the `SmppSession`. */
export interface BoundSession {
  readonly role: Role;
  readonly mode: BindMode;
  readonly systemId: string;
  readonly remoteAddress: string;
  readonly isClosed: boolean;
  request<C extends MessageRequest>(
    command: C,
    body: BodyInput<C>,
    options?: RequestOptions,
  ): Promise<AnswerOf<C>>;
  unbind(): Promise<void>;
  close(): void;
}

/**
 * Answers requests of the peer, one function per command. Each is answered once, when its function
 * returns; commands without a function get `ESME_RINVCMDID`. Where the function throws, the session
 * emits `handlerError` and answers `ESME_RX_T_APPN` as a client, `ESME_RSYSERR` as a server: the peer
 * may send the request again.
 */
export type RequestHandlers = {
  readonly [C in MessageRequest]?: (
    pdu: PduOf<C>,
    session: BoundSession,
  ) => AnswerInput<C> | Promise<AnswerInput<C>>;
};

export interface SessionOptions {
  /** Requests of this side that may be without an answer at a time. @default 10 */
  readonly window?: number;
  /** Requests that may wait for a place of the window; a further one fails. @default 1000 */
  readonly maxQueued?: number;
  /**
   * Requests of the peer that the handlers work on at a time. As many again wait; then nothing more is
   * read from the connection until one is answered. @default 10
   */
  readonly receiveWindow?: number;
  /** Time for an answer, in milliseconds; the time while nothing is read does not count. @default 10000 */
  readonly responseTimeout?: number;
  /** Silence of the peer after which `enquire_link` is sent, in milliseconds; 0 for never. @default 30000 */
  readonly enquireLinkInterval?: number;
  /** Time without a message in either direction after which the session unbinds, in milliseconds; 0 for never. @default 0 */
  readonly inactivityTimeout?: number;
  /** Longest PDU that is taken, in bytes; a longer one ends the session. @default 73728 */
  readonly maxPduLength?: number;
  readonly handlers?: RequestHandlers;
}

export type SessionSettings = Required<SessionOptions>;

/** @throws SmppValueError naming the option */
export function sessionSettings(options: SessionOptions): SessionSettings {
  const settings = {
    window: options.window ?? 10,
    maxQueued: options.maxQueued ?? 1_000,
    receiveWindow: options.receiveWindow ?? 10,
    responseTimeout: options.responseTimeout ?? 10_000,
    enquireLinkInterval: options.enquireLinkInterval ?? 30_000,
    inactivityTimeout: options.inactivityTimeout ?? 0,
    maxPduLength: options.maxPduLength ?? DEFAULT_MAX_PDU_LENGTH,
    handlers: options.handlers ?? {},
  };
  for (const name of ['window', 'maxQueued', 'receiveWindow', 'responseTimeout'] as const)
    checkInteger(name, settings[name], 1);
  for (const name of ['enquireLinkInterval', 'inactivityTimeout'] as const)
    checkInteger(name, settings[name], 0);
  checkInteger('maxPduLength', settings.maxPduLength, 1_024);
  return settings;
}

/** Longest time of a timer of Node.js, and no larger number is useful elsewhere. */
const MAX = 2_147_483_647;

export function checkInteger(name: string, value: number, min: number): void {
  if (!Number.isInteger(value) || value < min || value > MAX)
    throw new SmppValueError(name, `use an integer from ${min} to ${MAX}`);
}

export interface SessionClosed {
  readonly reason: CloseReason;
  readonly error?: Error;
  /** Requests of this side that were sent and not answered. */
  readonly unanswered: number;
}

/** An answer after its time-out, or after its caller gave up. */
export interface LateAnswer {
  readonly command: RequestCommand;
  readonly sequence: number;
  readonly answer: Pdu;
}

/** Events of a session. None of them is thrown where there is no listener. */
export interface SessionEvents {
  /** Once, at the end. */
  close: [closed: SessionClosed];
  late: [late: LateAnswer];
  alert: [alert: PduOf<'alert_notification'>];
  /** A PDU that cannot be read; the session answered `generic_nack` and goes on where it can. */
  malformed: [error: SmppDecodeError];
  /** An answer to no request of this side, or of another command. */
  unexpected: [pdu: Pdu];
  handlerError: [error: unknown, command: MessageRequest];
}
