import { commandStatusName } from '../command-status.js';
import type { Command } from '../codec/commands.js';
import { SmppError } from '../errors.js';

/** Why a session ended. */
export type CloseReason =
  /** `unbind()` of this side. */
  | 'unbound'
  /** The peer sent `unbind`. */
  | 'peer_unbound'
  /** The peer closed the connection without `unbind`. */
  | 'peer_closed'
  /** The connection broke; `error` has the cause. */
  | 'connection_lost'
  /** The peer sent a length that is no PDU's. */
  | 'protocol_error'
  /** No answer to `enquire_link`, and nothing else either. */
  | 'enquire_link_timeout'
  /** Every place of the window had a request without an answer in time. */
  | 'response_timeout'
  /** The peer read nothing for the response time-out while bytes waited for it. */
  | 'slow_reader'
  /** No message in either direction for `inactivityTimeout`. */
  | 'inactivity'
  /** The peer did not bind in time. */
  | 'bind_timeout'
  /**
   * The peer sent more than `maxUnboundRequests` PDUs in a second before its bind, or more than
   * `maxControlRequests` after it.
   */
  | 'too_many_requests'
  /** The bind was refused. */
  | 'bind_refused'
  /** `close()` of this side, or its signal. */
  | 'closed';

/**
 * The request was not written to the connection: the peer does not have it, and it may be sent again,
 * also to another peer.
 */
export class SmppNotSentError extends SmppError {
  readonly code = 'not_sent';

  constructor(
    readonly command: Command,
    readonly reason: CloseReason | 'aborted' | 'queue_full' | 'wrong_bind' | 'not_bound',
  ) {
    super(`${command} was not sent (${reason})`);
  }
}

/**
 * The request was written and its answer is missing: the peer may have acted on it. Sending it again can
 * double its effect.
 */
export class SmppNoAnswerError extends SmppError {
  readonly code = 'no_answer';

  constructor(
    readonly command: Command,
    readonly sequence: number,
    readonly reason: 'timeout' | 'aborted' | 'malformed' | CloseReason,
  ) {
    super(`${command} ${sequence} has no answer (${reason})`);
  }
}

/** The connection could not be made, or the peer did not answer the bind. Nothing was submitted. */
export class SmppConnectError extends SmppError {
  readonly code = 'connect_failed';
}

/** The peer refused the bind. */
export class SmppBindError extends SmppError {
  readonly code = 'bind_refused';

  constructor(
    /** The command status, such as `ESME_RINVPASWD`. */
    readonly status: number,
  ) {
    super(`The peer refused the bind: ${commandStatusName(status)}`);
  }
}
