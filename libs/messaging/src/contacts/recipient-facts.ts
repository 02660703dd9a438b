import { Inject, Injectable } from '@nestjs/common';
import type { Channel } from '../message/message.js';
import { addressIdentity, formsOf } from '../message/phone-identity.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import type { RecipientFacts } from '../ports/messaging-policy.js';
import { isDataError } from '../store/database/database-errors.js';
import type { Columns } from '../store/database/dialect.js';
import { GroupCommit } from '../store/database/group-commit.js';
import type { Sql, StoreDatabase } from '../store/database/store-database.js';
import { MessageStore } from '../store/message-store.js';
import type { KeyedDigests } from '../store/rows/keyed-digests.js';
import type { ConsentState } from './contact.js';
import { EVERY } from './contact-input.js';
import { groupedBy } from './contact-tables.js';

interface FactsMessage {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
}

const FIELDS = ['tenant', 'channel', 'sender'] as const;

/** Recipients as address keys, and the message to each of them. */
export interface FactsQuestion {
  readonly recipients: readonly string[];
  readonly messages: readonly FactsMessage[];
}

/** The recipients to read: all known ones, or only those with a refusal for the channel. */
export type FactsOf = 'known' | 'refused';

/** The rows of each recipient by its position; a recipient without rows is unknown. */
export type FactsByPlace = ReadonlyMap<number, readonly FactsRow[]>;

/** A recipient has one row per suppression and consent. */
export interface FactsRow {
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

/** A recipient of one of several questions. */
interface Asked {
  /** Among all of them. */
  readonly n: number;
  readonly question: number;
  /** Within its question. */
  readonly place: number;
  /** Identity of its address key. */
  readonly recipient: string;
  readonly message: FactsMessage;
}

const RECIPIENT: Columns<Asked> = { v_recipient: ['key', ({ recipient }) => recipient] };

const RECIPIENT_OF_MESSAGE: Columns<Asked> = {
  v_n: ['int', ({ n }) => n],
  ...RECIPIENT,
  v_tenant: ['key', ({ message }) => message.tenant],
  v_channel: ['key', ({ message }) => message.channel],
  v_sender: ['key', ({ message }) => message.sender],
};

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
  readonly #digests: KeyedDigests;
  #emptyUntil = -Infinity;
  #filled = false;
  /** The tables that had rows: only then are digests and other numbers of recipients compared. */
  readonly #seen = new Set<string | null>();

  constructor(
    @Inject(MessageStore) { database, digests }: MessageStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
  ) {
    this.#database = database;
    this.#digests = digests;
    const together = (of: FactsOf) =>
      new GroupCommit<FactsQuestion, FactsByPlace>((take) => this.#read(take(), of, database), {
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
    if (!fresh && this.presumesEmpty()) return NO_FACTS;
    if (!sql && question.recipients.length <= MAX_IN_SHARED_QUERY)
      return this.#shared[of].add(question);
    const [facts = NO_FACTS] = await this.#read([question], of, sql ?? this.#database);
    return facts;
  }

  /** No contacts or suppressions within the last second: apps without any skip the read. */
  presumesEmpty(): boolean {
    return !this.#filled && this.clock.monotonic() < this.#emptyUntil;
  }

  /** Called after this process wrote a contact or a suppression. */
  wrote(): void {
    this.#filled = true;
  }

  /** Ends with the first row: then the check would only add a query. */
  async #seesEmpty(sql: Pick<Sql, 'all'>): Promise<boolean> {
    if (this.#filled) return false;
    const now = this.clock.monotonic();
    const [row] = await sql.all<{ known: string | number }>(
      `SELECT CASE WHEN EXISTS (SELECT 1 FROM messaging_contact)
         OR EXISTS (SELECT 1 FROM messaging_suppression)
         OR EXISTS (SELECT 1 FROM messaging_erased_suppression) THEN 1 ELSE 0 END AS known`,
    );
    if (Number(row?.known) === 1) this.#filled = true;
    // A transaction has its own snapshot.
    else if (sql === this.#database) this.#emptyUntil = now + EMPTY_FOR;
    return !this.#filled;
  }

  async #read(
    questions: readonly FactsQuestion[],
    of: FactsOf,
    sql: Pick<Sql, 'all'>,
  ): Promise<FactsByPlace[]> {
    if (await this.#seesEmpty(sql)) return questions.map(() => NO_FACTS);
    const asked: Asked[] = [];
    for (const [question, { recipients, messages }] of questions.entries())
      for (let place = 0; place < recipients.length; place++)
        asked.push({
          n: asked.length,
          question,
          place,
          recipient: addressIdentity(recipients[place] as string),
          message: messages[place] as FactsMessage,
        });
    const facts = questions.map(() => new Map<number, FactsRow[]>());
    for (const [row, about] of await this.#rows(asked, of, sql))
      for (const { question, place } of about) {
        const own = facts[question] as Map<number, FactsRow[]>;
        own.set(place, [...(own.get(place) ?? []), row]);
      }
    return facts;
  }

  /**
   * Values that all messages share are parameters, and their recipients one list: half the time for
   * a large batch.
   */
  async #rows(
    asked: readonly Asked[],
    of: FactsOf,
    sql: Pick<Sql, 'all'>,
  ): Promise<(readonly [row: FactsRow, about: readonly Asked[]])[]> {
    const { dialect } = this.#database;
    const first = asked[0]?.message;
    if (!first) return [];
    const common = asked.every(
      ({ message }) => message === first || FIELDS.every((name) => message[name] === first[name]),
    );
    const digested = this.#seen.has(ERASED);
    const learnt = this.#seen.has(LEARNT);
    const digests = digested ? this.#digestsOf(asked) : [];
    const source = dialect.rows(common ? RECIPIENT : RECIPIENT_OF_MESSAGE);
    const [tenant, channel, sender] = FIELDS.map((name) => (common ? '?' : `v_${name}`));
    const shared = common ? FIELDS.map((name) => first[name]) : [];
    const from = (table: string, key: string, alias: string) =>
      common
        ? dialect.whereIn(`messaging_${table}`, key, alias, source)
        : `${source.keyed} ${dialect.join} messaging_${table} ${alias} ON ${alias}.${key} = v_recipient`;
    const suppressed = (table: string, key: string) =>
      `SELECT ${common ? `s.${key}` : 'v_n'} AS place, s.category AS suppressed, NULL AS contact,
          NULL AS category, NULL AS consent, NULL AS last_at
        FROM ${from(table, key, 's')}
        WHERE s.tenant = ${tenant} AND s.channel IN (${channel}, '*')`;
    // Entries of other numbers that a platform gave for the recipient.
    const suppressedAs = `SELECT ${common ? 'l.address' : 'v_n'}, s.category, NULL, NULL, NULL, NULL
        FROM ${from(LEARNT, 'address', 'l')}
        JOIN messaging_${LEARNT} o ON o.tenant = l.tenant AND o.person = l.person AND o.address <> l.address
        JOIN messaging_suppression s ON s.tenant = o.tenant AND s.address = o.address
        WHERE l.tenant = ${tenant} AND s.channel IN (${channel}, '*')`;
    const consent = `messaging_consent k ON k.contact = a.contact AND k.channel = ${channel}`;
    const values = source.bind(asked);
    const rows = await sql.all<FactsRow & { readonly place: string | number | null }>(
      `${suppressed('suppression', 'address')}
      UNION ALL
      SELECT ${common ? 'a.address' : 'v_n'}, NULL, a.contact, k.category, k.state, i.last_at
        FROM ${from('contact_address', 'address', 'a')}
        ${of === 'known' ? `LEFT JOIN ${consent}` : `${dialect.join} ${consent} AND k.state = 'opted_out'`}
        LEFT JOIN messaging_last_inbound i ON i.contact = a.contact AND i.sender = ${sender}
        WHERE a.tenant = ${tenant}
      UNION ALL ${digested ? suppressed(ERASED, 'digest') : anyOf(ERASED)}
      UNION ALL ${learnt ? suppressedAs : anyOf(LEARNT)}`,
      [
        ...values,
        ...shared.slice(0, 2),
        ...values,
        ...shared.slice(1),
        ...shared.slice(0, 1),
        ...(digested ? [...source.bind(digests), ...shared.slice(0, 2)] : []),
        ...(learnt ? [...values, ...shared.slice(0, 2)] : []),
      ],
    );
    const marks = rows.filter(({ place }) => place === null);
    if (marks.length > 0) {
      // Digests and joins cost time, so that apps without any have none. Now there is one, and it stays so.
      for (const { suppressed: table } of marks) this.#seen.add(table);
      return this.#rows(asked, of, sql);
    }
    if (rows.length === 0) return [];
    const keyOf = ({ n, recipient }: Asked) => (common ? recipient : n);
    const byPlace = groupedBy([...asked, ...digests], keyOf);
    return rows.map((row) => [row, byPlace.get(common ? row.place! : Number(row.place)) ?? []]);
  }

  #digestsOf(asked: readonly Asked[]): Asked[] {
    return asked.flatMap((one) =>
      // Former versions kept the digest of a number as it was written.
      formsOf(one.recipient)
        .flatMap((form) => this.#digests.ofAddress(one.message.tenant, form))
        .map((recipient) => ({ ...one, recipient })),
    );
  }
}

const ERASED = 'erased_suppression';
const LEARNT = 'learnt_number';

/** A row without a place, which only says that the table has rows. */
function anyOf(table: typeof ERASED | typeof LEARNT): string {
  return `SELECT NULL, '${table}', NULL, NULL, NULL, NULL
    FROM (SELECT 1 AS one) AS one WHERE EXISTS (SELECT 1 FROM messaging_${table})`;
}
