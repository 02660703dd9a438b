import {
  canonicalMessageId,
  type DeliveryReceipt,
  type MessageIdFormat,
  type MessageState,
  messageStateWord,
} from '@dundun/smpp';
import type { DeliveryReport } from '../../message/events.js';
import { errorCode, recipientNumber, word } from '../../message/report-fields.js';
import type { ChannelStatus, ReportedStatus } from '../../message/status.js';
import { referenceOfParts, type SentMessage } from './sent-messages.js';

export const STATUSES: Readonly<Record<MessageState, ReportedStatus | null>> = {
  enroute: 'sent',
  accepted: 'sent',
  delivered: 'delivered',
  expired: 'expired',
  deleted: 'failed',
  undeliverable: 'undelivered',
  rejected: 'rejected',
  unknown: null,
};

/** The id in a form that is the same in answers and receipts; it is the message's reference. */
export function referenceOf(
  id: string,
  format: MessageIdFormat,
  side: 'answer' | 'receipt',
): string {
  return canonicalMessageId(id.trim(), format, side);
}

/** Statuses after which no receipt of a part changes anything. */
export function isFinal(status: ChannelStatus | null): boolean {
  return status !== null && status !== 'sent';
}

/**
 * The report of a receipt. A long message is `delivered` when all of its parts are; the status of a
 * part that is not delivered is the message's.
 */
export function reportOf(
  receipt: DeliveryReceipt,
  reference: string | null,
  from: string,
  to: string,
  message: SentMessage | undefined,
): DeliveryReport {
  const { state, rawState, error, networkError, submitDate, doneDate, isIntermediate } = receipt;
  let status = state === undefined ? null : STATUSES[state];
  if (isIntermediate && isFinal(status)) status = 'sent';
  let details: DeliveryReport['details'];
  if (message && reference !== null && status === 'delivered') {
    message.deliveredIds.add(reference);
    if (message.deliveredIds.size < message.parts) {
      status = 'sent';
      // Another process may have to put the parts together.
      details = { part: reference };
    }
  }
  return {
    submissionId: message?.submissionId,
    reference: message?.ids.length ? referenceOfParts(message.ids) : reference,
    // So that the reports of two parts are not the same.
    messageId: details ? reference : null,
    recipient: recipientNumber(from),
    status,
    rawStatus: word(rawState) ?? (state === undefined ? 'none' : messageStateWord(state)),
    errorCode: errorCode(error) ?? errorCode(networkError?.code),
    providerTime: doneDate ?? null,
    ...(details && { details }),
    // A process that was killed may have sent it, and never read the answer with its id.
    ...(!message && submitDate && { submit: { sender: to, at: submitDate } }),
  };
}
