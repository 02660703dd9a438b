import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { MessageStore } from '../store/message-store.js';
import type { Sql } from '../store/store-database.js';
import type {
  ConsentOptions,
  ConsentState,
  Contact,
  ContactOptions,
  NewContact,
  Person,
  SuppressOptions,
} from './contact.js';
import { type CsvImport, importContacts } from './contact-csv.js';
import { ContactGroups } from './contact-groups.js';
import { asArray, CHANNELS, channelOf, invalid } from './contact-input.js';
import { ContactReader } from './contact-reader.js';
import { Erasure, type ErasureResult } from './erasure.js';
import { InboundTimes } from './inbound-times.js';
import { type Identity, identitiesOf, isText, numbersOf, tenantOf } from './person.js';
import { RecipientFactsReader } from './recipient-facts.js';

/**
 * Who they are, what they consented to and when they last wrote. Every method takes one person or
 * many, in the same number of statements, and `manager` to be part of the caller's transaction.
 *
 * @example
 * await contacts.optIn('+234 801 234 5678', { channel: 'whatsapp', source: 'web form' });
 * await contacts.optOut('+234 801 234 5678', { channel: 'sms', source: 'keyword', evidence: 'STOP' });
 */
@Injectable()
export class ContactsService extends ContactReader {
  readonly groups: ContactGroups;
  readonly #inbound: InboundTimes;
  readonly #erasure: Erasure;

  constructor(
    @Inject(MessageStore) { database }: MessageStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(RecipientFactsReader) private readonly facts: RecipientFactsReader,
  ) {
    super(database, clock);
    this.#inbound = new InboundTimes(database.dialect);
    this.#erasure = new Erasure(database.dialect, this.suppressed);
    this.groups = new ContactGroups(database, this.store, clock, () => facts.somebody());
  }

  /** Makes contacts or adds to what is known of them; in the order given. */
  async upsert(
    contacts: NewContact | readonly NewContact[],
    options: ContactOptions = {},
  ): Promise<Contact[]> {
    const identities = identitiesOf(asArray(contacts), 'contacts');
    const tenant = tenantOf(options);
    return this.#in(options, async (tx) => {
      const ids = await this.store.resolve(tx, tenant, identities);
      const views = await this.views.byIds(tx, ids);
      return ids.map((id) => views.get(id) as Contact);
    });
  }

  /** They want messages on this channel. */
  optIn(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_in');
  }

  /** They want no more messages on this channel: nothing that has not left yet leaves. */
  optOut(people: Person | readonly Person[], options: ConsentOptions): Promise<void> {
    return this.#consent(people, options, 'opted_out');
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
      const [contact = ''] = await this.store.resolve(tx, tenant, identities);
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
    await this.#in(options, (tx) => this.suppressed.add(tx, tenant, numbers, entry));
  }

  /** Takes back a `suppress()` with the same channel. */
  async unsuppress(
    recipients: string | readonly string[],
    options: SuppressOptions = {},
  ): Promise<void> {
    const numbers = numbersOf(asArray(recipients));
    const [tenant, channel] = [tenantOf(options), channelOf(options)];
    await this.#in(options, (tx) => this.suppressed.remove(tx, tenant, numbers, channel));
  }

  /**
   * Forgets a person: the contact, its history and groups, and the number in messages and reports of
   * batches that have ended; the counts stay. What they refused stays on the suppression list, as
   * `opted_out`, until they opt in anew, or they would be written to again. Batches that have not ended
   * keep the number until they have: the answer says how many, and the call is repeatable.
   */
  async erase(person: Person, options: ContactOptions = {}): Promise<ErasureResult> {
    const identities = identitiesOf([person], 'person');
    const tenant = tenantOf(options);
    return this.#in(options, async (tx) => {
      const [identity] = identities as [Identity];
      const seen = (await this.store.lookUp(tx, tenant, identities)).of(identity);
      const row = seen && (await this.store.hold(tx, tenant, identities)).of(identity);
      const phone = row?.phone ?? identity.phone;
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
      const ids = await this.store.resolve(tx, tenant, identities);
      const consent = { channel, state, at, source, evidence: evidence ?? null };
      await this.consents.record(
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

  async #in<T>({ manager }: ContactOptions, work: (tx: Sql) => Promise<T>): Promise<T> {
    const { database } = this;
    try {
      return await (manager ? work(database.join(manager)) : database.transaction(work));
    } finally {
      this.facts.somebody();
    }
  }

  /**
   * Reads contacts from CSV as it comes, a few hundred rows at a time: columns `phone`, `bsuid`, `name`, and
   * for each channel its consent (`whatsapp`: `opted_in`, `opted_out` or nothing), `whatsapp_at` and
   * `whatsapp_source`. A bad row is left out and told. An `opted_in` without its time is none against a
   * refusal, so that the same file again undoes no STOP: it adds to the history, and changes nothing.
   *
   * @throws MessageValidationError where it is no CSV or its header is unknown; rows before that stay
   */
  importCsv(
    source: Readable | AsyncIterable<string | Uint8Array> | Iterable<string>,
    options: Pick<ContactOptions, 'tenant'> = {},
  ): Promise<CsvImport> {
    const tenant = tenantOf(options);
    const now = this.clock.now();
    return importContacts(Readable.from(source), now, (rows) =>
      this.#in({}, async (tx) => {
        const ids = await this.store.resolve(
          tx,
          tenant,
          rows.map(({ identity }) => identity),
        );
        const refused = await this.consents.refused(tx, ids);
        const said = rows.flatMap(({ consents }, n) =>
          consents.map((consent) => ({ ...consent, contact: ids[n] as string })),
        );
        for (const { contact, channel, state } of said)
          if (state === 'opted_out') refused.add(`${contact} ${channel}`);
        const counts = said.filter(
          ({ contact, channel, state, timed }) =>
            timed || state === 'opted_out' || !refused.has(`${contact} ${channel}`),
        );
        // Not `now`: what somebody said while the file came in is not said in the time to come.
        await this.consents.record(tx, counts, this.clock.now());
      }),
    );
  }
}
