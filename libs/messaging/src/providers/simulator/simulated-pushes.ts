import { setMaxListeners } from 'node:events';
import type { DeliveryReport } from '../../message/delivery-report.js';
import { UncertainFailure } from '../../message/failures.js';
import type { InboundMessage } from '../../message/inbound-message.js';
import type { Clock } from '../../ports/clock.js';
import type { InboundSink, ReportSink, Submission } from '../../ports/message-transport.js';
import { ReportQueue } from './report-queue.js';
import type { Simulation } from '../../message/channel-definition.js';
import { platformIdOf, type SimulatedRecipient } from './simulated-recipient.js';
import type { SimulatorSettings } from './simulator.options.js';

/** Delivery reports and replies that the simulated provider pushes. */
export class SimulatedPushes {
  readonly #reports: ReportQueue<DeliveryReport>;
  readonly #inbound: ReportQueue<InboundMessage> | undefined;

  constructor(
    private readonly settings: SimulatorSettings,
    clock: Clock,
    reports: ReportSink,
    inbound: InboundSink | undefined,
  ) {
    const slot = Math.max(1, settings.reportDelay / 16);
    this.#reports = new ReportQueue(reports, clock, slot);
    this.#inbound = inbound && new ReportQueue(inbound, clock, slot);
  }

  /** @throws UncertainFailure where `signal` ends the wait for a sink that gets a report before the answer */
  async push(
    submission: Submission,
    recipients: readonly SimulatedRecipient[],
    simulation: Simulation,
    signal: AbortSignal,
  ): Promise<void> {
    const early = [];
    for (const { course, jitter, underway, final, followUp } of recipients) {
      const delay = this.settings.reportDelay * (1 + 2 * jitter);
      switch (course) {
        case 'early':
          early.push(final);
          break;
        case 'disordered':
          this.#reports.add(final, delay);
          this.#reports.add(underway, delay * 1.5);
          this.#reports.add(final, delay * 1.5);
          break;
        case 'replying':
          if (simulation.reply !== undefined)
            this.#inbound?.add(
              replyTo(submission, final, simulation),
              delay + this.settings.replyDelay,
            );
          this.#reports.add(final, delay);
          break;
        case 'reported':
        case 'throttled':
          this.#reports.add(final, delay);
          break;
        case 'refused':
        case 'silent':
        case 'lost':
        case 'vanished':
          continue;
        default:
          course satisfies never;
      }
      if (followUp) this.#reports.add(followUp, delay * 1.25);
    }
    if (early.length > 0) await unlessAborted(this.#reports.handOver(early), signal);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#reports.stop(), this.#inbound?.stop()]);
  }
}

function replyTo(
  { id, tenant, channel, sender }: Submission,
  { recipient }: DeliveryReport,
  { idPrefix = '', reply = '' }: Simulation,
): InboundMessage {
  const from = recipient ?? '';
  return {
    messageId: platformIdOf(idPrefix, `${id} reply`, from),
    channel,
    from,
    bsuid: null,
    to: sender,
    text: reply,
    sentAt: null,
    tenant,
  };
}

/** The simulated carrier already has the messages, so an abort leaves their outcome unknown. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let giveUp!: () => void;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () =>
      reject(new UncertainFailure('aborted', 'Given up before the simulated carrier answered'));
    // One signal may serve all submissions of a lane, so the warning about a listener leak does not apply.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', giveUp);
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
