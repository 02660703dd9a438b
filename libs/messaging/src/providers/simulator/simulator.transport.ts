import type { BeforeApplicationShutdown } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { DeliveryReport, InboundMessage } from '../../message/events.js';
import {
  LostAnswerFailure,
  MessagingConfigError,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
} from '../../message/errors.js';
import { MESSAGE_CATEGORIES, type MessageCategory } from '../../message/message.js';
import { isVasOrder, type VasOrderContent, type VasProduct } from '../../message/vas.js';
import { dataMedia } from '../../ports/data-media.js';
import type {
  InboundMedia,
  InboundSink,
  MediaRequest,
  MediaUpload,
  MessageTransport,
  ReportSink,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import {
  duration,
  type Duration,
  group,
  list,
  oneOf,
  optional,
  type OptionReader,
  type ReadersOf,
  record,
  text,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import { type PriceList, type RateCard, rateCardOf } from '../../ports/rate-card.js';
import { DelayedSink } from './delayed-sink.js';
import { OUTCOMES } from './outcomes/index.js';
import {
  platformIdOf,
  referenceOf,
  type SimulatedRecipient,
  simulatedRecipient,
} from './simulated-recipient.js';
import type { Simulation } from './simulation.js';

const REFUSED = 'destination_refused';
/** A forgotten message is throttled once more. */
const MAX_THROTTLED = 10_000;

const rateCard: OptionReader<RateCard, RateCard | PriceList | undefined> = (option, value) =>
  rateCardOf(option, value as RateCard | PriceList | undefined);

const simulation: OptionReader<Simulation> = (option, value) => {
  if (isSimulation(value)) return value;
  throw new MessagingConfigError(`${option}: must have outcomeOf() and underway`);
};

function isSimulation(value: unknown): value is Simulation {
  return (
    typeof value === 'object' &&
    value !== null &&
    'outcomeOf' in value &&
    typeof value.outcomeOf === 'function' &&
    'underway' in value
  );
}

/** Options of {@link simulator}. */
export interface SimulatorOptions {
  /** Least time from acceptance to report; up to threefold, by recipient. @default '50ms' */
  readonly reportDelay?: Duration;
  /** Most recipients of one submission. @default 1000 */
  readonly maxRecipients?: number;
  /** How long a submission may be repeated under its id; 0: never. @default '20h' */
  readonly idempotencyWindow?: Duration;
  /** Outcomes of messages on the app's own channels, by the name of the channel. @default none */
  readonly outcomes?: Readonly<Record<string, Simulation>>;
  /** Channels that it carries. @default every channel with outcomes */
  readonly channels?: readonly string[];
  /** Time from the delivery to the reply of a `…9910` on WhatsApp. @default '1s' */
  readonly replyDelay?: Duration;
  /** Prices that WhatsApp answers report as the cost. @default no cost */
  readonly rateCard?: RateCard | PriceList;
  /** Categories of WhatsApp templates for messages without one. @default utility */
  readonly categories?: Readonly<Record<string, MessageCategory>>;
  /** Sender number of WhatsApp messages that name none. @default '2348000000001' */
  readonly whatsAppNumber?: string;
}

const SIMULATOR = {
  reportDelay: withDefault(duration(), '50ms'),
  maxRecipients: withDefault(wholeNumber, 1_000),
  idempotencyWindow: withDefault(duration(), '20h'),
  outcomes: withDefault(record(simulation), {}),
  channels: optional(list(text)),
  replyDelay: withDefault(duration(), '1s'),
  rateCard,
  categories: withDefault(record(oneOf(...MESSAGE_CATEGORIES)), {}),
  whatsAppNumber: withDefault(text, '2348000000001'),
} satisfies ReadersOf<SimulatorOptions>;

const read = group(SIMULATOR);

/**
 * A provider that sends nothing. The recipient decides the outcome. On SMS and WhatsApp, the last four digits of the number decide:
 *
 * | digits | outcome |
 * |---|---|
 * | `9901` | undelivered |
 * | `9902` | expired |
 * | `9903` | refused at submit |
 * | `9904` | delivered, and the report comes before the answer to the submit |
 * | `9905` | delivered; reports come twice and out of order |
 * | `9906` | delivered, no report is pushed: a poll finds it |
 * | `9907` | the first submit is throttled, then delivered |
 * | `9908` | the answer to the submit is always lost: a poll finds it delivered |
 * | `9909` | the answer is always lost and no poll finds it |
 * | `9910` | delivered; on WhatsApp the recipient writes back a second later |
 * | other | delivered |
 *
 * On email the local part of the address decides:
 *
 * | local part | outcome |
 * |---|---|
 * | `bounced`, `full`, `blocked` | bounced: unknown recipient, full mailbox, refused by policy |
 * | `late-bounce` | delivered, then bounced |
 * | `complained` | delivered, then a complaint |
 * | `delayed` | the event `delayed`, then delivered |
 * | `rejected` | refused at submit |
 * | `lost` | the answer is lost: unknown, and not repeated |
 * | `reply` | delivered; the recipient writes back a second later |
 * | other | delivered |
 *
 * On voice the last four digits of the number decide:
 *
 * | digits | outcome |
 * |---|---|
 * | `9901` | busy |
 * | `9902` | no answer |
 * | `9903` | rejected at submit |
 * | `9904` | busy, and answered where it is dialled again |
 * | `9908` | the answer to the submit is always lost and no poll finds it |
 * | `9911` | a machine answers |
 * | `9912` | answered; presses 1 where digits are collected |
 * | other | answered for 7 s |
 *
 * The answer names refused recipients beside the reference; where all are refused, so is the
 * submission. One `9907` throttles the whole submission. One `9908` or `9909` loses its answer:
 * then no report is pushed, and a poll finds all recipients but the `9909`s. On WhatsApp the answer
 * gives category, cost, currency and sender, and a delivered message is read.
 * @example
 * MessagingModule.forRoot({ transport: simulator({ reportDelay: '10ms' }) });
 */
export function simulator(options: SimulatorOptions = {}): TransportFactory {
  const settings = read('simulator', options);
  return (context) => new SimulatorTransport(settings, context);
}

/** The provider of {@link simulator}, on which an app plays its recipients, as the dashboard does. */
export interface Simulator extends MessageTransport {
  /** The sender that a recipient sees; of a message without one the number of the option. */
  senderOf(sender: string): string;
  /** Passes a message of a simulated recipient on at once, as a provider's callback. */
  receive(message: InboundMessage): Promise<void>;
  /** Passes a report of a submission on at once, as a provider's callback. */
  report(submissionId: string, recipient: string, report: PlayedReport): Promise<void>;
}

/** A report by the phone of a simulated recipient. */
export interface PlayedReport extends Pick<DeliveryReport, 'status' | 'rawStatus'> {
  /** @default null */
  readonly errorCode?: string | null;
  readonly details?: DeliveryReport['details'];
}

/**
 * The simulator among the app's transports (`MESSAGE_TRANSPORTS`).
 * @returns `undefined` for the transport of any other provider
 */
export function simulatorOf(transport: MessageTransport | undefined): Simulator | undefined {
  return transport instanceof SimulatorTransport ? transport : undefined;
}

/** Answers and reports derive from submission id and recipient, so that a restart repeats them. */
export class SimulatorTransport implements Simulator, BeforeApplicationShutdown {
  readonly name = 'simulator';
  readonly capabilities: TransportCapabilities;
  /** By batch and recipient: a throttled submission returns with a new id and the same attempt. */
  readonly #throttled = new Set<string>();
  readonly #simulations: ReadonlyMap<string, Simulation>;
  #reports: DelayedSink<DeliveryReport> | undefined;
  #replies: DelayedSink<InboundMessage> | undefined;

  /** @internal */
  constructor(
    private readonly settings: ReturnType<typeof read>,
    private readonly context: TransportContext,
  ) {
    this.#simulations = new Map(Object.entries({ ...OUTCOMES, ...settings.outcomes }));
    const channels = context.channels.names.filter(
      (name) => this.#simulations.has(name) && (settings.channels?.includes(name) ?? true),
    );
    this.capabilities = {
      maxRecipients: settings.maxRecipients,
      idempotencyWindow: settings.idempotencyWindow,
      channels,
      reportsByKey: channels,
    };
  }

  listen(sink: ReportSink, inbound?: InboundSink): void {
    this.#reports = new DelayedSink(sink);
    this.#replies = inbound && new DelayedSink(inbound);
  }

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    if (signal.aborted) throw new PausedFailure('not_sent', 'Given up before it was sent');
    const { id, channel, content, firstSentAt } = submission;
    const definition = this.context.channels.find(channel);
    const simulation = this.#simulations.get(channel);
    if (!simulation)
      throw new PermanentFailure(
        'unsupported_channel',
        `The simulator transport does not send ${channel}`,
      );
    const reference = definition?.irrevocable?.referenceOf(content) ?? referenceOf(id);
    const sent = { id, firstSentAt, attempt: submission.attempt, content, reference };
    const recipients = submission.recipients.map((to) => simulatedRecipient(to, sent, simulation));
    this.#throttle(submission, recipients);

    const rejected = new Map<string, string>();
    for (const { course, final } of recipients)
      if (course === 'refused') rejected.set(final.recipient ?? '', final.errorCode ?? REFUSED);
    if (rejected.size === recipients.length)
      throw new PermanentFailure(
        recipients[0]?.final.errorCode ?? REFUSED,
        'The simulated carrier refuses such recipients, as it does numbers ending in 9903 and rejected@',
      );
    if (recipients.some(({ course }) => course === 'unknown'))
      throw new LostAnswerFailure('answer_lost', 'The simulated relay lost its answer');
    if (recipients.some(({ course }) => course === 'lost' || course === 'unreported'))
      throw new UncertainFailure('answer_lost', 'The simulated carrier lost its answer');

    const sender = this.senderOf(submission.sender);
    await this.#push({ ...submission, sender }, recipients, simulation, signal);
    return {
      reference,
      ...(isVasOrder(content) && { details: soldBy(content) }),
      ...(rejected.size > 0 && { rejected }),
      ...(simulation.idPrefix !== undefined && {
        messageIds: submission.recipients.map((to) =>
          platformIdOf(simulation.idPrefix ?? '', id, to),
        ),
        details: { sender, ...(await this.#charge(submission)) },
      }),
    };
  }

  senderOf(sender: string): string {
    return sender || this.settings.whatsAppNumber;
  }

  /** The id derives from the file, as those of messages do from their submission. */
  uploadMedia({ content }: MediaUpload): Promise<string> {
    const digest = createHash('sha256').update(content).digest();
    return Promise.resolve(String(digest.readBigUInt64BE()));
  }

  async receive(message: InboundMessage): Promise<void> {
    await this.#replies?.now([message]);
  }

  fetchMedia(media: MediaRequest): Promise<InboundMedia> {
    return new Promise((resolve) => resolve(dataMedia(media)));
  }

  async report(
    submissionId: string,
    recipient: string,
    { status, rawStatus, errorCode = null, details }: PlayedReport,
  ): Promise<void> {
    const reference = referenceOf(submissionId);
    const providerTime = new Date(this.context.clock.now());
    const report = { reference, messageId: null, recipient, status, rawStatus, errorCode };
    await this.#reports?.now([{ ...report, providerTime, details }]);
  }

  /** Recognises every submission that it may have accepted; a report is found when it is due. */
  fetchReports(submissions: readonly SentSubmission[]): Promise<readonly DeliveryReport[]> {
    const now = this.context.clock.now();
    const reports: DeliveryReport[] = [];
    for (const { submissionId, reference, attempt = 1, ...sent } of submissions) {
      const { channel, recipients, firstSentAt, content } = sent;
      const simulation = this.#simulations.get(channel);
      if (!simulation) continue;
      const known = reference ?? referenceOf(submissionId);
      const asked = { id: submissionId, firstSentAt, attempt, reference: known };
      for (const to of recipients) {
        const one = simulatedRecipient(to, asked, simulation);
        const { course, underway, first, final, followUp } = one;
        if (course === 'unreported' || course === 'unknown') continue;
        if ((final.providerTime?.getTime() ?? 0) > now) continue;
        if (course === 'disordered') reports.push({ ...underway, submissionId });
        if (first) reports.push({ ...first, submissionId });
        const details = content && isVasOrder(content) ? soldBy(content) : final.details;
        reports.push({ ...final, submissionId, details });
        if (followUp) reports.push({ ...followUp, submissionId });
      }
    }
    return Promise.resolve(reports);
  }

  /** Products of the simulated operators of all channels. */
  products(): Promise<readonly VasProduct[]> {
    const all = this.context.channels.names.map((name) => this.#simulations.get(name));
    return Promise.resolve(all.flatMap((one) => one?.products ?? []));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.#reports?.stop(), this.#replies?.stop()]);
  }

  async #charge({ tenant, channel, content, recipients }: Submission) {
    const category =
      content.kind === 'template'
        ? (content.category ?? this.settings.categories[content.template] ?? 'utility')
        : 'service';
    const [recipient = null] = recipients;
    const price = await this.settings.rateCard.price({ tenant, channel, category, recipient });
    return { category, ...(price && { cost: price.amount, currency: price.currency }) };
  }

  #throttle({ batchId, attempt }: Submission, recipients: readonly SimulatedRecipient[]): void {
    if (attempt > 1) return;
    const first = recipients
      .filter(({ course }) => course === 'throttled')
      .map(({ final }) => `${batchId} ${final.recipient}`)
      .filter((message) => !this.#throttled.has(message));
    if (this.#throttled.size > MAX_THROTTLED) this.#throttled.clear();
    for (const message of first) this.#throttled.add(message);
    if (first.length === 0) return;
    // As an HTTP carrier's 429: under a key, the submission is repeated unchanged.
    const Throttled =
      this.capabilities.idempotencyWindow > 0 ? PausedUncertainFailure : PausedFailure;
    throw new Throttled('throttled', 'The simulated carrier asks to send more slowly', 100);
  }

  /** @throws UncertainFailure where `signal` ends the wait for the sink of an early report */
  async #push(
    submission: Submission,
    recipients: readonly SimulatedRecipient[],
    { reply, idPrefix = '' }: Simulation,
    signal: AbortSignal,
  ): Promise<void> {
    const { reportDelay, replyDelay } = this.settings;
    const early: DeliveryReport[] = [];
    /** Reports by their delay. */
    const due = new Map<number, DeliveryReport[]>();
    for (const { course, jitter, underway, first, final, followUp } of recipients) {
      const delay = reportDelay * (1 + 2 * jitter);
      const report = (one: DeliveryReport, after: number) => {
        const reports = due.get(after);
        if (reports) reports.push(one);
        else due.set(after, [one]);
      };
      if (course === 'replying' && reply !== undefined) {
        const inbound = replyTo(submission, final.recipient ?? '', reply, idPrefix);
        this.#replies?.later([inbound], delay + replyDelay);
      }
      switch (course) {
        case 'early':
          early.push(final);
          break;
        case 'disordered':
          report(final, delay);
          report(underway, delay * 1.5);
          report(final, delay * 1.5);
          break;
        case 'reported':
        case 'throttled':
        case 'replying':
          // First, because timers of one millisecond run in the order of their start.
          if (first) report(first, delay * 0.75);
          report(final, delay);
          break;
        case 'refused':
        case 'silent':
        case 'lost':
        case 'unreported':
        case 'unknown':
          continue;
      }
      if (followUp) report(followUp, delay * 1.25);
    }
    for (const [after, reports] of due) this.#reports?.later(reports, after);
    if (early.length === 0) return;
    await this.#reports?.now(early, signal);
    // The simulated carrier already has the messages, so an abort leaves their outcome unknown.
    if (signal.aborted)
      throw new UncertainFailure('aborted', 'Given up before the simulated carrier answered');
  }
}

function soldBy({ key, amount, currency }: VasOrderContent): SubmissionAccepted['details'] {
  return { cost: amount, currency, delivered_amount: amount, operator_reference: `SIM-${key}` };
}

/** The answer of a recipient that writes back. */
function replyTo(
  { id, tenant, channel, sender }: Submission,
  from: string,
  text: string,
  idPrefix: string,
): InboundMessage {
  const messageId = platformIdOf(idPrefix, `${id} reply`, from);
  return { messageId, channel, from, bsuid: null, to: sender, text, sentAt: null, tenant };
}
