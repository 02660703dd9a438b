import { isGroupId, type ReadRecipients } from '../message/address.js';
import type { Personal } from '../message/content/email-content.js';
import type { FieldError } from '../message/errors.js';
import { isName } from '../message/mailbox.js';
import { addressIdentity } from '../message/phone-identity.js';
import { own } from '../message/report-fields.js';
import { valueOf, VARIABLE_NAME, variablesIn } from '../message/variables.js';
import { checkCount } from './send.js';

/** How a channel names recipients with variables of their own. */
export interface PersonalForm {
  /** The field with the list, such as `recipients`. */
  readonly field: string;
  readonly addressField: string;
  /** The address key of an entry; `undefined`: it has no valid address. */
  readonly addressOf: (entry: unknown) => string | undefined;
  readonly addressRule: string;
  /** An entry may have the recipient's `name`. */
  readonly named: boolean;
  /** The texts whose variables each recipient must have. */
  readonly texts: readonly (string | undefined)[];
  /** Those of them that are one line. */
  readonly lines: readonly (string | undefined)[];
  readonly most: number;
  /** Checks the content for a recipient without errors; its errors are at `path`. */
  readonly check?: (personal: Personal | undefined, path: string, errors: FieldError[]) => void;
}

const MOST_VARIABLES = 1_000;

/** Recipients that are read in one turn of the event loop. */
const SLICE = 2_000;

/** Most octets of a recipient's name and variables as JSON. */
const MOST_PERSONAL = 8_192;

export const MOST_ERRORS = 10;

/** Reads recipients of whom each gets a content of its own; yields between slices of a large list. */
export function* readPersonalRecipients(
  list: readonly unknown[],
  form: PersonalForm,
  errors: FieldError[],
): Generator<void, Omit<ReadRecipients, 'errors'>> {
  const { field, most } = form;
  const used = [...variablesIn(form.texts, MOST_VARIABLES + 1)];
  if (used.length > MOST_VARIABLES) {
    errors.push({ path: field, message: `can have ${MOST_VARIABLES} variables in use` });
    return { recipients: [], groups: new Map() };
  }
  const reader = new PersonalReader(form, used, errors);
  /** By their identities. */
  const found = new Map<string, readonly [recipient: string, Personal?]>();
  const groups = new Map<string, string>();
  let hasPersonal = false;
  for (const [index, entry] of list.entries()) {
    if (errors.length >= MOST_ERRORS) break;
    if (index > 0 && index % SLICE === 0) {
      yield;
      if (found.size > most) break;
    }
    const path = `${field}[${index}]`;
    if (isGroupId(entry)) {
      if (used.length > 0)
        errors.push({
          path,
          message: `is a group, whose members have no value for {{${used[0]}}}`,
        });
      if (!groups.has(entry)) groups.set(entry, path);
      found.set(entry, [entry]);
      continue;
    }
    const address = form.addressOf(entry);
    if (address === undefined) {
      const own = typeof entry === 'object' && entry !== null ? `.${form.addressField}` : '';
      errors.push({ path: path + own, message: form.addressRule });
      continue;
    }
    const before = errors.length;
    const personal = reader.personalOf(entry, path);
    const identity = addressIdentity(address);
    if (found.has(identity)) continue;
    if (errors.length === before) form.check?.(personal, path, errors);
    found.set(identity, [address, personal]);
    hasPersonal ||= personal !== undefined;
  }
  if (errors.length === 0) checkCount(found.size, most, errors, field);
  return {
    recipients: Array.from(found.values(), ([recipient]) => recipient),
    groups,
    ...(hasPersonal && { personal: Array.from(found.values(), ([, personal]) => personal) }),
  };
}

class PersonalReader {
  readonly #inLines: ReadonlySet<string>;

  constructor(
    private readonly form: PersonalForm,
    private readonly used: readonly string[],
    private readonly errors: FieldError[],
  ) {
    this.#inLines = variablesIn(form.lines);
  }

  /** The name and the used variables of a recipient. */
  personalOf(entry: unknown, path: string): Personal | undefined {
    const { used, errors } = this;
    const given = typeof entry === 'object' ? entry : undefined;
    const name = this.form.named ? own(given, 'name') : undefined;
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
    for (const key of used) {
      const value = valueOf(whole, key);
      // A value of another type has its error.
      if (value === undefined && own(variables, key) === undefined)
        refuse(`.variables.${key}`, `is missing: the message uses {{${key}}}`);
      else if (value !== undefined && this.#inLines.has(key) && /\p{Cc}/u.test(value))
        refuse(`.variables.${key}`, 'must have no control characters, as the subject uses it');
    }
    const kept = used.filter((key) => own(variables, key) !== undefined);
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
}
