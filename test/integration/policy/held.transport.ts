import type { MessageTransport, Submission, SubmissionAccepted } from '@dundun/messaging';

/** Accepts each submission once `answer` allows it and records it. */
export class HeldTransport implements MessageTransport {
  readonly name = 'held';
  readonly submissions: Submission[] = [];
  answer: (submission: Submission) => Promise<void> = async () => undefined;

  constructor(readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000 }) {}

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.submissions.push(submission);
    await this.answer(submission);
    return { reference: submission.id };
  }
}
