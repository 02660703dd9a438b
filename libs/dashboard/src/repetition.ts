import type { MessageRecord } from '@dundun/messaging/operations';

/** Event of a call that is dialled again. */
const REDIAL = 'redial';

/** A request with the message may still start, or is in flight. */
export function mayStillLeave({ status, reports, submissions }: MessageRecord): boolean {
  if (status === 'queued' || status === 'sending') return true;
  const redial = reports.findLast(({ rawStatus }) => rawStatus === REDIAL);
  return (
    redial !== undefined && submissions.every(({ startedAt }) => startedAt <= redial.receivedAt)
  );
}
