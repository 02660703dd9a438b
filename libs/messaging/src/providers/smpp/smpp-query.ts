import {
  COMMAND_STATUS,
  type MessageIdFormat,
  messageStateOf,
  messageStateWord,
  parseSmppTime,
} from '@dundun/smpp';
import type { DeliveryReport } from '../../message/events.js';
import { errorCode } from '../../message/report-fields.js';
import type { PartReport, SentSubmission } from '../../ports/message-transport.js';
import { partsOf } from './sent-messages.js';
import { senderAddress } from './smpp-addresses.js';
import type { SmppBinds } from './smpp-binds.js';
import { isFinal, STATUSES } from './smpp-receipts.js';

/** Asks the SMSC by `query_sm` after messages whose receipts are missing. */
export class SmppQueries {
  /** The SMSC does not know the command. */
  #isUnsupported = false;

  constructor(
    private readonly binds: SmppBinds,
    private readonly idFormat: MessageIdFormat,
  ) {}

  /** A long message has a report once all of its parts are delivered, or one is not. */
  async reports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const reports: DeliveryReport[] = [];
    for (const { submissionId, reference, recipients, sender = '', parts = [] } of submissions) {
      if (signal.aborted) break;
      if (reference === null) continue;
      let last: PartReport | undefined;
      for (const id of partsOf(reference)) {
        const known = parts.find((part) => part.id === id && isOver(part));
        last = known ?? (await this.#ask(id, sender, signal));
        if (!last || !isDelivered(last)) break;
      }
      if (!last) continue;
      const { status, rawStatus, errorCode, providerTime } = last;
      reports.push({
        submissionId,
        reference,
        messageId: null,
        recipient: recipients[0] ?? null,
        status: isDelivered(last) ? 'delivered' : status,
        rawStatus,
        errorCode,
        providerTime,
      });
    }
    return reports;
  }

  /** `undefined`: the SMSC does not say, or the message is on its way. */
  async #ask(id: string, sender: string, signal: AbortSignal): Promise<PartReport | undefined> {
    if (this.#isUnsupported || !this.binds.isBound) return undefined;
    const body = { messageId: writtenId(id, this.idFormat), source: senderAddress(sender) };
    const answer = await this.binds.send(signal, (session) =>
      session.request('query_sm', body, { signal }),
    );
    if (answer.status === COMMAND_STATUS.ESME_RINVCMDID) this.#isUnsupported = true;
    if (answer.status !== COMMAND_STATUS.ESME_ROK || !('messageState' in answer)) return undefined;
    const state = messageStateOf(answer.messageState);
    const status = state === undefined ? null : STATUSES[state];
    if (state === undefined || !isFinal(status)) return undefined;
    return {
      id,
      status,
      rawStatus: messageStateWord(state),
      errorCode: errorCode(String(answer.errorCode).padStart(3, '0')),
      providerTime: parseSmppTime(answer.finalDate) ?? null,
    };
  }
}

/** An id as answers have it. */
export function writtenId(id: string, format: MessageIdFormat): string {
  return format === 'hex' && /^\d+$/.test(id) ? BigInt(id).toString(16) : id;
}

/** The report of a delivered part is `sent` while others are missing. */
function isDelivered({ status, rawStatus }: PartReport): boolean {
  return status === 'delivered' || (status === 'sent' && /^deliv/i.test(rawStatus));
}

function isOver(part: PartReport): boolean {
  return isDelivered(part) || isFinal(part.status);
}
