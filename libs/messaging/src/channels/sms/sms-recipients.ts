import {
  addressKey,
  type Address,
  readAddress,
  type ReadRecipients,
  type Recipients,
  ruleOf,
} from '../../message/address.js';
import type { ChannelDefinition } from '../../message/channel-definition.js';
import type { Personal } from '../../message/content/email-content.js';
import type { FieldError } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import { replacedIn } from '../../message/variables.js';
import { MOST_ERRORS, readPersonalRecipients } from '../personal-recipients.js';
import { MAX_RECIPIENTS } from '../send.js';
import { partsOf } from './sms.channel.js';

/** A recipient with values of its own for the `{{variables}}` of the body. */
export interface SmsRecipient {
  readonly to: string | Address;
  /** At most 8 KiB, as JSON; names of 1 to 64 letters, digits, dots, dashes and underscores. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Recipients of an SMS, with variables of their own or without. */
export type SmsRecipients =
  | Recipients
  | SmsRecipient
  | readonly (string | Address | SmsRecipient)[];

/** Whether a recipient is given as `{ to, variables }`: the body is filled in for each. */
export function isPersonal(to: unknown): boolean {
  return Array.isArray(to) ? to.some(isSmsRecipient) : isSmsRecipient(to);
}

/**
 * Reads such recipients: each has a value for every variable of the body, and its text has at most
 * `maxParts` parts. Yields between slices of a large list.
 */
export function* readSmsRecipients(
  to: unknown,
  body: unknown,
  { addressKinds, maxRecipients = MAX_RECIPIENTS }: ChannelDefinition,
  maxParts: number,
): Generator<void, ReadRecipients> {
  const errors: FieldError[] = [];
  const text = typeof body === 'string' ? body : '';
  const addressOf = (entry: unknown) => {
    const address = readAddress(isSmsRecipient(entry) ? own(entry, 'to') : entry, addressKinds);
    return address && addressKey(address);
  };
  let parts = 0;
  const check = (personal: Personal | undefined, path: string, of: FieldError[]) => {
    // The check of the body alone finds its errors.
    if (text === '') return;
    const filled = personal ? replacedIn(text, personal) : text;
    parts = Math.max(parts, partsOf(filled, maxParts, of, path));
  };
  const read = yield* readPersonalRecipients(
    Array.isArray(to) ? to : [to],
    {
      field: 'to',
      addressField: 'to',
      addressOf,
      addressRule: ruleOf(addressKinds),
      named: false,
      texts: [text],
      lines: [],
      most: maxRecipients,
      check,
    },
    errors,
  );
  return { ...read, parts, errors: errors.slice(0, MOST_ERRORS) };
}

function isSmsRecipient(entry: unknown): boolean {
  return typeof entry === 'object' && own(entry, 'to') !== undefined;
}
