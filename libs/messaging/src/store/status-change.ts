import { STATUS_RANK } from '../message/status.js';

/** A message as the recorder holds it, locked; it is changed in place, so that one flush may move it twice. */
export interface HeldMessage {
  readonly batch: string;
  readonly position: number;
  readonly recipient: string;
  readonly tenant: string;
  readonly channel: string;
  readonly sender: string;
  readonly delivery_report: number;
  status: number;
  sequence: number;
  error_code: string | null;
  /** The provider's id of it, once known. */
  reference: string | null;
}

export interface StatusChange {
  readonly message: HeldMessage;
  readonly previous: number;
  readonly status: number;
  /** 0 below `sent`: nobody outside is told. */
  readonly sequence: number;
  readonly errorCode: string | null;
  /** Epoch microseconds. */
  readonly at: number;
}

/**
 * The one reducer. A higher rank wins, whatever the order of arrival; anything else moves nothing.
 * `undefined`: nothing changed.
 */
export function raise(
  message: HeldMessage,
  rank: number,
  at: number,
  errorCode: string | null,
): StatusChange | undefined {
  if (rank <= message.status) return undefined;
  const previous = message.status;
  message.status = rank;
  message.error_code = errorCode;
  if (rank >= STATUS_RANK.sent) message.sequence++;
  return {
    message,
    previous,
    status: rank,
    sequence: rank >= STATUS_RANK.sent ? message.sequence : 0,
    errorCode,
    at,
  };
}
