import { addressOf, ADDRESS_RULES, type ReadRecipients } from '../../message/address.js';
import type { Mailbox } from '../../message/content/email-content.js';
import type { FieldError } from '../../message/errors.js';
import { type MailboxInput, readMailbox } from '../../message/mailbox.js';
import { own } from '../../message/report-fields.js';
import { MOST_ERRORS, type PersonalForm, readPersonalRecipients } from '../personal-recipients.js';

/** One recipient of `recipients`: it gets a copy of its own. */
export interface EmailRecipient extends Mailbox {
  /** Values of the `{{variables}}` in subject, text and html. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The fields of a message that name its recipients. */
export interface EmailAddressees {
  /** At most 50 together with `cc` and `bcc`; every recipient sees `to` and `cc`. */
  readonly to?: MailboxInput | readonly MailboxInput[] | undefined;
  readonly cc?: MailboxInput | readonly MailboxInput[] | undefined;
  readonly bcc?: MailboxInput | readonly MailboxInput[] | undefined;
  /** Instead of `to`, `cc` and `bcc`: each gets a copy of its own. Also group ids. */
  readonly recipients?: readonly (string | EmailRecipient)[] | undefined;
}

const HEADER_FIELDS = ['to', 'cc', 'bcc'] as const;

/** Most addresses of `to`, `cc` and `bcc` together. */
export const MOST_SHOWN = 50;

type Texts = readonly (string | undefined)[];

/**
 * Yields between the slices of a large list.
 * @param texts subject, text and html, whose variables each of `recipients` must have
 */
export function* readEmailRecipients(
  message: EmailAddressees,
  texts: Texts,
  most: number,
): Generator<void, ReadRecipients> {
  const errors: FieldError[] = [];
  const read =
    message.recipients === undefined
      ? shownRecipients(message, errors)
      : yield* ownCopies(message, texts, most, errors);
  return { ...read, errors: errors.slice(0, MOST_ERRORS) };
}

/** The mailboxes of a field, as a list. */
export function listOf(given: unknown): readonly unknown[] {
  if (given === undefined) return [];
  return Array.isArray(given) ? given : [given];
}

type Read = Omit<ReadRecipients, 'errors'>;

function shownRecipients(message: EmailAddressees, errors: FieldError[]): Read {
  const recipients = new Set<string>();
  const tooMany = {
    path: 'to',
    message: `must name at most ${MOST_SHOWN} addresses together with cc and bcc; use recipients for more`,
  };
  if (HEADER_FIELDS.some((field) => listOf(message[field]).length > MOST_SHOWN)) {
    errors.push(tooMany);
    return { recipients: [], groups: new Map() };
  }
  for (const field of HEADER_FIELDS)
    listOf(message[field]).forEach((entry, index) => {
      const mailbox = readMailbox(entry, `${field}[${index}]`, errors);
      if (mailbox) recipients.add(mailbox.email);
    });
  if (errors.length === 0) {
    if (listOf(message.to).length === 0)
      errors.push({ path: 'to', message: 'must name at least one recipient' });
    if (recipients.size > MOST_SHOWN) errors.push(tooMany);
  }
  return { recipients: [...recipients], groups: new Map() };
}

function* ownCopies(
  message: EmailAddressees,
  texts: Texts,
  most: number,
  errors: FieldError[],
): Generator<void, Read> {
  for (const field of HEADER_FIELDS)
    if (message[field] !== undefined)
      errors.push({ path: field, message: 'must be left out beside recipients' });
  const { recipients: list } = message;
  if (!Array.isArray(list)) {
    errors.push({ path: 'recipients', message: 'must be an array of addresses and group ids' });
    return { recipients: [], groups: new Map() };
  }
  const form: PersonalForm = {
    field: 'recipients',
    addressField: 'email',
    addressOf: (entry) =>
      addressOf('email', typeof entry === 'string' ? entry : own(entry, 'email'))?.value,
    addressRule: ADDRESS_RULES.email,
    named: true,
    texts,
    lines: texts.slice(0, 1),
    most,
  };
  return yield* readPersonalRecipients(list, form, errors);
}
