import {
  type AnswerInput,
  type BoundSession,
  COMMAND_STATUS,
  decodeText,
  encodingOf,
  encodingOfBytes,
  messageOf,
  parseSmppTime,
  type PduOf,
} from '@dundun/smpp';
import { MessagingService } from '@dundun/messaging';
import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { RequestLimits } from '../accounts/limits.js';
import { SmsIntake } from '../senders/sms-intake.js';
import { numberRemedy } from '../http/fields.js';
import { checkedIdempotencyKey } from '../http/request.decorators.js';
import { commandStatusOf, isTemporary, SubmitRefused } from './command-statuses.js';
import { SmppBinds } from './smpp-binds.js';
import type { SmppPrincipal } from './smpp-credentials.service.js';
import { type CompleteMessage, type ReceivedPart, SmppParts } from './smpp-parts.js';
import { SmppOutbox } from './smpp-outbox.js';
import { labelsOf, receiptOfPart, receiptsOf } from './smpp-receipts.js';
import type { SmppAlphabets } from './smpp.tables.js';

/** A TLV of the range for vendors, with the `Idempotency-Key` of the HTTP interface. */
const IDEMPOTENCY_KEY_TAG = 0x1501;

/** `esm_class`: bits of the message's type, which is 0 for a text. */
const TYPE_BITS = 0x3c;

interface Submit {
  readonly from: string;
  readonly to: string;
  readonly dataCoding: number;
  /** The receipts that it asks for. */
  readonly receipts: number;
  readonly sendAt: Date | undefined;
  /** Milliseconds. */
  readonly validFor: number | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Takes `submit_sm` into the intake of the HTTP interface. */
@Injectable()
export class SmppSubmits {
  readonly #logger = new Logger('Smpp');

  constructor(
    private readonly messaging: MessagingService,
    private readonly binds: SmppBinds,
    private readonly limits: RequestLimits,
    private readonly intake: SmsIntake,
    private readonly parts: SmppParts,
    private readonly outbox: SmppOutbox,
  ) {}

  /** Resolves once the message, or its part, is durable. */
  async answer(pdu: PduOf<'submit_sm'>, session: BoundSession): Promise<AnswerInput<'submit_sm'>> {
    const principal = this.binds.principalOf(session);
    // The bind ends, and its last requests may come again over another one.
    if (!principal) return { messageId: '', status: COMMAND_STATUS.ESME_RMSGQFUL };
    try {
      return { messageId: await this.#accept(pdu, principal) };
    } catch (error) {
      const status = commandStatusOf(error);
      const { systemId } = principal;
      if (status === 'ESME_RSYSERR')
        this.#logger.error({ message: 'SMPP submit failed', systemId, err: error });
      return { messageId: '', status: COMMAND_STATUS[status] };
    }
  }

  async #accept(pdu: PduOf<'submit_sm'>, principal: SmppPrincipal): Promise<string> {
    const { systemId, accountId: tenant } = principal;
    const { requests } = this.limits;
    if (requests && requests.take(systemId).remaining < 0)
      throw new SubmitRefused('ESME_RTHROTTLED');
    const submit = readSubmit(pdu);
    const { bytes, concatenation: place } = messageOf(pdu);
    if (!place || place.total === 1)
      return this.#send(submit, principal, bytes, { idempotencyKey: submit.idempotencyKey });
    await this.intake.checkSender(tenant, submit.from);
    const { from: sender, to: recipient, receipts } = submit;
    const part = { systemId, sender, recipient, receipts, place, bytes };
    try {
      return await this.parts.add(part, (whole, manager) =>
        this.#send(submit, principal, whole.bytes, { whole, manager }),
      );
    } catch (error) {
      if (!isTemporary(commandStatusOf(error))) await this.#drop(part);
      throw error;
    }
  }

  async #send(
    { from, to, dataCoding, receipts, sendAt, validFor }: Submit,
    principal: SmppPrincipal,
    bytes: Buffer,
    {
      whole,
      ...options
    }: {
      readonly whole?: CompleteMessage;
      readonly manager?: EntityManager;
      readonly idempotencyKey?: string | undefined;
    },
  ): Promise<string> {
    const { systemId, accountId: tenant } = principal;
    const body = readText(bytes, dataCoding, principal);
    const labels = labelsOf({ systemId, receipts, ...(whole && { whole }) });
    const message = { from, to: [to], body, sendAt, ...labels };
    const { id } = await this.intake.accept(message, { tenant, validFor, ...options });
    return id;
  }

  /** Deletes the parts of a refused message, which can never be complete, and writes their receipts. */
  async #drop(part: ReceivedPart): Promise<void> {
    const now = new Date();
    await this.messaging.transaction(async (manager) => {
      const taken = await this.parts.take(manager, part);
      const receipts = taken.flatMap((one) => receiptOfPart(one, 'rejected', now));
      await this.outbox.write(manager, receipts);
    });
  }
}

/** @throws SubmitRefused or ApiError */
function readSubmit(pdu: PduOf<'submit_sm'>): Submit {
  const { source, destination, esmClass, dataCoding, registeredDelivery, tlvs } = pdu;
  if ((esmClass & TYPE_BITS) !== 0) throw new SubmitRefused('ESME_RINVESMCLASS');
  const to = destination.address.replace(/^\+/, '');
  if (numberRemedy(to) !== undefined) throw new SubmitRefused('ESME_RINVDSTADR');
  // Bytes that are no text.
  if (encodingOf(dataCoding) === 'binary') throw new SubmitRefused('ESME_RSUBMITFAIL');
  const sendAt = timeOf(pdu.scheduleDeliveryTime, 'ESME_RINVSCHED');
  const until = timeOf(pdu.validityPeriod, 'ESME_RINVEXPIRY');
  const validFor = until && until.getTime() - Math.max(Date.now(), sendAt?.getTime() ?? 0);
  if (validFor !== undefined && validFor <= 0) throw new SubmitRefused('ESME_RINVEXPIRY');
  const key = tlvs.unknown?.find(({ tag }) => tag === IDEMPOTENCY_KEY_TAG);
  const idempotencyKey = checkedIdempotencyKey(key?.value.toString('latin1').replace(/\0$/, ''));
  const receipts = receiptsOf(registeredDelivery);
  return { from: source.address, to, dataCoding, receipts, sendAt, validFor, idempotencyKey };
}

const CONTROL_CHARACTER = /[^\P{Cc}\r\n]/u;

/**
 * The text that the bytes mean. Control characters, and a byte above 0x7f in GSM 03.38, show that the
 * client means another alphabet than `data_coding` says.
 * @throws SubmitRefused
 */
function readText(bytes: Buffer, dataCoding: number, alphabets: SmppAlphabets): string {
  const text = decodeText(bytes, dataCoding, alphabets) ?? '';
  const isGsm7 = encodingOfBytes(bytes, dataCoding, alphabets) === 'gsm7';
  if (CONTROL_CHARACTER.test(text) || (isGsm7 && bytes.some((byte) => byte > 0x7f)))
    throw new SubmitRefused('ESME_RINVDCS');
  return text;
}

function timeOf(written: string, wrong: SubmitRefused['status']): Date | undefined {
  if (written === '') return undefined;
  const time = parseSmppTime(written);
  if (!time) throw new SubmitRefused(wrong);
  return time;
}
