import { createHmac, timingSafeEqual } from 'node:crypto';
import { own } from '../../message/report-fields.js';

/** What Kannel fills in: status bit, the SMSC's words, its message id, seconds since 1970. */
const FILLED_IN = 'status=%d&answer=%A&id=%F&time=%T';

/**
 * The address Kannel calls with a report. Submission and recipient are ours, as we wrote them: Kannel's
 * own `%p` may be a number it has rewritten. The signature covers both, so that whoever reads an
 * address in Kannel's logs can report on that one message and no other.
 */
export class ReportLink {
  readonly #head: string;

  constructor(
    url: string,
    private readonly secret: string,
  ) {
    this.#head = literal(url);
  }

  /** @returns what goes into `dlr-url` */
  of(submissionId: string, recipient: string): string {
    const ours = new URLSearchParams({
      submission: submissionId,
      to: recipient,
      signature: signature(this.secret, submissionId, recipient).toString('base64url'),
    });
    return `${this.#head}?${literal(ours.toString())}&${FILLED_IN}`;
  }
}

/** Is the query's signature that of its submission and recipient, by one of the secrets? Takes the same time for every wrong one. */
export function isSigned(query: object, secrets: readonly string[]): boolean {
  const submission = own(query, 'submission');
  const recipient = own(query, 'to');
  const written = own(query, 'signature');
  if (
    typeof submission !== 'string' ||
    typeof recipient !== 'string' ||
    typeof written !== 'string' ||
    submission.length > 255 ||
    recipient.length > 64
  )
    return false;
  const given = Buffer.from(written.slice(0, 64), 'base64url');
  let found = false;
  for (const secret of secrets) {
    const expected = signature(secret, submission, recipient);
    if (given.length === expected.length && timingSafeEqual(given, expected)) found = true;
  }
  return found;
}

function signature(secret: string, submissionId: string, recipient: string): Buffer {
  return createHmac('sha256', secret).update(`${submissionId}\n${recipient}`).digest();
}

/** Kannel reads `%` as the start of a code. */
function literal(text: string): string {
  return text.replaceAll('%', '%%');
}
