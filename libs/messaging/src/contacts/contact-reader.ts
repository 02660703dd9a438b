import type { Readable } from 'node:stream';
import { MessageValidationError } from '../message/errors.js';
import type { Page } from '../message/views.js';
import type { Clock } from '../ports/clock.js';
import { decodeCursor, encodeCursor } from '../store/cursor.js';
import type { StoreDatabase, Sql } from '../store/store-database.js';
import { Consents } from './consents.js';
import type {
  ConsentEntry,
  Contact,
  ContactListOptions,
  ContactOptions,
  Person,
  SuppressionEntry,
} from './contact.js';
import { exportContacts } from './contact-csv.js';
import { type ContactRow, ContactStore } from './contact-store.js';
import { ContactViews } from './contact-views.js';
import { identitiesOf, tenantOf } from './person.js';
import { Suppressions } from './suppressions.js';

const CONTACT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What is known of people, read back. */
export abstract class ContactReader {
  protected readonly store: ContactStore;
  protected readonly views: ContactViews;
  protected readonly consents: Consents;
  protected readonly suppressed: Suppressions;

  constructor(
    protected readonly database: StoreDatabase,
    clock: Clock,
  ) {
    this.store = new ContactStore(database.dialect, clock);
    this.views = new ContactViews(database.dialect);
    this.consents = new Consents(database.dialect);
    this.suppressed = new Suppressions(database);
  }

  /** `undefined`: nobody we know. */
  async find(person: Person, options: ContactOptions = {}): Promise<Contact | undefined> {
    const reader = this.reader(options);
    const row = await this.#row(reader, person, tenantOf(options));
    return row && (await this.views.byIds(reader, [row.id])).get(row.id);
  }

  /** By the id its views give; `undefined`: none of this tenant's. */
  async get(id: string, options: ContactOptions = {}): Promise<Contact | undefined> {
    if (!CONTACT_ID.test(id)) return undefined;
    const found = (await this.views.byIds(this.reader(options), [id])).get(id);
    return found?.tenant === tenantOf(options) ? found : undefined;
  }

  /** Oldest first. */
  async list(options: ContactListOptions = {}): Promise<Page<Contact>> {
    const { cursor, limit = 100 } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
      throw new MessageValidationError([{ path: 'limit', message: 'must be 1 to 1000' }]);
    const reader = this.reader(options);
    const after = cursor === undefined ? [] : [decodeCursor(cursor, 'uuid')];
    const rows = await reader.all<{ id: string }>(
      `SELECT id FROM messaging_contact WHERE tenant = ? ${cursor === undefined ? '' : 'AND id > ?'} ORDER BY id LIMIT ?`,
      [tenantOf(options), ...after, limit + 1],
    );
    const ids = rows.slice(0, limit).map(({ id }) => id);
    const views = await this.views.byIds(reader, ids);
    return {
      // Who is erased in between is none.
      data: ids.flatMap((id) => views.get(id) ?? []),
      nextCursor: rows.length > limit ? encodeCursor(ids.at(-1) as string) : null,
    };
  }

  /** Every consent they gave and took back, oldest first. */
  async consentHistory(person: Person, options: ContactOptions = {}): Promise<ConsentEntry[]> {
    const reader = this.reader(options);
    const row = await this.#row(reader, person, tenantOf(options));
    return row ? this.consents.history(reader, row.id) : [];
  }

  /** The suppression list, by number. */
  async suppressions(options: ContactListOptions = {}): Promise<Page<SuppressionEntry>> {
    return this.suppressed.list(this.reader(options), tenantOf(options), options);
  }

  /** The tenant's contacts as CSV that `importCsv()` reads back, read as it is consumed. No cell is a formula. */
  exportCsv(options: Pick<ContactOptions, 'tenant'> = {}): Readable {
    return exportContacts(this.#all(options));
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

  async #row(
    reader: Pick<Sql, 'all'>,
    person: Person,
    tenant: string,
  ): Promise<ContactRow | undefined> {
    const identities = identitiesOf([person], 'person');
    return (await this.store.lookUp(reader, tenant, identities)).of(identities[0]!);
  }

  protected reader({ manager }: ContactOptions): Pick<Sql, 'all'> {
    const { database } = this;
    return manager ? database.join(manager) : database;
  }
}
