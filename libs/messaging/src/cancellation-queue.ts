import { timeLimit } from './message/time-limit.js';
import { DeliveryLane } from './dispatch/delivery-lane.js';
import type { LaneTask } from './dispatch/dispatcher.js';
import type { LeasedLane } from './dispatch/leased-lane.js';
import type { PlaceKeeper } from './dispatch/place-keeper.js';
import type { MessagingJob } from './jobs/messaging.jobs.js';
import type { DeliveryReport } from './message/events.js';
import type { MessageTransport, SentSubmission, Transports } from './ports/message-transport.js';
import type { MessageStore } from './store/message-store.js';
import type { Cancellation, CancellingProvider } from './store/verbs/cancellations.js';
import type { DueWork, WorkQueue } from './work-queues.js';

/** Requests to a provider at a time: they share its connections with messages. */
const TOGETHER = 5;

/** Time for one answer, in milliseconds. */
const TIME_LIMIT = 60_000;

/**
 * Asks providers to cancel messages that they have accepted, one lane for each provider. Only a
 * confirmation changes a status, as a report of the provider.
 */
export class CancellationQueue implements WorkQueue {
  readonly name = 'messaging-cancel';
  readonly jobs: readonly MessagingJob[] = [
    { name: 'cancellations', every: 60_000, run: () => this.store.cancellations.giveUp() },
  ];

  constructor(
    readonly store: MessageStore,
    private readonly transports: Transports,
    private readonly places: Pick<PlaceKeeper, 'isLeased'>,
  ) {}

  start(leased: LeasedLane, provider: string): LaneTask {
    return new CancellationLane(leased, provider, this.transports.get(provider), this.store);
  }

  async due(horizon: number): Promise<readonly DueWork[]> {
    if (!this.places.isLeased) return [];
    const due = await this.store.cancellations.firstDue();
    return due
      .filter(({ dueIn }) => dueIn <= horizon)
      .map(({ provider, dueIn }) => ({ key: provider, dueIn }));
  }
}

/** Providers that can be asked to cancel accepted messages. */
export function cancellingOf(transports: Transports): readonly CancellingProvider[] {
  return [...transports].flatMap(([name, transport]) => {
    const { channels } = transport.capabilities;
    return 'cancel' in transport ? [{ name, ...(channels && { channels }) }] : [];
  });
}

class CancellationLane extends DeliveryLane {
  constructor(
    leased: LeasedLane,
    private readonly provider: string,
    private readonly transport: MessageTransport | undefined,
    private readonly store: MessageStore,
  ) {
    super(leased);
  }

  get underWay(): string {
    return `cancels at ${this.provider}`;
  }

  async pump(): Promise<void> {
    while (this.mayGoOn) {
      const next = await this.store.cancellations.nextDue(this.provider);
      if (!next) return;
      await this.#carryOut(next);
    }
  }

  async nextDueIn(): Promise<number> {
    const due = await this.store.cancellations.firstDue();
    return due.find(({ provider }) => provider === this.provider)?.dueIn ?? Infinity;
  }

  /** One window of the batch; after a failed request the whole window is requested again. */
  async #carryOut(cancellation: Cancellation): Promise<void> {
    const { cancellations } = this.store;
    const { submissions, last } = await cancellations.accepted(cancellation);
    for (let from = 0; from < submissions.length; from += TOGETHER) {
      if (!this.mayGoOn) return;
      const asked = submissions.slice(from, from + TOGETHER);
      const answers = await Promise.allSettled(asked.map((one) => this.#ask(one)));
      const reports = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      await this.store.reports.record(reports, { provider: this.provider });
      const failure = answers.find((one) => one.status === 'rejected');
      if (!failure) continue;
      const { name } = failure.reason as Error;
      this.logger.warn(`${this.provider}: not asked to cancel, asked again later: ${name}`);
      return cancellations.failed(cancellation);
    }
    await cancellations.answered(cancellation, last);
  }

  async #ask(submission: SentSubmission): Promise<readonly DeliveryReport[]> {
    const signal = timeLimit(TIME_LIMIT, this.signal);
    return (await this.transport?.cancel?.(submission, signal)) ?? [];
  }
}
