import { setMaxListeners } from 'node:events';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { MessagingConfigError } from '../../message/errors.js';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/failures.js';
import { type Duration, milliseconds } from '../../ports/duration.js';
import type {
  FetchedReport,
  MessageTransport,
  ReportSink,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
} from '../../ports/message-transport.js';
import type { TransportContext, TransportFactory } from '../../ports/messaging-options.js';
import { ReportQueue } from './report-queue.js';
import {
  REFUSED,
  referenceOf,
  type SimulatedRecipient,
  simulatedRecipient,
} from './simulated-recipient.js';
import { ThrottleMemory } from './throttle-memory.js';

/** Options of {@link simulator}. */
export interface SimulatorOptions {
  /** From the acceptance to the report, at least; up to three times as long, by recipient. @default '50ms' */
  readonly reportDelay?: Duration;
  /** Recipients one submission may carry. @default 1000 */
  readonly maxRecipients?: number;
  /** How long a submission may be repeated under its id; 0: never. @default '20h' */
  readonly idempotencyWindow?: Duration;
}

/**
 * A carrier that sends nothing. The recipient's last four digits decide what happens:
 *
 * | digits | what happens |
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
 * | other | delivered |
 *
 * In a submission of many, the refused ones are named beside the reference (all refused: the
 * submission is). One `9907` throttles the whole, one `9908` or `9909` loses the whole's answer; what
 * was accepted without an answer is pushed for nobody, and a poll finds everybody but the `9909`s.
 *
 * @example
 * MessagingModule.forRoot({ transport: simulator({ reportDelay: '10ms' }) });
 */
export function simulator(options: SimulatorOptions = {}): TransportFactory {
  const settings = {
    reportDelay: milliseconds('reportDelay', options.reportDelay ?? '50ms'),
    maxRecipients: options.maxRecipients ?? 1000,
    idempotencyWindow: milliseconds('idempotencyWindow', options.idempotencyWindow ?? '20h'),
  };
  if (!Number.isSafeInteger(settings.maxRecipients) || settings.maxRecipients < 1)
    throw new MessagingConfigError('maxRecipients: must be a whole number from 1');
  return (context) => new SimulatorTransport(settings, context);
}

interface SimulatorSettings extends TransportCapabilities {
  readonly reportDelay: number;
}

/** Stateless but for pending pushes: all it says derives from submission id and recipient, so that it survives a kill. */
export class SimulatorTransport implements MessageTransport, BeforeApplicationShutdown {
  readonly name = 'simulator';
  readonly capabilities: TransportCapabilities;
  readonly #throttled = new ThrottleMemory();
  #queue: ReportQueue | undefined;

  constructor(
    private readonly settings: SimulatorSettings,
    private readonly context: TransportContext,
  ) {
    this.capabilities = {
      maxRecipients: settings.maxRecipients,
      idempotencyWindow: settings.idempotencyWindow,
    };
  }

  listen(sink: ReportSink): void {
    this.#queue = new ReportQueue(
      sink,
      this.context.clock,
      Math.max(1, this.settings.reportDelay / 16),
    );
  }

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    if (signal.aborted) throw new PausedFailure('not_sent', 'Given up before it was sent');
    this.#refuseForeign(submission);
    const recipients = submission.recipients.map((to) =>
      simulatedRecipient(submission.id, to, submission.firstSentAt),
    );
    this.#throttle(submission, recipients);

    const rejected = new Map<string, string>();
    for (const { fate, final } of recipients)
      if (fate === 'refused') rejected.set(final.recipient ?? '', REFUSED);
    if (rejected.size === recipients.length)
      throw new PermanentFailure(REFUSED, 'The simulated carrier refuses numbers ending in 9903');
    if (recipients.some(({ fate }) => fate === 'lost' || fate === 'vanished'))
      throw new UncertainFailure('answer_lost', 'The simulated carrier lost its answer');

    await this.#push(recipients, signal);
    return {
      reference: referenceOf(submission.id),
      ...(rejected.size > 0 && { rejected }),
    };
  }

  /** Knows every submission it could have accepted; a report is found once its time has come. */
  fetchReports(submissions: readonly SentSubmission[]): Promise<readonly FetchedReport[]> {
    const now = this.context.clock.now();
    const reports: FetchedReport[] = [];
    for (const { submissionId, recipients, firstSentAt } of submissions)
      for (const to of recipients) {
        const { fate, sent, final } = simulatedRecipient(submissionId, to, firstSentAt);
        if (fate === 'vanished' || (final.providerTime?.getTime() ?? 0) > now) continue;
        if (fate === 'disordered') reports.push({ ...sent, submissionId });
        reports.push({ ...final, submissionId });
      }
    return Promise.resolve(reports);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#queue?.stop();
  }

  #refuseForeign({ channel, content }: Submission): void {
    if (channel !== 'sms')
      throw new PermanentFailure(
        'unsupported_channel',
        `The simulator transport does not send ${channel}`,
      );
    if (content.kind !== 'text')
      throw new PermanentFailure('unsupported_content', 'An SMS carries text only');
  }

  #throttle({ batchId, attempt }: Submission, recipients: readonly SimulatedRecipient[]): void {
    if (attempt > 1) return;
    const first = recipients
      .filter(({ fate }) => fate === 'throttled')
      .filter(({ final }) => this.#throttled.isNew(`${batchId} ${final.recipient}`));
    if (first.length > 0)
      throw new PausedFailure('throttled', 'The simulated carrier asks to send more slowly', 100);
  }

  async #push(recipients: readonly SimulatedRecipient[], signal: AbortSignal): Promise<void> {
    const queue = this.#queue;
    if (!queue) return;
    const early = [];
    for (const { fate, jitter, sent, final } of recipients) {
      const delay = this.settings.reportDelay * (1 + 2 * jitter);
      switch (fate) {
        case 'early':
          early.push(final);
          break;
        case 'disordered':
          queue.add(final, delay);
          queue.add(sent, delay * 1.5);
          queue.add(final, delay * 1.5);
          break;
        case 'delivered':
        case 'undelivered':
        case 'expired':
        case 'throttled':
          queue.add(final, delay);
          break;
        case 'refused':
        case 'silent':
        case 'lost':
        case 'vanished':
          break;
        default:
          fate satisfies never;
      }
    }
    if (early.length > 0) await unlessAborted(queue.handOver(early), signal);
  }
}

/** The carrier has the messages by then: giving up leaves their outcome unknown. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let giveUp!: () => void;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () =>
      reject(new UncertainFailure('aborted', 'Given up before the simulated carrier answered'));
    // One signal may watch a whole lane's submissions; that many listeners are no leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', giveUp);
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
