import { Inject, Injectable } from '@nestjs/common';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import type { Channel } from '../message/message.js';
import type { Page } from '../message/views.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { decodeCursor, encodeCursor } from '../ledger/cursor.js';
import { Ledger } from '../ledger/ledger.js';
import type { Sql } from '../ledger/ledger-database.js';
import { Consents } from './consents.js';
import type {
  ConsentEntry,
  ConsentOptions,
  ConsentState,
  Contact,
  ContactOptions,
  NewContact,
  Person,
  SuppressionEntry,
} from './contact.js';
import { ContactGroups } from './contact-groups.js';
import { type ContactRow, ContactStore } from './contact-store.js';
import { ContactViews } from './contact-views.js';
import { Erasure, type ErasureResult } from './erasure.js';
import { InboundTimes } from './inbound-times.js';
import { identitiesOf, isText, numbersOf, tenantOf } from './person.js';
import { RecipientFactsReader } from './recipient-facts.js';
import { Suppressions } from './suppressions.js';

export interface ContactListOptions extends ContactOptions {
  readonly cursor?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}

export interface SuppressOptions extends ContactOptions {
  /** @default '*', every channel */
  readonly channel?: Channel | '*';
}

const CONTACT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CHANNELS: readonly string[] = ['sms', 'whatsapp', 'email', 'voice', 'vas'];

/**
 * Who they are, what they consented to and when they last wrote. Every method takes one person or
 * many, in the same number of statements, and `manager` to be part of the caller's transaction.
 *
 * @example
 * await contacts.optIn('+234 801 234 5678', { channel: 'whatsapp', source: 'web form' });
 * await contacts.optOut('+234 801 234 5678', { channel: 'sms', source: 'keyword', evidence: 'STOP' });
 */
@Injectable()
export class ContactsService {
  readonly groups: ContactGroups;
  readonly #store: ContactStore;
  readonly #views: ContactViews;
  readonly #consents: Consents;
  readonly #inbound: InboundTimes;
  readonly #suppressions: Suppressions;
  readonly #erasure: Erasure;

  constructor(
    @Inject(Ledger) private readonly ledger: Ledger,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(RecipientFactsReader) private readonly facts: RecipientFactsReader,
  ) {
    const { database } = ledger;
    this.#store = new ContactStore(database.dialect, clock);
    this.#views = new ContactViews(database.dialect);
    this.#consents = new Consents(database.dialect);
    this.#inbound = new InboundTimes(database.dialect);
    this.#suppressions = new Suppressions(database);
    this.#erasure = new Erasure(database.dialect, this.#suppressions);
    this.groups = new ContactGroups(database, this.#store, clock, () => facts.somebody());
  }

  /** Makes contacts or adds to what is known of them; in the order given. */
  async upsert(
    contacts: NewContact | readonly NewContact[],
    options: ContactOptions = {},
  ): Promise<Contact[]> {
    const identities = identitiesOf(asArray(contacts), 'contacts');
    const tenant = tenantOf(options);
    return this.#in(options, async (tx) => {
      const ids = await this.#store.resolve(tx, tenant, identities);
      const views = await this.#views.byIds(tx, ids);
      return ids.map((id) => views.get(id) as Contact);
    });
  }

  /** `undefined`: nobody we know. */
  async find(person: Person, options: ContactOptions = {}): Promise<Contact | undefined> {
    const reader = this.#reader(options);
    const row = await this.#row(reader, person, tenantOf(options));
    return row && (await this.#views.byIds(reader, [row.id])).get(row.id);
  }

  /** By the id its views give; `undefined`: none of this tenant's. */
  async get(id: string, options: ContactOptions = {}): Promise<Contact | undefined> {
    if (!CONTACT_ID.test(id)) return undefined;
    const found = (await this.#views.byIds(this.#reader(options), [id])).get(id);
    return found?.tenant === tenantOf(options) ? found : undefined;
  }

  /** Oldest first. */
  async list(options: ContactListOptions = {}): Promise<Page<Contact>> {
    const { cursor, limit = 100 } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
      throw new MessageValidationError([{ path: 'limit', message: 'must be 1 to 1000' }]);
    const reader = this.#reader(options);
    const after = cursor === undefined ? [] : [decodeCursor(cursor, 'uuid')];
    const rows = await reader.all<{ id: string }>(
      `SELECT id FROM messaging_contact WHERE tenant = ? ${cursor === undefined ? '' : 'AND id > ?'} ORDER BY id LIMIT ?`,
      [tenantOf(options), ...after, limit + 1],
    );
    const ids = rows.slice(0, limit).map(({ id }) => id);
    const views = await this.#views.byIds(reader, ids);
    return {
      data: ids.map((id) => views.get(id) as Contact),
      nextCursor: rows.length > limit ? encodeCursor(ids.at(-1) as string) : null,
    };
  }

  /** They want messages on this channel. */
  optIn(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_in');
  }

  /** They want no more messages on this channel: nothing that has not left yet leaves. */
  optOut(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_out');
  }

  /** Every consent they gave and took back, oldest first. */
  async consentHistory(person: Person, options: ContactOptions = {}): Promise<ConsentEntry[]> {
    const reader = this.#reader(options);
    const row = await this.#row(reader, person, tenantOf(options));
    return row ? this.#consents.history(reader, row.id) : [];
  }

  /**
   * They wrote to `sender`: a WhatsApp service window opens.
   * @param inbound `at`: when; a time to come counts as now. @default now
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
      await this.#inbound.record(tx, [{ contact, sender, at }]);
    });
  }

  /** Nothing is sent to these numbers, whoever has them. */
  async suppress(
    recipients: string | readonly string[],
    options: SuppressOptions & { readonly reason: string },
  ): Promise<void> {
    const { reason } = options;
    if (!isText(reason, 255)) throw invalid('reason', 'must be at most 255 characters');
    const numbers = numbersOf(asArray(recipients));
    const entry = { channel: channelOf(options), reason, at: this.clock.now() };
    const tenant = tenantOf(options);
    await this.#in(options, (tx) => this.#suppressions.add(tx, tenant, numbers, entry));
  }

  /** Takes back a `suppress()` with the same channel. */
  async unsuppress(
    recipients: string | readonly string[],
    options: SuppressOptions = {},
  ): Promise<void> {
    const numbers = numbersOf(asArray(recipients));
    const [tenant, channel] = [tenantOf(options), channelOf(options)];
    await this.#in(options, (tx) => this.#suppressions.remove(tx, tenant, numbers, channel));
  }

  /** The suppression list, by number. */
  async suppressions(options: ContactListOptions = {}): Promise<Page<SuppressionEntry>> {
    return this.#suppressions.list(this.#reader(options), tenantOf(options), options);
  }

  /**
   * Forgets a person: the contact, its history and groups, and the number in messages and reports of
   * batches that have ended; the counts stay. What they refused stays on the suppression list, or
   * they would be written to again. Batches that have not ended keep the number until they have: the
   * answer says how many, and the call is repeatable.
   */
  async erase(person: Person, options: ContactOptions = {}): Promise<ErasureResult> {
    const identities = identitiesOf([person], 'person');
    const tenant = tenantOf(options);
    return this.#in(options, async (tx) => {
      const row = (await this.#store.lookUp(tx, tenant, identities)).of(identities[0]!);
      const phone = row?.phone ?? identities[0]?.phone ?? null;
      return this.#erasure.erase(tx, tenant, row?.id, phone, this.clock.now());
    });
  }

  async #consent(
    people: Person | readonly Person[],
    options: ConsentOptions,
    state: ConsentState,
  ): Promise<void> {
    const { channel, source, evidence } = options;
    const errors: FieldError[] = [];
    if (!CHANNELS.includes(channel))
      errors.push({ path: 'channel', message: `must be one of ${CHANNELS.join(', ')}` });
    if (!isText(source, 255) || source === '')
      errors.push({ path: 'source', message: 'must say where it was given' });
    if (evidence !== undefined && !isText(evidence, 10_000))
      errors.push({ path: 'evidence', message: 'must be at most 10000 characters' });
    if (errors.length > 0) throw new MessageValidationError(errors);
    const at = this.#past(options.at);
    const identities = identitiesOf(asArray(people), 'people');
    const tenant = tenantOf(options);
    await this.#in(options, async (tx) => {
      const ids = await this.#store.resolve(tx, tenant, identities);
      const consent = { channel, state, at, source, evidence: evidence ?? null };
      await this.#consents.record(
        tx,
        [...new Set(ids)].map((contact) => ({ contact, ...consent })),
        this.clock.now(),
      );
    });
  }

  /** Clocks of others may be ahead; nothing has happened in the time to come. */
  #past(at: Date | undefined): number {
    const now = this.clock.now();
    if (at === undefined) return now;
    if (!(at instanceof Date) || Number.isNaN(at.getTime()))
      throw invalid('at', 'must be a valid date');
    return Math.min(at.getTime(), now);
  }

  async #row(
    reader: Pick<Sql, 'all'>,
    person: Person,
    tenant: string,
  ): Promise<ContactRow | undefined> {
    const identities = identitiesOf([person], 'person');
    return (await this.#store.lookUp(reader, tenant, identities)).of(identities[0]!);
  }

  #reader({ manager }: ContactOptions): Pick<Sql, 'all'> {
    const { database } = this.ledger;
    return manager ? database.join(manager) : database;
  }

  async #in<T>({ manager }: ContactOptions, work: (tx: Sql) => Promise<T>): Promise<T> {
    const { database } = this.ledger;
    try {
      return await (manager ? work(database.join(manager)) : database.transaction(work));
    } finally {
      this.facts.somebody();
    }
  }
}

function asArray<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

function channelOf({ channel = '*' }: SuppressOptions): string {
  if (channel !== '*' && !CHANNELS.includes(channel))
    throw invalid('channel', `must be * or one of ${CHANNELS.join(', ')}`);
  return channel;
}

function invalid(path: string, message: string): MessageValidationError {
  return new MessageValidationError([{ path, message }]);
}
