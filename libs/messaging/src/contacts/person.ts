import { type FieldError, MessageValidationError } from '../message/errors.js';
import { isPhoneNumber, normalisePhoneNumber } from '../message/phone-number.js';
import type { NewContact, Person } from './contact.js';

/** Identifiers as they are stored. */
export interface Identity {
  readonly phone: string | null;
  readonly bsuid: string | null;
  /** `undefined`: leave it as it is. */
  readonly name: string | undefined;
}

const BSUID = /^[\x21-\x7e]{1,255}$/;
const LARGEST_NAME = 255;

/** @throws MessageValidationError naming each wrong one as `path[3].phone` */
export function identitiesOf(people: readonly (Person | NewContact)[], path: string): Identity[] {
  const errors: FieldError[] = [];
  const identities = people.map((person, index) => {
    const given: NewContact = typeof person === 'string' ? { phone: person } : person;
    const at = (field: string) => `${path}[${index}].${field}`;
    const phone = given.phone === undefined ? null : normalisePhoneNumber(given.phone);
    if (phone !== null && !isPhoneNumber(phone))
      errors.push({ path: at('phone'), message: 'must be 7 to 15 digits with country code' });
    if (given.bsuid !== undefined && !isBsuid(given.bsuid))
      errors.push({ path: at('bsuid'), message: 'must be 1 to 255 visible ASCII characters' });
    if (phone === null && given.bsuid === undefined)
      errors.push({ path: `${path}[${index}]`, message: 'must have a phone or a bsuid' });
    if (given.name !== undefined && !isText(given.name, LARGEST_NAME))
      errors.push({ path: at('name'), message: 'must be at most 255 characters, without NUL' });
    return { phone, bsuid: given.bsuid ?? null, name: given.name };
  });
  if (errors.length > 0) throw new MessageValidationError(errors.slice(0, 10));
  return identities;
}

export function isBsuid(value: unknown): value is string {
  return typeof value === 'string' && BSUID.test(value);
}

export function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most && !/[\0\p{Cs}]/u.test(value);
}

/** @throws MessageValidationError on `recipients[3]` */
export function numbersOf(recipients: readonly string[]): string[] {
  const numbers = identitiesOf(recipients, 'recipients').map(({ phone }) => phone as string);
  return [...new Set(numbers)];
}

const TENANT = /^[\x20-\x7e]{0,200}$/;

/** @throws MessageValidationError on `tenant` */
export function tenantOf({ tenant = '' }: { readonly tenant?: string }): string {
  if (!TENANT.test(tenant))
    throw new MessageValidationError([
      { path: 'tenant', message: 'must be at most 200 ASCII characters' },
    ]);
  return tenant;
}
