import type { MessageStore } from '../store/message-store.js';
import type { Transaction } from '../store/store-database.js';
import type { NewBatch } from '../store/new-batch.js';
import { withTrace } from '../store/stored-content.js';
import type { MessageContent } from '../message/message.js';
import type { PolicyPipeline } from '../policy/policy-pipeline.js';
import type { LaneWaker } from '../ports/lane-waker.js';
import type { MessagingTracing } from '../ports/tracing.js';
import { Intake } from './intake.js';
import type { Receipt } from './receipt.js';

/** Takes batches in as a step of whatever the caller does, and stores the step with the batch. */
export class TracedIntake extends Intake {
  constructor(
    store: MessageStore,
    waker: LaneWaker,
    policy: PolicyPipeline,
    private readonly tracing: MessagingTracing,
  ) {
    super(store, waker, policy);
  }

  override take(wanted: NewBatch, content: MessageContent, tx?: Transaction): Promise<Receipt> {
    const { id, channel, recipients } = wanted;
    return this.tracing.step(
      {
        operation: 'send',
        type: 'send',
        kind: 'producer',
        channel,
        id,
        messages: recipients.length,
      },
      (trace) =>
        super.take(
          trace ? { ...wanted, content: withTrace(wanted.content, trace) } : wanted,
          content,
          tx,
        ),
    );
  }
}
