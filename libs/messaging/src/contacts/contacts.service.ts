import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ADDRESS_KINDS, type Recipients } from '../message/address.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError, validated } from '../message/errors.js';
import { formsOf } from '../message/phone-identity.js';
import type { Page } from '../message/views.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import type { Sql } from '../store/database/store-database.js';
import { isRefusal, overlap } from './consent.js';
import type {
  ConsentEntry,
  ConsentOptions,
  ConsentScope,
  ConsentState,
  Contact,
  ContactListOptions,
  ContactOptions,
  ErasureResult,
  NewContact,
  Person,
  SuppressionEntry,
  SuppressionListOptions,
  SuppressOptions,
} from './contact.js';
import { ContactCsv, type CsvContact, type CsvImport } from './contact-csv.js';
import {
  addressKeysOf,
  checkScope,
  checkText,
  EVERY,
  identitiesOf,
  invalid,
  tenantOf,
} from './contact-input.js';
import { ContactStore } from './contact-store.js';
import { contactOf, groupedBy } from './contact-tables.js';
import { ContactGroups } from './groups.js';
import { REFUSED } from './suppressions.js';

const CONTACT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Contacts with addresses, consent, inbound times and groups. Every method takes one person or many
 * in the same number of statements, and `manager` to join the caller's transaction. An unknown
 * person becomes a contact; contacts that one person names together are merged into the oldest.
 * @example
 * await contacts.optIn('+234 801 234 5678', { channel: 'whatsapp', source: 'web form' });
 * await contacts.optOut(email, { channel: 'email', category: 'marketing', source: 'link' });
 */
@Injectable()
export class ContactsService {
  readonly groups: ContactGroups;
  readonly #csv: ContactCsv;

  /** @internal */
  constructor(
    @Inject(ContactStore) private readonly store: ContactStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(ChannelRegistry) private readonly registry: ChannelRegistry,
  ) {
    this.#csv = new ContactCsv(registry);
    this.groups = new ContactGroups(store, clock);
  }

  /** Creates contacts or adds data to existing ones. @returns the contacts in the order given */
  async upsert(
    contacts: NewContact | readonly NewContact[],
    options: ContactOptions = {},
  ): Promise<Contact[]> {
    const identities = identitiesOf(contacts, 'contacts');
    return this.store.write(options, async (tx, tenant) => {
      const ids = await this.store.resolve(tx, tenant, identities);
      await this.store.putFirst(tx, tenant, identities, ids);
      return this.store.views(tx, ids);
    });
  }

  /** `undefined`: no contact has the address. */
  async find(person: Person, options: ContactOptions = {}): Promise<Contact | undefined> {
    const sql = this.store.reader(options);
    const [contact] = await this.store.views(sql, await this.#idsOf(sql, person, options));
    return contact;
  }

  /** Finds a contact by its id. `undefined`: the tenant has no such contact. */
  async get(id: string, options: ContactOptions = {}): Promise<Contact | undefined> {
    if (!CONTACT_ID.test(id)) return undefined;
    const [contact] = await this.store.views(this.store.reader(options), [id]);
    return contact?.tenant === tenantOf(options) ? contact : undefined;
  }

  /** Lists contacts, oldest first. */
  async list(options: ContactListOptions = {}): Promise<Page<Contact>> {
    return this.store.page('contact', tenantOf(options), options);
  }

  /** Records consent for messages on this channel, or for one category of it. */
  optIn(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_in');
  }

  /** Records a refusal: such messages are no longer sent, also those already accepted. */
  optOut(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_out');
  }

  /** Every consent given and withdrawn, oldest first. */
  async consentHistory(person: Person, options: ContactOptions = {}): Promise<ConsentEntry[]> {
    const sql = this.store.reader(options);
    return this.store.consents.history(sql, await this.#idsOf(sql, person, options));
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
    validated((errors) => checkText(sender, 'sender', errors, { least: 1 }));
    const last_at = this.#past(inbound.at);
    const identities = identitiesOf(person, 'person');
    await this.store.write(options, async (tx, tenant) => {
      const [contact = ''] = await this.store.resolve(tx, tenant, identities);
      await this.store.recordInbound(tx, [{ contact, sender, last_at }]);
    });
  }

  /**
   * Suppresses addresses: they receive no messages, regardless of consent. An entry with the reason
   * `unsubscribe` is the person's own and ends with a younger opt-in; any other one stays until
   * {@link unsuppress}.
   */
  async suppress(
    recipients: Recipients,
    options: SuppressOptions & {
      readonly reason: string;
      /** Id of the message that was the reason. @default none */
      readonly messageId?: string;
    },
  ): Promise<void> {
    const { reason, messageId: message = null } = options;
    validated((errors) => checkText(reason, 'reason', errors));
    if (message !== null) validated((errors) => checkText(message, 'messageId', errors));
    const entry = { ...this.#scopeOf(options), reason, at: this.clock.now(), message };
    const written = identitiesOf(recipients, 'recipients').flatMap((one) => one.written);
    await this.store.write(options, (tx, tenant) => {
      const rows = [...new Set(written)].map((address) => ({ ...entry, tenant, address }));
      return this.store.suppressions.add(tx, rows);
    });
  }

  /** Removes the entry of a `suppress()` with the same channel and category. */
  async unsuppress(recipients: Recipients, options: SuppressOptions = {}): Promise<void> {
    const addresses = addressKeysOf(recipients, 'recipients');
    const scope = this.#scopeOf(options);
    await this.store.write(options, async (tx, tenant) => {
      const all = [...(await this.store.learnt.sameAs(tx, tenant, addresses)).values()].flat();
      await this.store.suppressions.remove(tx, tenant, [...new Set(all)], scope);
    });
  }

  /** The suppression list, ordered by address. */
  async suppressions(options: SuppressionListOptions = {}): Promise<Page<SuppressionEntry>> {
    const { channel, address } = options;
    const [key] = address === undefined ? [] : addressKeysOf(address, 'address');
    const kinds =
      channel === undefined ? undefined : (this.registry.find(channel)?.addressKinds ?? []);
    return this.store.suppressions.list(this.store.reader(options), options, { key, kinds });
  }

  /**
   * Erases a person, also without a contact: the contact with its history and groups, its addresses
   * in messages and reports, and content that was sent to this person alone; counts stay. What is
   * queued for the person is cancelled. A message in flight keeps the address until it has ended:
   * the result counts such batches, and a job erases them. Suppressions and refusals stay as keyed
   * digests, refusals until the person opts in again. Repeated calls are safe. With `manager`, all
   * messages of the tenant are searched within that transaction.
   * @throws MessagingConfigError without the option `erasure.keys`
   */
  async erase(person: Person, options: ContactOptions = {}): Promise<ErasureResult> {
    const identities = identitiesOf(person, 'person');
    const { tables, consents, suppressions, digests, erasures, database, learnt } = this.store;
    if (!digests.enabled)
      throw new MessagingConfigError(
        'erasure.keys: is missing, so a refusal could not outlive its contact; make a key with: openssl rand -base64 32',
      );
    const ids = await this.store.write(options, async (tx, tenant) => {
      // The lock makes a concurrent refusal wait until the contact is deleted.
      const contacts = await this.store.resolve(tx, tenant, identities);
      const own = await tables.of(tx, 'contact_address', contacts);
      const refused = (await consents.current(tx, contacts)).filter(isRefusal);
      const at = this.clock.now();
      const kept = refused.flatMap(({ channel, category }) => {
        const kinds: readonly string[] = this.registry.find(channel)?.addressKinds ?? ADDRESS_KINDS;
        const reached = own.filter(({ kind }) => kinds.includes(kind));
        return reached.map(({ address }) => {
          return { tenant, address, channel, category, reason: REFUSED, at, message: null };
        });
      });
      const addresses = own.map(({ address }) => address);
      await suppressions.add(tx, kept);
      await suppressions.conceal(tx, tenant, await learnt.sameAs(tx, tenant, addresses));
      await learnt.forget(tx, tenant, addresses);
      await this.store.remove(tx, contacts);
      const formers = own.flatMap(({ address, written }) =>
        written === null || formsOf(address).includes(written) ? [] : [written],
      );
      return erasures.begin(tx, tenant, [...addresses, ...formers]);
    });
    return erasures.run(ids, database.callersTransaction(options.manager));
  }

  /**
   * Imports contacts from a CSV stream, a few hundred rows at a time; bad rows are skipped and
   * reported. Columns: `phone`, `email`, `platform`, `name`, and consent by channel (`whatsapp`:
   * `opted_in` or `opted_out`, `whatsapp_at`, `whatsapp_source`) and category
   * (`whatsapp_marketing`); see docs/policy.md. An `opted_in` without a time overrules no refusal.
   * @throws MessageValidationError for an unknown header or no CSV; earlier rows stay
   */
  importCsv(
    source: Readable | AsyncIterable<string | Uint8Array> | Iterable<string>,
    options: Pick<ContactOptions, 'tenant'> = {},
  ): Promise<CsvImport> {
    const scope = { tenant: tenantOf(options) };
    return this.#csv.read(Readable.from(source), this.clock.now(), (rows) =>
      this.store.write(scope, (tx, tenant) => this.#importRows(tx, tenant, rows)),
    );
  }

  /** The contacts as CSV for `importCsv()`, streamed. Spreadsheets read no cell as a formula. */
  exportCsv(options: Pick<ContactOptions, 'tenant'> = {}): Readable {
    return this.#csv.write(this.#all(options));
  }

  async *#all(options: ContactListOptions): AsyncGenerator<Contact> {
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page: Page<Contact> = await this.list({ ...options, limit: 1_000, cursor });
      yield* page.data;
      cursor = page.nextCursor;
      // On SQLite nothing else here waits.
      await turn();
    }
  }

  async #importRows(tx: Sql, tenant: string, rows: readonly CsvContact[]): Promise<void> {
    const { consents, suppressions } = this.store;
    const identities = rows.map(({ identity }) => identity);
    const ids = await this.store.resolve(tx, tenant, identities);
    await this.store.putFirst(tx, tenant, identities, ids);
    const given = rows.flatMap((row, n) =>
      row.consents.map((one) => ({ ...one, contact: ids[n] as string })),
    );
    const refused = [
      ...(await consents.current(tx, ids)).filter(isRefusal),
      ...(await suppressions.outlived(tx, ids)),
      ...given.filter(isRefusal),
    ];
    const refusals = groupedBy(refused, contactOf);
    const counts = given.filter(
      (one) =>
        one.timed ||
        isRefusal(one) ||
        !refusals.get(one.contact)?.some((refusal) => overlap(one, refusal)),
    );
    // The start time of the import would be older than consents recorded since then.
    await consents.record(tx, counts, this.clock.now());
  }

  async #consent(
    people: Person | readonly Person[],
    options: ConsentOptions,
    state: ConsentState,
  ): Promise<void> {
    const { channel, category = EVERY, source, evidence = null } = options;
    validated((errors) => {
      if ((channel as string) === EVERY)
        errors.push({ path: 'channel', message: 'must be one channel' });
      checkScope(this.registry, { channel, category }, errors);
      checkText(source, 'source', errors, { least: 1 });
      if (evidence !== null) checkText(evidence, 'evidence', errors, { most: 10_000 });
    });
    const at = this.#past(options.at);
    const identities = identitiesOf(people, 'people');
    const consent = { channel, category, state, at, source, evidence };
    await this.store.write(options, async (tx, tenant) => {
      const ids = new Set(await this.store.resolve(tx, tenant, identities));
      const consents = [...ids].map((contact) => ({ contact, ...consent }));
      await this.store.consents.record(tx, consents, this.clock.now());
    });
  }

  /** @throws MessageValidationError on `channel`, `category` */
  #scopeOf({ channel = EVERY, category = EVERY }: SuppressOptions): ConsentScope {
    const scope = { channel, category };
    validated((errors) => checkScope(this.registry, scope, errors));
    return scope;
  }

  /** Epoch milliseconds; a time in the future becomes now. */
  #past(at: Date | undefined): number {
    const now = this.clock.now();
    if (at === undefined) return now;
    if (!(at instanceof Date) || Number.isNaN(at.getTime()))
      throw invalid('at', 'must be a valid date');
    return Math.min(at.getTime(), now);
  }

  /** The id of the contact with the first known address of the person, if there is one. */
  async #idsOf(
    sql: Pick<Sql, 'all'>,
    person: Person,
    options: ContactOptions,
  ): Promise<readonly string[]> {
    const addresses = addressKeysOf(person, 'person');
    const found = await this.store.find(sql, tenantOf(options), addresses);
    return addresses.flatMap((address) => found.get(address)?.contact ?? []).slice(0, 1);
  }
}
