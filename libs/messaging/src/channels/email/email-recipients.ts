import { addressOf, ADDRESS_RULES, isGroupId, type ReadRecipients } from '../../message/address.js';
import type { Mailbox, Personal } from '../../message/email-content.js';
import { valueOf, VARIABLE_NAME, variablesIn } from '../../message/email-variables.js';
import type { FieldError } from '../../message/errors.js';
import { isName, type MailboxInput, readMailbox } from '../../message/mailbox.js';
import { own } from '../../message/report-fields.js';
import { checkCount } from '../send.js';

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

/** Most variables of subject, text and html. */
const MOST_VARIABLES = 1_000;

/** Recipients that are read in one turn of the event loop. */
const SLICE = 2_000;

/** Most octets of a recipient's name and variables as JSON. */
const MOST_PERSONAL = 8_192;

const MOST_ERRORS = 10;

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
  const used: UsedVariables = {
    all: [...variablesIn(texts, MOST_VARIABLES + 1)],
    inSubject: variablesIn(texts.slice(0, 1)),
  };
  if (used.all.length > MOST_VARIABLES) {
    errors.push({ path: 'recipients', message: `can have ${MOST_VARIABLES} variables in use` });
    return { recipients: [], groups: new Map() };
  }
  const found = new Map<string, Personal | undefined>();
  const groups = new Map<string, string>();
  let hasPersonal = false;
  for (const [index, entry] of (list as readonly unknown[]).entries()) {
    if (errors.length >= MOST_ERRORS) break;
    if (index > 0 && index % SLICE === 0) {
      yield;
      if (found.size > most) break;
    }
    if (isGroupId(entry)) {
      if (used.all.length > 0)
        errors.push({
          path: `recipients[${index}]`,
          message: `is a group, whose members have no value for {{${used.all[0]}}}`,
        });
      if (!groups.has(entry)) groups.set(entry, `recipients[${index}]`);
      found.set(entry, undefined);
      continue;
    }
    const address = addressOf('email', typeof entry === 'string' ? entry : own(entry, 'email'));
    if (!address) {
      const path = typeof entry === 'object' && entry !== null ? '.email' : '';
      errors.push({ path: `recipients[${index}]${path}`, message: ADDRESS_RULES.email });
      continue;
    }
    const personal = personalOf(entry, `recipients[${index}]`, used, errors);
    if (found.has(address.value)) continue;
    found.set(address.value, personal);
    hasPersonal ||= personal !== undefined;
  }
  if (errors.length === 0) checkCount(found.size, most, errors, 'recipients');
  return {
    recipients: [...found.keys()],
    groups,
    ...(hasPersonal && { personal: [...found.values()] }),
  };
}

interface UsedVariables {
  readonly all: readonly string[];
  readonly inSubject: ReadonlySet<string>;
}

/** The name and the used variables of a recipient. */
function personalOf(
  entry: unknown,
  path: string,
  used: UsedVariables,
  errors: FieldError[],
): Personal | undefined {
  const given = typeof entry === 'object' ? entry : undefined;
  const name = own(given, 'name');
  const variables = own(given, 'variables') ?? {};
  const refuse = (field: string, message: string) => errors.push({ path: path + field, message });
  if (name !== undefined && !isName(name))
    refuse('.name', 'must be 1 to 255 characters, without control characters');
  if (typeof variables !== 'object' || Array.isArray(variables)) {
    refuse('.variables', 'must be an object of texts');
    return undefined;
  }
  for (const [key, value] of Object.entries(variables))
    if (!VARIABLE_NAME.test(key))
      refuse(
        '.variables',
        'must have names of 1 to 64 letters, digits, dots, dashes and underscores, a letter or underscore first',
      );
    else if (typeof value !== 'string' || /[\0\p{Cs}]/u.test(value))
      refuse(`.variables.${key}`, 'must be a text without NUL');
  const whole = { ...(typeof name === 'string' && { name }), variables } as Personal;
  for (const key of used.all) {
    const value = valueOf(whole, key);
    if (value === undefined) refuse(`.variables.${key}`, `is missing: the message uses {{${key}}}`);
    else if (used.inSubject.has(key) && /\p{Cc}/u.test(value))
      refuse(`.variables.${key}`, 'must have no control characters, as the subject uses it');
  }
  const kept = used.all.filter((key) => own(variables, key) !== undefined);
  if (name === undefined && kept.length === 0) return undefined;
  const personal = {
    ...(typeof name === 'string' && { name }),
    ...(kept.length > 0 && {
      variables: Object.fromEntries(kept.map((key) => [key, own(variables, key) as string])),
    }),
  };
  if (Buffer.byteLength(JSON.stringify(personal)) > MOST_PERSONAL)
    refuse('.variables', `must have at most ${MOST_PERSONAL} octets together, as JSON`);
  return personal;
}
