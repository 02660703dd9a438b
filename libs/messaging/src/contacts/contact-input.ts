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
import type { Sql, StoreDatabase } from '../store/database/store-database.js';
import type { ContactListOptions, ContactOptions, NewContact, Person } from './contact.js';

/** Every channel, or every category of a channel. */
export const EVERY = '*';

/** A checked person with normalised addresses. */
export interface Identity {
  /** Address keys in the order given; at least one. */
  readonly addresses: readonly string[];
  /** `undefined`: the name does not change. */
  readonly name: string | undefined;
}

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
  if (typeof person === 'string' || 'kind' in person) {
    const address = readAddress(person);
    if (!address) errors.push({ path: `${path}.${kindOf(person)}`, message: ruleOf(person) });
    return { addresses: address ? [addressKey(address)] : [], name: undefined };
  }
  const addresses = new Set<string>();
  const before = errors.length;
  const take = (field: string, given: unknown, address: Address | undefined) => {
    if (address) addresses.add(addressKey(address));
    else errors.push({ path: `${path}.${field}`, message: ruleOf(given) });
  };
  for (const kind of ADDRESS_KINDS)
    if (person[kind] !== undefined) take(kind, { kind }, addressOf(kind, person[kind]));
  person.addresses?.forEach((given, n) => take(`addresses[${n}]`, given, readAddress(given)));
  const { name } = person as NewContact;
  if (addresses.size === 0 && errors.length === before)
    errors.push({ path, message: 'must have an address: phone, email or platform' });
  if (name !== undefined && !isText(name, MAX_NAME))
    errors.push({ path: `${path}.name`, message: 'must be at most 255 characters, without NUL' });
  return { addresses: [...addresses], name };
}

/** @throws MessageValidationError on `recipients[3]` */
export function addressKeysOf(
  recipients: string | Address | readonly (string | Address)[],
): string[] {
  const identities = identitiesOf(asArray(recipients), 'recipients');
  return [...new Set(identities.flatMap(({ addresses }) => addresses))];
}

/** The most likely address kind of a wrong address, for the path of the error. */
function kindOf(given: unknown): Address['kind'] {
  const { kind } = (typeof given === 'object' && given !== null ? given : {}) as Partial<Address>;
  if (kind !== undefined && ADDRESS_KINDS.includes(kind)) return kind;
  return typeof given === 'string' && given.includes('@') ? 'email' : 'phone';
}

function ruleOf(given: unknown): string {
  return ADDRESS_RULES[kindOf(given)];
}

/** @throws MessageValidationError on `channel`, `category` */
export function checkScope(
  registry: ChannelRegistry,
  { channel, category }: { readonly channel: string; readonly category: string },
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

/** @throws MessageValidationError on `tenant` */
export function tenantOf({ tenant = '' }: { readonly tenant?: string }): string {
  if (!TENANT.test(tenant)) throw invalid('tenant', 'must be at most 200 ASCII characters');
  return tenant;
}

/** @throws MessageValidationError on `limit` */
export function limitOf({ limit = 100 }: Pick<ContactListOptions, 'limit'>): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw invalid('limit', 'must be 1 to 1000');
  return limit;
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

/** The caller's transaction, or the pool for reads outside of a transaction. */
export function readerOf(database: StoreDatabase, { manager }: ContactOptions): Pick<Sql, 'all'> {
  return manager ? database.join(manager) : database;
}

/** Runs `work` in the caller's transaction, or in a new one. */
export function within<T>(
  database: StoreDatabase,
  { manager }: ContactOptions,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return manager ? work(database.join(manager)) : database.transaction(work);
}
