import type { MessageTransport, Submission, SubmissionAccepted } from '@dundun/messaging/ports';

/** Accepts each submission once `answer` allows it and records it. */
export class GatedTransport implements MessageTransport {
  readonly name = 'gated';
  readonly submissions: Submission[] = [];
  answer: (submission: Submission) => Promise<void> = async () => undefined;

  constructor(readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000 }) {}

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.submissions.push(submission);
    await this.answer(submission);
    return { reference: submission.id };
  }
}
