import type { VasProduct } from '@dundun/messaging';
import {
  type DeliveryReport,
  type MessageTransport,
  type SentSubmission,
  type Submission,
  type SubmissionAccepted,
  UncertainFailure,
  type VasOrderContent,
} from '@dundun/messaging/ports';

const PRODUCTS: readonly VasProduct[] = [
  {
    id: 'airtime',
    type: 'airtime',
    network: 'Test NG',
    name: 'Airtime',
    amount: null,
    min: '0.5',
    max: '50000',
    currency: 'NGN',
    validity: null,
  },
  {
    id: 'bundle',
    type: 'data',
    network: 'Test NG',
    name: '1 GB',
    amount: '300',
    min: null,
    max: null,
    currency: 'NGN',
    validity: '30d',
  },
  {
    id: 'airtime-gh',
    type: 'airtime',
    network: 'Test GH',
    name: 'Airtime',
    amount: null,
    min: '1',
    max: '100',
    currency: 'GHS',
    validity: null,
  },
];

/** An operator that keeps a log: a key has its effect once, and is answered as known afterwards. */
export class Operator implements MessageTransport {
  readonly name = 'operator';
  readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000, channels: ['vas'] };
  readonly requests: Submission[] = [];
  /** Credits by key. */
  readonly book = new Map<string, number>();
  /** Keys that the operator was asked for. */
  readonly asked: string[] = [];
  /** Status that a query for an order gets; `undefined`: the operator does not know the order. */
  answer: (key: string) => string | undefined = () => 'delivered';
  /** Whether the answer to a submission is lost after it took effect. */
  loses = false;
  /** Throws before the order takes effect. */
  refuse: (submission: Submission) => void = () => undefined;

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.requests.push(submission);
    this.refuse(submission);
    const { key } = submission.content as VasOrderContent;
    this.book.set(key, (this.book.get(key) ?? 0) + 1);
    if (this.loses) throw new UncertainFailure('answer_lost', 'The answer was lost');
    return { reference: key, details: { cost: '97', currency: 'NGN', operator_reference: 'op-1' } };
  }

  async fetchReports(submissions: readonly SentSubmission[]): Promise<readonly DeliveryReport[]> {
    return submissions.flatMap(({ submissionId, reference, recipients }) => {
      this.asked.push(reference ?? '');
      const status = this.answer(reference ?? '');
      if (status === undefined) return [];
      return {
        submissionId,
        reference,
        messageId: null,
        recipient: recipients[0] ?? null,
        status,
        rawStatus: status.toUpperCase(),
        errorCode: null,
        providerTime: null,
        details: { delivered_amount: '100', operator_reference: 'op-1' },
      };
    });
  }

  products(): Promise<readonly VasProduct[]> {
    return Promise.resolve(PRODUCTS);
  }
}
