import { COMMAND_STATUS, commandStatusName, messageStateWord } from '@dundun/smpp';
import { RetryableFailure } from '../../message/errors.js';
import type { DeliveryReport } from '../../message/events.js';
import type { SentSubmission } from '../../ports/message-transport.js';
import { partsOf } from './sent-messages.js';
import { recipientAddress, senderAddress } from './smpp-addresses.js';
import type { SmppBinds } from './smpp-binds.js';
import { writtenId } from './smpp-query.js';
import { STATUSES } from './smpp-receipts.js';
import type { SmppSettings } from './smpp.options.js';

const S = COMMAND_STATUS;

/** Answers after which the same request may succeed. */
const TEMPORARY: ReadonlySet<number> = new Set([
  S.ESME_RTHROTTLED,
  S.ESME_RMSGQFUL,
  S.ESME_RSYSERR,
  S.ESME_RX_T_APPN,
  S.ESME_RINVBNDSTS,
]);

/** Asks the SMSC by `cancel_sm` to delete messages that it has not delivered. */
export class SmppCancels {
  constructor(
    private readonly binds: SmppBinds,
    private readonly settings: Pick<SmppSettings, 'serviceType' | 'idFormat'>,
  ) {}

  /**
   * The message is `failed` once the SMSC has deleted it, as with a receipt `DELETED`; a long one once
   * it has deleted a part, because it cannot arrive whole any more.
   * @throws RetryableFailure, SmppNotSentError or SmppNoAnswerError
   */
  async cancel(
    { submissionId, reference, recipients, sender = '' }: SentSubmission,
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const [recipient] = recipients;
    if (reference === null || recipient === undefined) return [];
    let isDeleted = false;
    for (const id of partsOf(reference))
      if (await this.#deletes(id, sender, recipient, signal)) isDeleted = true;
    if (!isDeleted) return [];
    return [
      {
        submissionId,
        reference,
        messageId: null,
        recipient,
        status: STATUSES.deleted,
        rawStatus: messageStateWord('deleted'),
        errorCode: 'cancelled',
        providerTime: null,
      },
    ];
  }

  async #deletes(
    id: string,
    sender: string,
    recipient: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { serviceType, idFormat } = this.settings;
    const body = {
      serviceType,
      messageId: writtenId(id, idFormat),
      source: senderAddress(sender),
      destination: recipientAddress(recipient),
    };
    const { status, command } = await this.binds.send(signal, (session) =>
      session.request('cancel_sm', body, { signal }),
    );
    if (TEMPORARY.has(status))
      throw new RetryableFailure(commandStatusName(status), 'The SMSC cancels nothing now');
    return command === 'cancel_sm_resp' && status === S.ESME_ROK;
  }
}
