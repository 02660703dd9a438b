import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { Address } from '../message/address.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import type { Page } from '../message/views.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { decodeCursor, encodeCursor } from '../store/rows/cursor.js';
import { MessageStore } from '../store/message-store.js';
import type { Sql, StoreDatabase } from '../store/database/store-database.js';
import type { ConsentScope } from './consent.js';
import type {
  ConsentEntry,
  ConsentOptions,
  ConsentState,
  Contact,
  ContactListOptions,
  ContactOptions,
  NewContact,
  Person,
  SuppressionEntry,
  SuppressOptions,
} from './contact.js';
import { ContactCsv, type CsvContact, type CsvImport } from './contact-csv.js';
import {
  addressKeysOf,
  asArray,
  checkScope,
  EVERY,
  identitiesOf,
  invalid,
  isText,
  limitOf,
  readerOf,
  tenantOf,
  within,
} from './contact-input.js';
import { ContactStore } from './contact-store.js';
import { Erasure, type ErasureResult } from './erasure.js';
import { ContactGroups } from './groups.js';
import { RecipientFactsReader } from './recipient-facts.js';
import { Suppressions, type SuppressionScope } from './suppressions.js';

const CONTACT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Contacts with their addresses, consent, inbound times and groups. Every method takes one person
 * or many in the same number of statements, and takes `manager` to join the caller's transaction.
 * An unknown person becomes a contact. Contacts that one person names together are merged into the
 * oldest.
 *
 * @example
 * await contacts.optIn('+234 801 234 5678', { channel: 'whatsapp', source: 'web form' });
 * await contacts.optOut('ada@example.com', { channel: 'email', category: 'marketing', source: 'link' });
 */
@Injectable()
export class ContactsService {
  readonly groups: ContactGroups;
  readonly #database: StoreDatabase;
  readonly #store: ContactStore;
  readonly #suppressions: Suppressions;
  readonly #erasure: Erasure;
  readonly #csv: ContactCsv;

  constructor(
    @Inject(MessageStore) { database }: MessageStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(RecipientFactsReader) private readonly facts: RecipientFactsReader,
    @Inject(ChannelRegistry) private readonly registry: ChannelRegistry,
  ) {
    this.#database = database;
    this.#store = new ContactStore(database.dialect, clock);
    this.#suppressions = new Suppressions(database.dialect);
    this.#erasure = new Erasure(database.dialect, registry, this.#store, this.#suppressions);
    this.#csv = new ContactCsv(registry);
    this.groups = new ContactGroups(database, this.#store, clock, () => facts.wrote());
  }

  /** Creates contacts or adds data to existing ones. @returns the contacts in the order given */
  async upsert(
    contacts: NewContact | readonly NewContact[],
    options: ContactOptions = {},
  ): Promise<Contact[]> {
    const identities = identitiesOf(asArray(contacts), 'contacts');
    const tenant = tenantOf(options);
    return this.#in(options, async (tx) => {
      const ids = await this.#store.resolve(tx, tenant, identities);
      await this.#store.putFirst(tx, tenant, identities);
      const views = await this.#store.views(tx, ids);
      return ids.map((id) => views.get(id) as Contact);
    });
  }

  /** `undefined`: no contact has the address. */
  async find(person: Person, options: ContactOptions = {}): Promise<Contact | undefined> {
    const sql = readerOf(this.#database, options);
    const id = await this.#idOf(sql, person, tenantOf(options));
    return id === undefined ? undefined : (await this.#store.views(sql, [id])).get(id);
  }

  /** Finds a contact by its id. `undefined`: the tenant has no such contact. */
  async get(id: string, options: ContactOptions = {}): Promise<Contact | undefined> {
    if (!CONTACT_ID.test(id)) return undefined;
    const found = (await this.#store.views(readerOf(this.#database, options), [id])).get(id);
    return found?.tenant === tenantOf(options) ? found : undefined;
  }

  /** Lists contacts, oldest first. */
  async list(options: ContactListOptions = {}): Promise<Page<Contact>> {
    const { cursor } = options;
    const limit = limitOf(options);
    const sql = readerOf(this.#database, options);
    const after = cursor === undefined ? [] : [decodeCursor(cursor, 'uuid')];
    const rows = await sql.all<{ id: string }>(
      `SELECT id FROM messaging_contact WHERE tenant = ? ${cursor === undefined ? '' : 'AND id > ?'} ORDER BY id LIMIT ?`,
      [tenantOf(options), ...after, limit + 1],
    );
    const ids = rows.slice(0, limit).map(({ id }) => id);
    const views = await this.#store.views(sql, ids);
    return {
      // A contact that is erased between the two reads is left out.
      data: ids.flatMap((id) => views.get(id) ?? []),
      nextCursor: rows.length > limit ? encodeCursor(ids.at(-1) as string) : null,
    };
  }

  /** Records consent for messages on this channel, or for one category of it. */
  optIn(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_in');
  }

  /**
   * Records a refusal. Messages of that channel and category are no longer sent, also those already
   * accepted.
   */
  optOut(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_out');
  }

  /** Every consent given and withdrawn, oldest first. */
  async consentHistory(person: Person, options: ContactOptions = {}): Promise<ConsentEntry[]> {
    const sql = readerOf(this.#database, options);
    const id = await this.#idOf(sql, person, tenantOf(options));
    return id === undefined ? [] : this.#store.consents.history(sql, id);
  }

  /**
   * Records an inbound message of the person to `sender`, which opens a WhatsApp service window.
   * @param inbound `at`: a time in the future counts as now. @default now
   */
  async recordInbound(
    person: Person,
    inbound: { readonly sender: string; readonly at?: Date },
    options: ContactOptions = {},
  ): Promise<void> {
    const { sender } = inbound;
    if (!isText(sender, 255) || sender === '')
      throw invalid('sender', 'must be the number written to');
    const at = this.#past(inbound.at);
    const identities = identitiesOf([person], 'person');
    const tenant = tenantOf(options);
    await this.#in(options, async (tx) => {
      const [contact = ''] = await this.#store.resolve(tx, tenant, identities);
      await this.#store.inbound.record(tx, [{ contact, sender, at }]);
    });
  }

  /** Suppresses addresses: they receive no messages, regardless of consent. */
  async suppress(
    recipients: string | Address | readonly (string | Address)[],
    options: SuppressOptions & { readonly reason: string },
  ): Promise<void> {
    const { reason } = options;
    if (!isText(reason, 255)) throw invalid('reason', 'must be at most 255 characters');
    const addresses = addressKeysOf(recipients);
    const [tenant, scope, at] = [tenantOf(options), this.#scopeOf(options), this.clock.now()];
    await this.#in(options, (tx) =>
      this.#suppressions.add(tx, tenant, addresses, scope, { reason, at }),
    );
  }

  /** Removes the entry of a `suppress()` with the same channel and category. */
  async unsuppress(
    recipients: string | Address | readonly (string | Address)[],
    options: SuppressOptions = {},
  ): Promise<void> {
    const addresses = addressKeysOf(recipients);
    const [tenant, scope] = [tenantOf(options), this.#scopeOf(options)];
    await this.#in(options, (tx) => this.#suppressions.remove(tx, tenant, addresses, scope));
  }

  /** The suppression list, ordered by address. */
  async suppressions(options: ContactListOptions = {}): Promise<Page<SuppressionEntry>> {
    return this.#suppressions.list(readerOf(this.#database, options), tenantOf(options), options);
  }

  /**
   * Erases a person: the contact with its history and groups, and its addresses in messages and
   * reports of ended batches; counts stay. Refusals stay on the suppression list as `opted_out`
   * until the person opts in again. Open batches keep the address until they end: the result counts
   * them. Repeated calls are safe.
   */
  async erase(person: Person, options: ContactOptions = {}): Promise<ErasureResult> {
    const addresses = identitiesOf([person], 'person').flatMap((one) => one.addresses);
    const tenant = tenantOf(options);
    return this.#in(options, (tx) => this.#erasure.erase(tx, tenant, addresses, this.clock.now()));
  }

  /**
   * Imports contacts from a CSV stream, a few hundred rows at a time. Columns: `phone`, `email`,
   * `platform` (several addresses of one kind separated by ` ; `), `name`, and consent for each
   * channel (`whatsapp`: `opted_in`, `opted_out` or empty; `whatsapp_at`; `whatsapp_source`) and
   * category (`whatsapp_marketing` and so on). A channel with the name of an address kind has
   * `email_consent`. Bad rows are skipped and reported. An `opted_in` without a time does not
   * overrule a refusal: a repeated import of one file undoes no STOP, only adds to the history.
   *
   * @throws MessageValidationError where the file is not CSV or its header is unknown; rows before
   *   that stay
   */
  importCsv(
    source: Readable | AsyncIterable<string | Uint8Array> | Iterable<string>,
    options: Pick<ContactOptions, 'tenant'> = {},
  ): Promise<CsvImport> {
    const tenant = tenantOf(options);
    return this.#csv.read(Readable.from(source), this.clock.now(), (rows) =>
      this.#in({}, (tx) => this.#importRows(tx, tenant, rows)),
    );
  }

  /**
   * The tenant's contacts as CSV for `importCsv()`, streamed. Spreadsheets read no cell as a
   * formula.
   */
  exportCsv(options: Pick<ContactOptions, 'tenant'> = {}): Readable {
    return this.#csv.write(this.#all(options));
  }

  async *#all(options: Pick<ContactOptions, 'tenant'>): AsyncGenerator<Contact> {
    let cursor: string | null = null;
    do {
      const page: Page<Contact> = await this.list({
        ...options,
        limit: 1_000,
        ...(cursor !== null && { cursor }),
      });
      yield* page.data;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  async #importRows(tx: Sql, tenant: string, rows: readonly CsvContact[]): Promise<void> {
    const identities = rows.map(({ identity }) => identity);
    const ids = await this.#store.resolve(tx, tenant, identities);
    await this.#store.putFirst(tx, tenant, identities);
    const given = rows.flatMap(({ consents }, n) =>
      consents.map((consent) => ({ ...consent, contact: ids[n] as string })),
    );
    const refused = [
      ...(await this.#store.consents.refused(tx, ids)),
      ...given.filter(({ state }) => state === 'opted_out'),
    ];
    const refusals = new Map<string, ConsentScope[]>();
    for (const one of refused)
      refusals.set(one.contact, [...(refusals.get(one.contact) ?? []), one]);
    const counts = given.filter(
      (one) =>
        one.timed ||
        one.state === 'opted_out' ||
        !refusals.get(one.contact)?.some((refusal) => overlap(one, refusal)),
    );
    // The start time of the import would be older than consents recorded since then.
    await this.#store.consents.record(tx, counts, this.clock.now());
  }

  async #consent(
    people: Person | readonly Person[],
    options: ConsentOptions,
    state: ConsentState,
  ): Promise<void> {
    const { channel, category = EVERY, source, evidence = null } = options;
    const errors: FieldError[] = [];
    if ((channel as string) === EVERY)
      errors.push({ path: 'channel', message: 'must be one channel' });
    checkScope(this.registry, { channel, category }, errors);
    if (!isText(source, 255) || source === '')
      errors.push({ path: 'source', message: 'must say where it was given' });
    if (evidence !== null && !isText(evidence, 10_000))
      errors.push({ path: 'evidence', message: 'must be at most 10000 characters' });
    if (errors.length > 0) throw new MessageValidationError(errors);
    const at = this.#past(options.at);
    const identities = identitiesOf(asArray(people), 'people');
    const tenant = tenantOf(options);
    await this.#in(options, async (tx) => {
      const ids = await this.#store.resolve(tx, tenant, identities);
      const consent = { channel, category, state, at, source, evidence };
      await this.#store.consents.record(
        tx,
        [...new Set(ids)].map((contact) => ({ contact, ...consent })),
        this.clock.now(),
      );
    });
  }

  /** @throws MessageValidationError on `channel`, `category` */
  #scopeOf({ channel = EVERY, category = EVERY }: SuppressOptions): SuppressionScope {
    const errors: FieldError[] = [];
    checkScope(this.registry, { channel, category }, errors);
    if (errors.length > 0) throw new MessageValidationError(errors);
    return { channel, category };
  }

  /** Epoch milliseconds; a time in the future becomes now. */
  #past(at: Date | undefined): number {
    const now = this.clock.now();
    if (at === undefined) return now;
    if (!(at instanceof Date) || Number.isNaN(at.getTime()))
      throw invalid('at', 'must be a valid date');
    return Math.min(at.getTime(), now);
  }

  async #idOf(sql: Pick<Sql, 'all'>, person: Person, tenant: string): Promise<string | undefined> {
    const addresses = identitiesOf([person], 'person').flatMap((one) => one.addresses);
    const found = await this.#store.find(sql, tenant, addresses);
    return found.get(addresses.find((address) => found.has(address)) ?? '');
  }

  async #in<T>(options: ContactOptions, work: (tx: Sql) => Promise<T>): Promise<T> {
    try {
      return await within(this.#database, options, work);
    } finally {
      this.facts.wrote();
    }
  }
}

function overlap(one: ConsentScope, other: ConsentScope): boolean {
  if (one.channel !== other.channel) return false;
  return one.category === other.category || [one.category, other.category].includes(EVERY);
}
