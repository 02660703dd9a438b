import { addressOf } from '../../message/address.js';
import type { DeliveryReport } from '../../message/events.js';
import { errorCode, identifier, word } from '../../message/report-fields.js';
import type { ChannelStatus } from '../../message/status.js';
import {
  type BounceCategory,
  type BounceDetails,
  bounceDetails,
  codeOfBounce,
  statusOfBounce,
} from '../smtp/bounce.js';

/** An event of a provider about one email, in the provider's own values. */
export interface MailEvent {
  /** Our id of the submission, where the provider repeats it. */
  readonly submissionId?: unknown;
  /** The provider's id of the email. */
  readonly reference: unknown;
  /** @default the provider does not tell */
  readonly recipient?: unknown;
  readonly status: ChannelStatus | null;
  readonly rawStatus: unknown;
  /** The provider's own code or word of a failure. @default none */
  readonly reason?: unknown;
  readonly time: Date | null;
  /** What the provider tells of a bounce or a delay. @default none */
  readonly refusal?: MailRefusal;
}

export interface MailRefusal {
  /** Answer of the recipient's server, such as `smtp; 550 5.1.1 No such user`. */
  readonly answer: unknown;
  /** Enhanced code of the provider. @default none */
  readonly status?: unknown;
  readonly remoteMta?: unknown;
  /** What the provider's own word means, where the answer has none that says it. */
  readonly category: BounceCategory;
  /** The provider's own word is for a failure that may pass; a code of the answer overrides it. */
  readonly isSoft: boolean;
}

/** Categories by the sub-type of a bounce, of Amazon SES and of those who send through it. */
const SUB_TYPES: Readonly<Record<string, BounceCategory>> = {
  NoEmail: 'recipient',
  MailboxFull: 'mailbox_full',
  MessageTooLarge: 'content',
  ContentRejected: 'content',
  AttachmentRejected: 'content',
};

/** What the type (`Permanent`, `Transient`) and the sub-type of a bounce say. */
export function refusalOfTypes(
  type: unknown,
  subType: unknown,
): Pick<MailRefusal, 'category' | 'isSoft'> {
  const isKnown = typeof subType === 'string' && Object.hasOwn(SUB_TYPES, subType);
  return { category: isKnown ? SUB_TYPES[subType]! : 'other', isSoft: type === 'Transient' };
}

/** @returns the report, or the reason why there is none (without content or addresses) */
export function mailReport(event: MailEvent): DeliveryReport | string {
  const { status, refusal, time } = event;
  const reference = identifier(event.reference);
  const submissionId = identifier(event.submissionId);
  if (reference === null && submissionId === null) return 'names no message';
  const rawStatus = word(event.rawStatus);
  if (rawStatus === null) return 'no status';
  const details = refusal && detailsOf(refusal);
  const code = details && codeOfBounce(details);
  return {
    ...(submissionId !== null && { submissionId }),
    reference,
    messageId: null,
    recipient: addressOf('email', event.recipient)?.value ?? null,
    status: status === 'bounced' && details ? bounceOf(details, refusal.isSoft) : status,
    rawStatus,
    // Never a text that may have an address.
    errorCode: code ?? errorCode(textWithoutAddress(event.reason)),
    providerTime: time,
    ...(details && { details }),
  };
}

function textWithoutAddress(reason: unknown): unknown {
  return typeof reason === 'string' && reason.includes('@') ? null : reason;
}

/** As `smtp()` reports a failure: one that may have passed is `expired`. */
function bounceOf(details: BounceDetails, isSoft: boolean): 'bounced' | 'expired' {
  return codeOfBounce(details) === null && isSoft ? 'expired' : statusOfBounce(details);
}

function detailsOf({ answer, status, remoteMta, category }: MailRefusal): BounceDetails {
  const details = bounceDetails({
    answer: typeof answer === 'string' ? answer.replace(/^[\w-]{1,64}\s*;\s*/, '') : '',
    status: typeof status === 'string' && /^[245]\.\d{1,3}\.\d{1,3}$/.test(status) ? status : null,
    remoteMta: word(remoteMta),
  });
  return details.category === 'other' ? { ...details, category } : details;
}
