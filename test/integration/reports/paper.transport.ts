import type {
  DeliveryReport,
  MessageTransport,
  SentSubmission,
  Submission,
  SubmissionAccepted,
} from '@dundun/messaging/ports';

/** The provider's answer to a submit. */
export type Answer = (submission: Submission) => SubmissionAccepted | Promise<SubmissionAccepted>;

/** A scripted provider that accepts every submission. */
export class PaperTransport implements MessageTransport {
  readonly name = 'paper';
  readonly capabilities = { maxRecipients: 1_000, idempotencyWindow: 60_000 };
  readonly submissions: Submission[] = [];
  /** The polled submissions, by call. */
  readonly asked: (readonly SentSubmission[])[] = [];
  answer: Answer = ({ id }) => ({ reference: `ref-${id}` });
  reports: NonNullable<MessageTransport['fetchReports']> = () => Promise.resolve([]);

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.submissions.push(submission);
    return this.answer(submission);
  }

  fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    this.asked.push(submissions);
    return this.reports(submissions, signal);
  }
}

/** An answer the provider gives when the test says so. */
export function heldAnswer(answer: Answer): {
  answer: Answer;
  asked: Promise<Submission>;
  give(): void;
} {
  let give!: () => void;
  let ask!: (submission: Submission) => void;
  const given = new Promise<void>((resolve) => (give = resolve));
  const asked = new Promise<Submission>((resolve) => (ask = resolve));
  return {
    answer: async (submission) => {
      ask(submission);
      await given;
      return answer(submission);
    },
    asked,
    give,
  };
}
