import type { Ledger } from '../ledger/ledger.js';
import type { Transaction } from '../ledger/ledger-database.js';
import type { NewBatch } from '../ledger/new-batch.js';
import { withTrace } from '../ledger/stored-content.js';
import type { MessageContent } from '../message/message.js';
import type { PolicyPipeline } from '../policy/policy-pipeline.js';
import type { LaneWaker } from '../ports/lane-waker.js';
import type { MessagingTracing } from '../ports/tracing.js';
import { Intake } from './intake.js';
import type { Receipt } from './receipt.js';

/** Takes batches in as a step of whatever the caller does, and stores the step with the batch. */
export class TracedIntake extends Intake {
  constructor(
    ledger: Ledger,
    waker: LaneWaker,
    policy: PolicyPipeline,
    private readonly tracing: MessagingTracing,
  ) {
    super(ledger, waker, policy);
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
