import { type ConsentState, type FieldError, isGroupId, isPhoneNumber } from '@dundun/messaging';
import { invalidFields } from '../http/api-error.js';
import { checkUnknown, numberRemedy } from '../http/request-fields.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../http/rfc3339.js';

/** What somebody said of getting WhatsApp messages. */
export interface GivenConsent {
  readonly source: string;
  readonly at: Date | undefined;
  readonly evidence: string | undefined;
}

/** `POST /whatsapp/ng/v1/contacts`, checked. What is left out stays as it is. */
export interface UpsertContact {
  readonly person: { readonly phone?: string; readonly bsuid?: string; readonly name?: string };
  readonly optIn: (GivenConsent & { readonly status: ConsentState }) | undefined;
  /** All the groups they are in from now on. */
  readonly groups: readonly string[] | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const CONTACT = new Set(['phone', 'bsuid', 'name', 'opt_in', 'groups']);
const CONSENT = new Set(['source', 'at', 'evidence']);
const OPT_IN = new Set([...CONSENT, 'status']);
const MOST_GROUPS = 100;
/** Where a consent was given, unless it is said. */
const SOURCE = 'api';

/** @throws ApiError 422 naming every wrong field */
export function readContact(request: Fields): UpsertContact {
  const errors: FieldError[] = [];
  checkUnknown(request, CONTACT, errors);
  const { phone, bsuid, name, groups } = request;
  if (phone !== undefined && !isPhoneNumber(phone))
    errors.push({ path: 'phone', message: numberRemedy(phone) });
  for (const [path, value] of Object.entries({ bsuid, name }))
    if (value !== undefined && typeof value !== 'string')
      errors.push({ path, message: 'must be a text' });
  if (phone === undefined && bsuid === undefined)
    errors.push({ path: 'phone', message: 'or bsuid must be there' });
  const optIn = readOptIn(request['opt_in'], errors);
  checkGroups(groups, errors);
  if (errors.length > 0) throw invalidFields(errors);
  return {
    person: Object.fromEntries(
      Object.entries({ phone, bsuid, name }).filter(([, value]) => value !== undefined),
    ),
    optIn,
    groups: groups as string[] | undefined,
  };
}

/** The body of an opt-in or opt-out. @throws ApiError 422 */
export function readConsent(body: Fields): GivenConsent {
  const errors: FieldError[] = [];
  const consent = consentOf(body, '', CONSENT, errors);
  if (errors.length > 0) throw invalidFields(errors);
  return consent;
}

/** `true`, `false`, or as the record has it. */
function readOptIn(value: unknown, errors: FieldError[]): UpsertContact['optIn'] {
  if (value === undefined) return undefined;
  if (typeof value === 'boolean')
    return {
      status: value ? 'opted_in' : 'opted_out',
      source: SOURCE,
      at: undefined,
      evidence: undefined,
    };
  const consent = consentOf(value, 'opt_in', OPT_IN, errors);
  const status = isObject(value) ? value['status'] : undefined;
  if (isObject(value) && status !== 'opted_in' && status !== 'opted_out')
    errors.push({ path: 'opt_in.status', message: 'must be opted_in or opted_out' });
  return { ...consent, status: status as ConsentState };
}

function consentOf(
  value: unknown,
  path: string,
  fields: ReadonlySet<string>,
  errors: FieldError[],
): GivenConsent {
  const at = (field: string): string => (path === '' ? field : `${path}.${field}`);
  if (!isObject(value)) {
    errors.push({ path, message: 'must be a JSON object' });
    return { source: SOURCE, at: undefined, evidence: undefined };
  }
  const unknown: FieldError[] = [];
  checkUnknown(value, fields, unknown);
  for (const error of unknown) errors.push({ ...error, path: at(error.path) });
  const { source = SOURCE, evidence } = value;
  if (!isText(source, 255) || source === '')
    errors.push({ path: at('source'), message: 'must be 1 to 255 characters' });
  if (evidence !== undefined && !isText(evidence, 10_000))
    errors.push({ path: at('evidence'), message: 'must be at most 10000 characters' });
  const time = parseTimestamp(value['at']);
  if (value['at'] !== undefined && !time) errors.push({ path: at('at'), message: TIMESTAMP_RULE });
  return { source: source as string, at: time, evidence: evidence as string | undefined };
}

function checkGroups(groups: unknown, errors: FieldError[]): void {
  if (groups === undefined) return;
  if (!Array.isArray(groups) || groups.length > MOST_GROUPS) {
    errors.push({ path: 'groups', message: `must be a list of at most ${MOST_GROUPS} group ids` });
    return;
  }
  groups.forEach((id: unknown, index) => {
    if (!isGroupId(id)) errors.push(unknownGroup(index));
  });
}

export function unknownGroup(index: number): FieldError {
  return { path: `groups[${index}]`, message: 'names a group that does not exist' };
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most && !/[\0\p{Cs}]/u.test(value);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
