import {
  ADDRESS_KINDS,
  ADDRESS_RULES,
  addressKey,
  addressOf,
  readAddress,
} from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import { addressIdentity } from '../message/phone-identity.js';
import { decodeCursor } from '../store/rows/cursor.js';
import type { ConsentScope, ContactListOptions, Person } from './contact.js';

/** Every channel, or every category of a channel. */
export const EVERY = '*';

export interface Identity {
  /** Identities of the address keys, in the order given; at least one. */
  readonly addresses: readonly string[];
  /** The key of each of them as it was given. */
  readonly written: readonly string[];
  /** `undefined`: the name does not change. */
  readonly name: string | undefined;
}

const MAX_ERRORS = 10;
const ADDRESS_RULE =
  'must be a phone number with country code, an e-mail address, or platform: and an id';
const TENANT = /^[\x20-\x7e]{0,200}$/;

/** @throws MessageValidationError naming each wrong field as `path[3].phone` */
export function identitiesOf(people: Person | readonly Person[], path: string): Identity[] {
  const errors: FieldError[] = [];
  const all = Array.isArray(people) ? (people as readonly Person[]) : [people as Person];
  const identities = all.map((person, index) => identityOf(person, `${path}[${index}]`, errors));
  if (errors.length > 0) throw new MessageValidationError(errors.slice(0, MAX_ERRORS));
  return identities;
}

function identityOf(person: Person, path: string, errors: FieldError[]): Identity {
  const given = addressesOf(person, path);
  if (given.length === 0)
    errors.push({ path, message: 'must have an address: phone, email or platform' });
  for (const { address, field, rule } of given)
    if (!address) errors.push({ path: field, message: rule });
  const addresses = given.flatMap(({ address }) => (address ? [addressKey(address)] : []));
  const name = typeof person === 'object' && 'name' in person ? person.name : undefined;
  if (name !== undefined) checkText(name, `${path}.name`, errors);
  return identityBy(addresses, name);
}

/** @param keys of addresses; of two forms of one number the first is kept */
export function identityBy(keys: readonly string[], name?: string): Identity {
  const byIdentity = new Map<string, string>();
  for (const key of keys) {
    const identity = addressIdentity(key);
    if (!byIdentity.has(identity)) byIdentity.set(identity, key);
  }
  return { addresses: [...byIdentity.keys()], written: [...byIdentity.values()], name };
}

function addressesOf(person: Person, path: string) {
  const parsed = (one: unknown, field: string) => {
    return { field, rule: ADDRESS_RULE, address: readAddress(one) };
  };
  if (typeof person === 'string' || 'kind' in person) return [parsed(person, path)];
  const { addresses = [] } = person;
  return [
    ...ADDRESS_KINDS.filter((kind) => person[kind] !== undefined).map((kind) => ({
      field: `${path}.${kind}`,
      rule: ADDRESS_RULES[kind],
      address: addressOf(kind, person[kind]),
    })),
    ...addresses.map((one, n) => parsed(one, `${path}.addresses[${n}]`)),
  ];
}

/** Identities of address keys. @throws MessageValidationError on `path[3].phone` */
export function addressKeysOf(people: Person | readonly Person[], path: string): string[] {
  const identities = identitiesOf(people, path);
  return [...new Set(identities.flatMap(({ addresses }) => addresses))];
}

export function checkScope(
  registry: ChannelRegistry,
  { channel, category }: ConsentScope,
  errors: FieldError[],
): void {
  const { names } = registry;
  if (channel !== EVERY && !registry.find(channel))
    errors.push({ path: 'channel', message: `must be one of ${names.join(', ')}` });
  else if (category !== EVERY) {
    const channels = channel === EVERY ? names : [channel];
    const known = new Set(channels.flatMap((name) => registry.consentCategories(name)));
    if (!known.has(category))
      errors.push({ path: 'category', message: `must be * or one of ${[...known].join(', ')}` });
  }
}

/** A text that every database stores; with `least`, it is not blank. */
export function checkText(
  value: unknown,
  path: string,
  errors: FieldError[],
  { least = 0, most = 255 } = {},
): void {
  const fits = typeof value === 'string' && value.trim().length >= least && value.length <= most;
  if (!fits || /[\0\p{Cs}]/u.test(value))
    errors.push({ path, message: `must be ${least} to ${most} characters, without NUL` });
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

export function invalid(path: string, message: string): MessageValidationError {
  return new MessageValidationError([{ path, message }]);
}
