import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import {
  type BoundSession,
  COMMAND_STATUS,
  commandStatusName,
  type DeliveryReceipt,
  encodeText,
  formatRelativeTime,
  type LateAnswer,
  type MessagePart,
  type PduOf,
  readReceipt,
  type SmppAddress,
  SmppNoAnswerError,
  SmppNotSentError,
  type SmppSession,
  SmppValueError,
  splitMessage,
} from '@dundun/smpp';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { DeliveryReport } from '../../message/events.js';
import { addressIdentity } from '../../message/phone-identity.js';
import type {
  ConnectionPlaces,
  InboundSink,
  MessageTransport,
  ProviderAccount,
  ReportSink,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import { referenceOfParts, SentMessages, type SentMessage } from './sent-messages.js';
import { recipientAddress, senderAddress } from './smpp-addresses.js';
import { pause, SmppBinds } from './smpp-binds.js';
import { SmppCancels } from './smpp-cancel.js';
import { SmppInbound } from './smpp-inbound.js';
import { SmppQueries } from './smpp-query.js';
import { isFinal, referenceOf, reportOf } from './smpp-receipts.js';
import { refusalOf } from './smpp-refusals.js';
import { bindCount, type SmppOptions, type SmppSettings, smppSettings } from './smpp.options.js';

/** Wait before a further part of a long message is tried again, in milliseconds. */
const PART_WAIT = 1_000;
/** Time for all parts of a message beyond one answer, in milliseconds. */
const PARTS_TIME = 60_000;
/** Longest relative time, in milliseconds. */
const LONGEST_VALIDITY = 31 * 86_400_000;
const MAX_REFERENCE = 0xffff;
/** `registered_delivery`: a receipt for success and failure. */
const WITH_RECEIPT = 1;

/**
 * Sends SMS over SMPP 3.4, and receives receipts and inbound messages. Needs `@dundun/smpp`.
 * @throws MessagingConfigError naming the option and the remedy
 * @example
 * MessagingModule.forRoot({
 *   transport: smpp({ url: 'smpp://system_id:password@smsc.example.com:2775', timeZone: 'Africa/Lagos' }),
 * });
 */
export function smpp(options: SmppOptions): TransportFactory {
  const settings = smppSettings(options);
  return (context) => new SmppTransport(settings, context);
}

interface Sinks {
  readonly reports: ReportSink;
  readonly inbound: InboundSink | undefined;
}

/**
 * Submits one recipient at a time, a long message part after part. SMPP has no idempotency keys: a
 * message whose answer is missing is never sent again; a late answer or a receipt settles it.
 */
export class SmppTransport
  implements MessageTransport, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly places?: ConnectionPlaces;
  readonly #binds: SmppBinds;
  readonly #sent = new SentMessages();
  readonly #queries: SmppQueries;
  readonly #cancels: SmppCancels;
  readonly #inbound: SmppInbound;
  /** Messages whose answer may come late, by sequence number. */
  readonly #late = new WeakMap<BoundSession, Map<number, SentMessage>>();
  /** Submits without an outcome, by the identity of their recipients. */
  readonly #inFlight = new Map<string, Promise<unknown>>();
  /** Receipts and inbound messages that are being stored. */
  readonly #working = new Set<Promise<unknown>>();
  #sinks: Sinks | undefined;
  #isStopping = false;
  #reference = Math.floor(Math.random() * MAX_REFERENCE);

  constructor(
    private readonly settings: SmppSettings,
    private readonly context: TransportContext,
  ) {
    const { name, binds, maxBinds, window, answerTimeout, connectTimeout } = settings;
    this.name = name;
    this.capabilities = {
      channels: ['sms'],
      maxRecipients: 1,
      idempotencyWindow: 0,
      connections: (binds.transceiver + binds.transmitter) * window,
      timeout: connectTimeout + answerTimeout + PARTS_TIME,
    };
    this.#inbound = new SmppInbound(context.clock);
    this.#binds = new SmppBinds(settings, {
      handlers: { deliver_sm: this.#receive, data_sm: this.#receive },
      late: (session, answer) => this.#answeredLate(session, answer),
    });
    if (maxBinds !== undefined)
      this.places = {
        needed: bindCount(settings),
        most: maxBinds,
        connect: (isLeased) => this.#binds.start(isLeased),
        disconnect: (limit) => this.#binds.stop(limit),
      };
    this.#queries = new SmppQueries(this.#binds, settings.idFormat);
    this.#cancels = new SmppCancels(this.#binds, settings);
  }

  listen(reports: ReportSink, inbound?: InboundSink): void {
    this.#sinks = { reports, inbound };
    // A web process or a command line takes no place of the SMSC's limit of binds.
    if (this.context.dispatches !== false && !this.places) this.#binds.start();
  }

  trouble(): string | undefined {
    return this.#binds.trouble;
  }

  async submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted> {
    const { id, sender, recipients } = submission;
    const text = textOf(submission);
    const recipient = recipients[0] as string;
    if (signal.aborted) throw new RetryableFailure('aborted', 'The request was given up');
    this.#reference = (this.#reference % MAX_REFERENCE) + 1;
    const userReference = this.#reference;
    const parts = this.#partsOf(text, userReference);
    const source = senderAddress(sender);
    const message: SentMessage = {
      submissionId: id,
      sender: source.address,
      recipient,
      userReference,
      parts: parts.length,
      ids: [],
      deliveredIds: new Set(),
      startedAt: this.context.clock.now(),
      doubtSince: undefined,
    };
    const wantsReceipt = this.settings.reports === 'always' || submission.deliveryReport;
    const fields = {
      serviceType: this.settings.serviceType,
      source,
      destination: recipientAddress(recipient),
      registeredDelivery: wantsReceipt ? WITH_RECEIPT : 0,
      validityPeriod: this.#validityOf(submission),
    };
    const work = this.#submitAll(message, parts, fields, signal);
    // The first part is with the bind by now.
    written?.();
    this.#track(recipient, work);
    await work;
    return { reference: referenceOfParts(message.ids) };
  }

  /** By the receipts of parts that came to other processes, and by `query_sm`. */
  fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    return this.#queries.reports(submissions, signal);
  }

  /** By `cancel_sm`; of a long message each part. */
  cancel(submission: SentSubmission, signal: AbortSignal): Promise<readonly DeliveryReport[]> {
    return this.#cancels.cancel(submission, signal);
  }

  async checkAccount(signal: AbortSignal): Promise<ProviderAccount> {
    await this.#binds.prove(signal);
    return { balance: null };
  }

  /** Receipts and messages that come from now on are left to the SMSC, before the store closes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#isStopping = true;
    await Promise.allSettled(this.#working);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#binds.stop();
  }

  /** The SMSC's own, where the send has none or a longer one than a relative time can say. */
  #validityOf({ validUntil }: Submission): string {
    const left = validUntil ? validUntil.getTime() - this.context.clock.now() : Infinity;
    return left <= LONGEST_VALIDITY ? formatRelativeTime(Math.max(1_000, left)) : '';
  }

  #partsOf(text: string, reference: number): MessagePart[] {
    try {
      return splitMessage(encodeText(text), { method: this.settings.long, reference });
    } catch (error) {
      if (!(error instanceof SmppValueError)) throw error;
      throw new PermanentFailure('too_long', 'The text is longer than SMPP can carry');
    }
  }

  async #submitAll(
    message: SentMessage,
    parts: readonly MessagePart[],
    fields: SubmitFields,
    signal: AbortSignal,
  ): Promise<void> {
    const deadline = performance.now() + PARTS_TIME;
    for (const [index, part] of parts.entries())
      while (message.ids.length === index)
        try {
          await this.#submitPart(message, { ...fields, ...part }, signal);
        } catch (failure) {
          const isOver = signal.aborted || performance.now() > deadline;
          if (index === 0 || isFinalFailure(failure)) throw failure;
          // The SMSC has the earlier parts: the message cannot go back to the queue.
          if (isOver)
            throw new UncertainFailure(
              'incomplete',
              `The SMSC has ${index} of ${parts.length} parts and took no further one`,
            );
          await pause(PART_WAIT, signal);
        }
  }

  #submitPart(message: SentMessage, fields: object, signal: AbortSignal): Promise<void> {
    return this.#binds.send(signal, (session) => this.#request(session, message, fields, signal));
  }

  async #request(
    session: SmppSession,
    message: SentMessage,
    fields: object,
    signal: AbortSignal,
  ): Promise<void> {
    const tlvs = {
      ...(fields as { tlvs?: object }).tlvs,
      userMessageReference: message.userReference,
    };
    try {
      const answer = await session.request('submit_sm', { ...fields, tlvs }, { signal });
      const isNack = answer.command === 'generic_nack';
      if (answer.status !== COMMAND_STATUS.ESME_ROK || isNack)
        throw refusalOf(answer.status, isNack, this.settings.refusals);
      if (answer.messageId === '') {
        this.#sent.doubt(message, this.context.clock.now());
        throw new UncertainFailure('invalid_answer', 'The SMSC accepted the message without an id');
      }
      const { idFormat } = this.settings;
      this.#sent.accepted(message, referenceOf(answer.messageId, idFormat, 'answer'));
    } catch (error) {
      throw error instanceof SubmitFailure ? error : this.#failureOf(error, message, session);
    }
  }

  /**
   * | error | meaning |
   * |---|---|
   * | the request was not written | paused; retryable where it was given up, or the process lost its place |
   * | it was written, and the answer is missing | uncertain: never sent again |
   * | a field that SMPP cannot carry | permanent |
   */
  #failureOf(error: unknown, message: SentMessage, session: BoundSession): SubmitFailure {
    if (error instanceof SmppNotSentError)
      return error.reason === 'aborted' || !this.#binds.isAllowed
        ? new RetryableFailure('aborted', 'The request was given up')
        : new PausedFailure('unreachable', `The SMPP bind ended (${error.reason})`);
    if (error instanceof SmppValueError)
      return new PermanentFailure('invalid_submission', `SMPP cannot carry ${error.field}`);
    this.#sent.doubt(message, this.context.clock.now());
    if (!(error instanceof SmppNoAnswerError))
      return new UncertainFailure('smpp_error', 'The SMPP client failed');
    let late = this.#late.get(session);
    if (!late) this.#late.set(session, (late = new Map<number, SentMessage>()));
    late.set(error.sequence, message);
    return new UncertainFailure('no_answer', `The SMSC did not answer (${error.reason})`);
  }

  #track(recipient: string, work: Promise<unknown>): void {
    const identity = addressIdentity(recipient);
    const all = Promise.allSettled([work, this.#inFlight.get(identity)]);
    this.#inFlight.set(identity, all);
    void all.then(() => {
      if (this.#inFlight.get(identity) === all) this.#inFlight.delete(identity);
    });
  }

  /** The answer that made a message `unknown` came after all. */
  #answeredLate(session: BoundSession, { sequence, answer }: LateAnswer): void {
    const message = this.#late.get(session)?.get(sequence);
    this.#late.get(session)?.delete(sequence);
    // The further parts were not sent: no answer makes the message whole.
    if (!message || message.ids.length + 1 < message.parts) return;
    const isAccepted = answer.status === COMMAND_STATUS.ESME_ROK && 'messageId' in answer;
    if (isAccepted && answer.messageId !== '')
      this.#sent.accepted(message, referenceOf(answer.messageId, this.settings.idFormat, 'answer'));
    else this.#sent.end(message);
    const report = {
      submissionId: message.submissionId,
      reference: message.ids.length > 0 ? referenceOfParts(message.ids) : null,
      messageId: null,
      recipient: message.recipient,
      status: isAccepted ? ('sent' as const) : ('failed' as const),
      rawStatus: commandStatusName(answer.status),
      errorCode: isAccepted ? null : commandStatusName(answer.status),
      providerTime: null,
    };
    const work = this.#sinks?.reports([report]).catch(() => undefined);
    if (work) void this.#work(work);
  }

  /** Answered after the commit; a failure is answered `ESME_RX_T_APPN`, and the SMSC sends it again. */
  readonly #receive = async (
    pdu: PduOf<'deliver_sm' | 'data_sm'>,
    session: BoundSession,
  ): Promise<{ readonly status?: number }> => {
    const sinks = this.#sinks;
    if (!sinks || this.#isStopping) return { status: COMMAND_STATUS.ESME_RX_T_APPN };
    const receipt = readReceipt(pdu, { timeZone: this.settings.timeZone });
    if (receipt) await this.#work(this.#report(pdu, receipt, sinks.reports));
    else if (sinks.inbound) await this.#work(this.#inbound.receive(pdu, session, sinks.inbound));
    else return { status: COMMAND_STATUS.ESME_RX_R_APPN };
    return {};
  };

  async #report(
    { source, destination }: PduOf<'deliver_sm' | 'data_sm'>,
    receipt: DeliveryReceipt,
    sink: ReportSink,
  ): Promise<void> {
    const from = source.address.replace(/^\+/, '');
    const to = destination.address.replace(/^\+/, '');
    const { messageId } = receipt;
    const id =
      messageId === undefined ? null : referenceOf(messageId, this.settings.idFormat, 'receipt');
    const settle = async (): Promise<void> => {
      const now = this.context.clock.now();
      const message = id === null ? undefined : this.#sent.of(id, receipt, from, to, now);
      const report = reportOf(receipt, id, from, to, message);
      await sink([report]);
      if (message && isFinal(report.status)) this.#sent.end(message);
    };
    const inFlight = this.#inFlight.get(addressIdentity(from));
    if (id === null || this.#sent.has(id) || !inFlight) return settle();
    // The receipt has overtaken the answer with its id, for which the SMSC may want the answer to the
    // receipt first. The store keeps it by its id, without the submit, which may be in flight.
    const { submit: _submit, ...early } = reportOf(receipt, id, from, to, undefined);
    await sink([early]);
    void this.#work(inFlight.then(settle)).catch(() => undefined);
  }

  async #work(work: Promise<unknown>): Promise<void> {
    this.#working.add(work);
    try {
      await work;
    } finally {
      this.#working.delete(work);
    }
  }
}

interface SubmitFields {
  readonly validityPeriod: string;
  readonly serviceType: string;
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
  readonly registeredDelivery: number;
}

function isFinalFailure(failure: unknown): boolean {
  return failure instanceof PermanentFailure || failure instanceof UncertainFailure;
}

/** @throws PermanentFailure for a submission that is no SMS to one recipient */
function textOf({ channel, content, recipients }: Submission): string {
  if (channel !== 'sms')
    throw new PermanentFailure('unsupported_channel', `SMPP does not send ${channel}`);
  if (content.kind !== 'text' || content.text === '')
    throw new PermanentFailure('unsupported_content', 'An SMS carries text only');
  if (recipients.length !== 1)
    throw new PermanentFailure('invalid_submission', 'SMPP takes one recipient at a time');
  return content.text;
}
