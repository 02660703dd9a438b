import { COMMAND_STATUS, commandStatusName } from '@dundun/smpp';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import type { SmppRefusal } from './smpp.options.js';

const S = COMMAND_STATUS;

/** First wait after a throttled message, in milliseconds. */
const THROTTLE_WAIT = 1_000;

const USUAL: ReadonlyMap<number, SmppRefusal> = new Map<number, SmppRefusal>([
  [S.ESME_RTHROTTLED, 'paused'],
  [S.ESME_RMSGQFUL, 'paused'],
  [S.ESME_RINVPASWD, 'paused'],
  [S.ESME_RINVSYSID, 'paused'],
  [S.ESME_RBINDFAIL, 'paused'],
  [S.ESME_RALYBND, 'paused'],
  [S.ESME_RINVBNDSTS, 'paused'],
  [S.ESME_RSYSERR, 'retryable'],
  [S.ESME_RX_T_APPN, 'retryable'],
  [S.ESME_RINVSRCADR, 'unroutable'],
]);

/**
 * The failure of a message that the SMSC refused. An answer is the SMSC's own form, so it is proof.
 *
 * | status | meaning |
 * |---|---|
 * | `RTHROTTLED`, `RMSGQFUL` | paused: the SMSC takes no more now |
 * | `RINVPASWD`, `RINVSYSID`, `RBINDFAIL`, `RALYBND`, `RINVBNDSTS` | paused: the bind is wrong |
 * | `RSYSERR`, `RX_T_APPN` | retryable |
 * | `RINVSRCADR` | unroutable: the sender is not known here; another provider of the route may know it |
 * | another one, such as `RINVDSTADR`; `generic_nack` | permanent |
 */
export function refusalOf(
  status: number,
  isNack: boolean,
  own: ReadonlyMap<number, SmppRefusal>,
): SubmitFailure {
  const name = commandStatusName(status);
  const said = `The SMSC refused the message (${isNack ? 'generic_nack ' : ''}${name})`;
  switch (own.get(status) ?? (isNack ? 'permanent' : USUAL.get(status)) ?? 'permanent') {
    case 'paused':
      return new PausedFailure(pauseCode(status), said, THROTTLE_WAIT);
    case 'retryable':
      return new RetryableFailure(name, said);
    case 'unroutable':
      return new UnroutableFailure(name, said);
    case 'permanent':
      return new PermanentFailure(name, said);
  }
}

/** Reason of a pause, as health checks show it. */
export function pauseCode(status: number): string {
  switch (status) {
    case S.ESME_RTHROTTLED:
    case S.ESME_RMSGQFUL:
      return 'throttled';
    case S.ESME_RINVPASWD:
    case S.ESME_RINVSYSID:
      return 'unauthorized';
    default:
      return commandStatusName(status);
  }
}
