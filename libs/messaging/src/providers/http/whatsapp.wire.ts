import type { DeliveryReport } from '../../message/events.js';
import { PermanentFailure } from '../../message/errors.js';
import { word } from '../../message/report-fields.js';
import type {
  SentSubmission,
  Submission,
  SubmissionAccepted,
} from '../../ports/message-transport.js';
import type { HttpSettings } from './http.options.js';
import { readDeliveryReport } from './interface-callbacks.js';
import { askForEach, type FetchedReports, fieldOf, type Wire } from './wire.js';

const PATH = '/whatsapp/ng/v1';
const CONCURRENCY = 8;

/** WhatsApp on the interface: `sendwhatsapp` and `messages/{id}` (sections 2.3, 2.4 and 4.2). */
export class WhatsAppWire implements Wire {
  readonly credential = 'apiKey';
  readonly path = `${PATH}/sendwhatsapp`;
  readonly idField = 'message_id';

  constructor(private readonly settings: Pick<HttpSettings, 'textField'>) {}

  bodyOf({ recipients, content }: Submission): Record<string, unknown> {
    const [to, ...others] = recipients;
    if (to === undefined || others.length > 0)
      throw new PermanentFailure('invalid_submission', 'A WhatsApp message goes to one recipient');
    return content.kind === 'text'
      ? { to, message_type: 'text', [this.settings.textField.whatsapp]: content.text }
      : {
          to,
          message_type: 'template',
          template_name: content.template,
          language: content.language,
          params: content.params,
        };
  }

  detailsOf(id: string, answer: unknown): Partial<SubmissionAccepted> {
    const [cost, currency] = [fieldOf(answer, 'cost'), fieldOf(answer, 'currency')];
    const [category, sender] = [fieldOf(answer, 'category'), fieldOf(answer, 'sender')].map(word);
    const details = {
      ...(typeof cost === 'number' && cost >= 0 && { cost: decimal(cost) }),
      ...(typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) && { currency }),
      ...(category && { category }),
      ...(sender && { sender }),
    };
    return { messageIds: [id], details };
  }

  /** One request per message, as the interface has no list; skips messages without a known id. */
  async fetch(
    submissions: readonly SentSubmission[],
    get: (path: string) => Promise<unknown>,
    now: number,
  ): Promise<FetchedReports> {
    const reports: DeliveryReport[] = [];
    const failure = await askForEach(
      submissions.values(),
      CONCURRENCY,
      async ({ submissionId, reference, recipients: [recipient = null] }) => {
        if (reference === null) return;
        const answer = await get(`${PATH}/messages/${encodeURIComponent(reference)}`).catch(
          ignoreUnknown,
        );
        const report = readDeliveryReport(answer, now);
        if (typeof report !== 'string' && report.status !== null)
          reports.push({ ...report, reference, recipient, submissionId });
      },
    );
    return { reports, failure };
  }
}

/** A message that the service does not know has no report. */
function ignoreUnknown(error: unknown): undefined {
  if (error instanceof PermanentFailure) return undefined;
  throw error;
}

/** Writes a JSON number as a decimal, never as `1e-7`. */
function decimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : text;
}
