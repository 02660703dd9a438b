import { createHmac, timingSafeEqual } from 'node:crypto';
import { own } from '../../message/report-fields.js';

/** Placeholders that Kannel fills in: status bit, the SMSC's answer, its message id, seconds since 1970. */
const FILLED_IN = 'status=%d&answer=%A&id=%F&time=%T';

/**
 * The address that Kannel calls with a report. It contains the submission and the recipient as submitted, because
 * Kannel may rewrite the number in its own `%p`. The signature covers both, so that an address from Kannel's logs
 * allows reports on that message only.
 */
export class ReportLink {
  readonly #head: string;

  constructor(
    url: string,
    private readonly secret: string,
  ) {
    this.#head = literal(url);
  }

  /** @returns the value of `dlr-url` */
  of(submissionId: string, recipient: string): string {
    const ours = new URLSearchParams({
      submission: submissionId,
      to: recipient,
      signature: signature(this.secret, submissionId, recipient).toString('base64url'),
    });
    return `${this.#head}?${literal(ours.toString())}&${FILLED_IN}`;
  }
}

/**
 * Whether one of the secrets signs the query's submission and recipient. Takes the same time for every wrong
 * signature.
 */
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

/** Escapes `%`, which starts a placeholder in Kannel. */
function literal(text: string): string {
  return text.replaceAll('%', '%%');
}
