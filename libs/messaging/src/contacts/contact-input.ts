import {
  type Address,
  ADDRESS_KINDS,
  ADDRESS_RULES,
  addressKey,
  addressOf,
  readAddress,
} from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import { decodeCursor, encodeCursor } from '../store/rows/cursor.js';
import type { Page } from '../message/views.js';
import type { ConsentScope, ContactListOptions, NewContact, Person } from './contact.js';

/** Every channel, or every category of a channel. */
export const EVERY = '*';

export interface Identity {
  /** Address keys in the order given; at least one. */
  readonly addresses: readonly string[];
  /** `undefined`: the name does not change. */
  readonly name: string | undefined;
}

/** Before the id of every contact. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const MAX_NAME = 255;
const MAX_ERRORS = 10;
const TENANT = /^[\x20-\x7e]{0,200}$/;

/** @throws MessageValidationError naming each wrong field as `path[3].phone` */
export function identitiesOf(people: readonly (Person | NewContact)[], path: string): Identity[] {
  const errors: FieldError[] = [];
  const identities = people.map((person, index) => identityOf(person, `${path}[${index}]`, errors));
  if (errors.length > 0) throw new MessageValidationError(errors.slice(0, MAX_ERRORS));
  return identities;
}

function identityOf(person: Person | NewContact, path: string, errors: FieldError[]): Identity {
  const addresses = new Set<string>();
  const given = givenBy(person);
  for (const { field, kind, address } of given)
    if (address) addresses.add(addressKey(address));
    else errors.push({ path: `${path}.${field}`, message: ADDRESS_RULES[kind] });
  if (given.length === 0)
    errors.push({ path, message: 'must have an address: phone, email or platform' });
  const name = typeof person === 'object' && 'name' in person ? person.name : undefined;
  if (name !== undefined && !isText(name, MAX_NAME))
    errors.push({ path: `${path}.name`, message: 'must be at most 255 characters, without NUL' });
  return { addresses: [...addresses], name };
}

function givenBy(person: Person | NewContact) {
  if (typeof person === 'string' || 'kind' in person) {
    const kind = kindOf(person);
    return [{ field: kind as string, kind, address: readAddress(person) }];
  }
  const { addresses = [] } = person;
  return [
    ...ADDRESS_KINDS.filter((kind) => person[kind] !== undefined).map((kind) => {
      return { field: kind as string, kind, address: addressOf(kind, person[kind]) };
    }),
    ...addresses.map((one, n) => {
      return { field: `addresses[${n}]`, kind: kindOf(one), address: readAddress(one) };
    }),
  ];
}

/** @throws MessageValidationError on `path[3].phone` */
export function addressKeysOf(people: Person | readonly Person[], path: string): string[] {
  const identities = identitiesOf(asArray(people), path);
  return [...new Set(identities.flatMap(({ addresses }) => addresses))];
}

/** The most likely address kind of a wrong address, for the path of the error. */
function kindOf(given: unknown): Address['kind'] {
  const { kind } = (typeof given === 'object' && given !== null ? given : {}) as Partial<Address>;
  if (kind !== undefined && ADDRESS_KINDS.includes(kind)) return kind;
  return typeof given === 'string' && given.includes('@') ? 'email' : 'phone';
}

export function checkScope(
  registry: ChannelRegistry,
  { channel, category }: ConsentScope,
  errors: FieldError[],
): void {
  const names = registry.all.map(({ name }) => name);
  if (channel !== EVERY && !registry.has(channel))
    errors.push({ path: 'channel', message: `must be one of ${names.join(', ')}` });
  else if (category !== EVERY) {
    const known = channel === EVERY ? names : [channel];
    const categories = new Set(known.flatMap((name) => registry.consentCategories(name)));
    if (!categories.has(category))
      errors.push({
        path: 'category',
        message: `must be * or one of ${[...categories].join(', ')}`,
      });
  }
}

export function tenantOf({ tenant = '' }: { readonly tenant?: string }): string {
  if (!TENANT.test(tenant)) throw invalid('tenant', 'must be at most 200 ASCII characters');
  return tenant;
}

export function pageRequest(
  { cursor, limit = 100 }: ContactListOptions,
  shape: Parameters<typeof decodeCursor>[1],
): { readonly limit: number; readonly after: string | undefined } {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw invalid('limit', 'must be 1 to 1000');
  return { limit, after: cursor === undefined ? undefined : decodeCursor(cursor, shape) };
}

/** The page of a query for one row more than the limit. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { data, nextCursor: more ? encodeCursor(cursorOf(last)) : null };
}

export function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most && !/[\0\p{Cs}]/u.test(value);
}

export function asArray<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

export function invalid(path: string, message: string): MessageValidationError {
  return new MessageValidationError([{ path, message }]);
}
