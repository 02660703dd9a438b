import type { DeliveryReport } from '../../message/delivery-report.js';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/failures.js';
import type { MessageContent } from '../../message/message.js';
import { identifier, own, word } from '../../message/report-fields.js';
import { readDeliveryReport } from './interface-callbacks.js';
import type {
  SentSubmission,
  Submission,
  SubmissionAccepted,
} from '../../ports/message-transport.js';

/**
 * Sends a request with the `svk_` key. Resolves with the body of a 2xx; throws the matching SubmitFailure for other
 * answers.
 */
export type AskWhatsApp = (request: {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly idempotencyKey?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}) => Promise<unknown>;

export type WhatsAppTextField = 'text' | 'body' | 'content';

const PATH = '/whatsapp/ng/v1';
/** Most messages queried at the same time. */
const CONCURRENCY = 8;
const CURRENCY = /^[A-Z]{3}$/;

/** The WhatsApp part of the interface: `sendwhatsapp` (sections 2.3, 2.4 and 4.2) and `messages/{id}`. */
export class WhatsAppWire {
  constructor(
    private readonly ask: AskWhatsApp,
    private readonly textField: WhatsAppTextField,
  ) {}

  async submit({ id, recipients, content }: Submission): Promise<SubmissionAccepted> {
    const [to, ...others] = recipients;
    if (to === undefined || others.length > 0)
      throw new PermanentFailure('invalid_submission', 'A WhatsApp message goes to one recipient');
    const answer = await this.ask({
      method: 'POST',
      path: `${PATH}/sendwhatsapp`,
      idempotencyKey: id,
      body: { to, ...this.#bodyOf(content) },
    });
    const messageId = identifier(fieldOf(answer, 'message_id'));
    if (messageId === null)
      throw new UncertainFailure(
        'invalid_answer',
        'The service answered without a usable message_id',
      );
    return { reference: messageId, messageIds: [messageId], details: detailsOf(answer) };
  }

  /**
   * Queries each message with one request, because the interface has no list. A message without a known id is
   * skipped. The reports are returned with the first failure; without any report, the failure is thrown.
   */
  async fetch(
    submissions: readonly SentSubmission[],
    now: number,
  ): Promise<{ readonly reports: readonly DeliveryReport[]; readonly failure: unknown }> {
    const reports: DeliveryReport[] = [];
    let failure: unknown;
    let stopped = false;
    const asked = submissions.values();
    const reader = async (): Promise<void> => {
      for (const submission of asked)
        try {
          if (stopped) return;
          const report = await this.#report(submission, now);
          if (report) reports.push(report);
        } catch (error) {
          failure ??= error;
          stopped ||= error instanceof PausedFailure;
        }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, reader));
    if (failure !== undefined && reports.length === 0) throw failure as Error;
    return { reports, failure };
  }

  async #report(
    { submissionId, reference, recipients }: SentSubmission,
    now: number,
  ): Promise<DeliveryReport | undefined> {
    if (reference === null) return undefined;
    const path = `${PATH}/messages/${encodeURIComponent(reference)}`;
    let answer: unknown;
    try {
      answer = await this.ask({ method: 'GET', path });
    } catch (error) {
      // A message that the service does not know does not affect the others.
      if (error instanceof PermanentFailure) return undefined;
      throw error;
    }
    const report = readDeliveryReport(answer, now);
    if (typeof report === 'string' || report.status === null) return undefined;
    return { ...report, reference, recipient: recipients[0] ?? null, submissionId };
  }

  #bodyOf(content: MessageContent): Record<string, unknown> {
    return content.kind === 'text'
      ? { message_type: 'text', [this.textField]: content.text }
      : {
          message_type: 'template',
          template_name: content.template,
          language: content.language,
          params: content.params,
        };
  }
}

/** Pauses without an `apiKey`, so that messages wait for one and are not lost. */
export function keyMissing(): PausedFailure {
  return new PausedFailure(
    'unauthorized',
    'WhatsApp takes an svk_ key, made in the dashboard under Email, API Keys: set apiKey',
  );
}

/** Price and sender of the answer; invalid values are left out. */
function detailsOf(answer: unknown): Record<string, string> {
  const cost = fieldOf(answer, 'cost');
  const currency = fieldOf(answer, 'currency');
  const priced =
    typeof cost === 'number' && Number.isFinite(cost) && cost >= 0
      ? { cost: decimal(cost) }
      : undefined;
  const [category, sender] = [fieldOf(answer, 'category'), fieldOf(answer, 'sender')].map(word);
  return {
    ...priced,
    ...(typeof currency === 'string' && CURRENCY.test(currency) && { currency }),
    ...(typeof category === 'string' && { category }),
    ...(typeof sender === 'string' && { sender }),
  };
}

/** Writes a JSON number as a decimal, never as `1e-7`. */
function decimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : text;
}

function fieldOf(answer: unknown, name: string): unknown {
  return typeof answer === 'object' && answer !== null ? own(answer, name) : undefined;
}
