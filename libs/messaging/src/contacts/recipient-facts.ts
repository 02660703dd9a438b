import { Inject, Injectable } from '@nestjs/common';
import type { Channel } from '../message/message.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import type { RecipientFacts } from '../ports/messaging-policy.js';
import { isDataError } from '../store/database/database-errors.js';
import type { Columns } from '../store/database/dialect.js';
import { GroupCommit } from '../store/database/group-commit.js';
import type { Sql, StoreDatabase } from '../store/database/store-database.js';
import { MessageStore } from '../store/message-store.js';
import type { ConsentState } from './contact.js';
import { EVERY } from './contact-input.js';
import { groupedBy } from './contact-tables.js';

/** Recipients as address keys, and the message to each of them. */
export interface FactsQuestion {
  readonly recipients: readonly string[];
  readonly messages: readonly {
    readonly tenant: string;
    readonly channel: Channel;
    readonly sender: string;
  }[];
}

/** The recipients to read: all known ones, or only those with a refusal for the channel. */
export type FactsOf = 'known' | 'refused';

/** The rows of each recipient by its position; a recipient without rows is unknown. */
export type FactsByPlace = ReadonlyMap<number, readonly FactsRow[]>;

/** A recipient has one row per suppression and consent. */
export interface FactsRow {
  /** The recipient, or its position where recipients belong to different messages. */
  readonly recipient: string | number;
  /** Suppressed category, `*` for all of them. */
  readonly suppressed: string | null;
  readonly contact: string | null;
  readonly category: string | null;
  readonly consent: ConsentState | null;
  readonly last_at: string | number | null;
}

export const NO_FACTS: FactsByPlace = new Map();

export const UNKNOWN_RECIPIENT: RecipientFacts = {
  contact: null,
  suppressed: false,
  consent: null,
  lastInboundAt: null,
};

/** A refusal of the category or of the whole channel applies. */
export function factsFor(rows: readonly FactsRow[] | undefined, category: string): RecipientFacts {
  if (!rows) return UNKNOWN_RECIPIENT;
  const consentFor = (wanted: string) => rows.find((row) => row.category === wanted)?.consent;
  const whole = consentFor(EVERY) ?? null;
  // Rows of the suppression list have no contact.
  const known = rows.find((row) => row.contact !== null);
  const lastAt = known?.last_at ?? null;
  return {
    contact: known?.contact ?? null,
    suppressed: rows.some(({ suppressed }) => suppressed === EVERY || suppressed === category),
    consent: whole === 'opted_out' ? whole : (consentFor(category) ?? whole),
    lastInboundAt: lastAt === null ? null : Number(lastAt) / 1_000,
  };
}

const MANY = {
  v_i: 'int',
  v_recipient: 'key',
  v_tenant: 'key',
  v_channel: 'key',
  v_sender: 'key',
} as const satisfies Columns;

/** Milliseconds for which empty tables are presumed to stay empty. */
const EMPTY_FOR = 1_000;
/** Largest number of recipients in a question that shares a query with other questions. */
const MAX_IN_SHARED_QUERY = 100;
const MAX_SHARED = 2_000;

/** Reads facts about many recipients in one query. Small concurrent questions share a query. */
@Injectable()
export class RecipientFactsReader {
  readonly #database: StoreDatabase;
  readonly #shared;
  /** A check joins the next query, which starts after the request. */
  readonly #checks = new GroupCommit<undefined, boolean>(
    async (take) => {
      const requests = take();
      const now = this.clock.monotonic();
      const empty = await this.#seesEmpty(this.#database);
      if (empty) this.#emptyUntil = now + EMPTY_FOR;
      else this.#filled = true;
      return requests.map(() => empty);
    },
    { maxItems: Infinity, isItemError: () => false },
  );
  #emptyUntil = -Infinity;
  /** Once the tables have a row, a check would only add a query. */
  #filled = false;

  constructor(
    @Inject(MessageStore) { database }: MessageStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
  ) {
    this.#database = database;
    const together = (of: FactsOf) =>
      new GroupCommit<FactsQuestion, FactsByPlace>((take) => this.#readTogether(take(), of), {
        maxItems: MAX_SHARED,
        weight: ({ recipients }) => recipients.length,
        isItemError: isDataError,
      });
    this.#shared = { known: together('known'), refused: together('refused') };
  }

  /** With `refused`, no rows mean no refusal. `fresh`: does not presume that tables are empty. */
  async read(
    question: FactsQuestion,
    of: FactsOf,
    { fresh = false, sql }: { readonly fresh?: boolean; readonly sql?: Pick<Sql, 'all'> } = {},
  ): Promise<FactsByPlace> {
    if (!this.#filled) {
      if (!fresh && this.presumesEmpty()) return NO_FACTS;
      // A transaction has its own snapshot.
      if (await (sql ? this.#seesEmpty(sql) : this.#checks.add(undefined))) return NO_FACTS;
    }
    return sql || question.recipients.length > MAX_IN_SHARED_QUERY
      ? this.#read(question, of, sql ?? this.#database)
      : this.#shared[of].add(question);
  }

  /** No contacts or suppressions within the last second: apps without any skip the read. */
  presumesEmpty(): boolean {
    return !this.#filled && this.clock.monotonic() < this.#emptyUntil;
  }

  /** Called after this process wrote a contact or a suppression. */
  wrote(): void {
    this.#filled = true;
  }

  async #seesEmpty(sql: Pick<Sql, 'all'>): Promise<boolean> {
    const rows = await sql.all<{ known: string | number }>(
      `SELECT CASE WHEN EXISTS (SELECT 1 FROM messaging_contact)
         OR EXISTS (SELECT 1 FROM messaging_suppression) THEN 1 ELSE 0 END AS known`,
    );
    return Number(rows[0]?.known) === 0;
  }

  async #readTogether(questions: readonly FactsQuestion[], of: FactsOf): Promise<FactsByPlace[]> {
    const all = await this.#read(
      {
        recipients: questions.flatMap(({ recipients }) => recipients),
        messages: questions.flatMap(({ messages }) => messages),
      },
      of,
      this.#database,
    );
    let from = 0;
    return questions.map(({ recipients }) => {
      const own = new Map<number, readonly FactsRow[]>();
      recipients.forEach((_, place) => {
        const rows = all.get(from + place);
        if (rows) own.set(place, rows);
      });
      from += recipients.length;
      return own;
    });
  }

  async #read(
    { recipients, messages }: FactsQuestion,
    of: FactsOf,
    sql: Pick<Sql, 'all'>,
  ): Promise<FactsByPlace> {
    const [first] = messages;
    if (!first) return NO_FACTS;
    const { tenant, channel, sender } = first;
    const common = messages.every(
      (one) =>
        one === first ||
        (one.sender === sender && one.tenant === tenant && one.channel === channel),
    );
    const rows = common
      ? await this.#ofOne(first, recipients, of, sql)
      : await this.#ofMany({ recipients, messages }, of, sql);
    const facts = groupedBy(rows, (row) => String(row.recipient));
    const places = new Map<number, readonly FactsRow[]>();
    if (facts.size > 0)
      recipients.forEach((recipient, place) => {
        const own = facts.get(common ? recipient : String(place));
        if (own) places.set(place, own);
      });
    return places;
  }

  /** Reads recipients of one message; for many of them this is faster than {@link #ofMany}. */
  #ofOne(
    { tenant, channel, sender }: FactsQuestion['messages'][number],
    recipients: readonly string[],
    of: FactsOf,
    sql: Pick<Sql, 'all'>,
  ): Promise<FactsRow[]> {
    const { dialect } = this.#database;
    const source = dialect.rows({ v_recipient: 'key' });
    const keys = source.bind(recipients.map((recipient) => [recipient]));
    const [consented, only] =
      of === 'refused' ? [dialect.join, `WHERE k.state = 'opted_out' AND`] : ['LEFT JOIN', 'WHERE'];
    return sql.all(
      `SELECT s.address AS recipient, s.category AS suppressed, NULL AS contact,
          NULL AS category, NULL AS consent, NULL AS last_at
        FROM ${dialect.whereIn('messaging_suppression', 'address', 's', source)}
        WHERE s.tenant = ? AND s.channel IN (?, '*')
      UNION ALL
      SELECT a.address, NULL, a.contact, k.category, k.state, i.last_at
        FROM ${dialect.whereIn('messaging_contact_address', 'address', 'a', source)}
        ${consented} messaging_consent k ON k.contact = a.contact AND k.channel = ?
        LEFT JOIN messaging_last_inbound i ON i.contact = a.contact AND i.sender = ?
        ${only} a.tenant = ?`,
      [...keys, tenant, channel, ...keys, channel, sender, tenant],
    );
  }

  #ofMany(
    { recipients, messages }: FactsQuestion,
    of: FactsOf,
    sql: Pick<Sql, 'all'>,
  ): Promise<FactsRow[]> {
    const source = this.#database.dialect.rows(MANY);
    return sql.all(
      `SELECT v_i AS recipient, s.category AS suppressed, a.contact, k.category,
        k.state AS consent, i.last_at
      FROM ${source.keyed}
      LEFT JOIN messaging_suppression s ON s.tenant = v_tenant AND s.address = v_recipient
        AND s.channel IN (v_channel, '*')
      LEFT JOIN messaging_contact_address a ON a.tenant = v_tenant AND a.address = v_recipient
      LEFT JOIN messaging_consent k ON k.contact = a.contact AND k.channel = v_channel
      LEFT JOIN messaging_last_inbound i ON i.contact = a.contact AND i.sender = v_sender
      WHERE s.address IS NOT NULL
        OR ${of === 'refused' ? `k.state = 'opted_out'` : 'a.contact IS NOT NULL'}`,
      source.bind(
        messages.map(({ tenant, channel, sender }, place) => [
          place,
          recipients[place],
          tenant,
          channel,
          sender,
        ]),
      ),
    );
  }
}
