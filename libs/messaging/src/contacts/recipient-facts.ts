import type { Channel } from '../message/message.js';
import type { Clock } from '../ports/clock.js';
import type { RecipientFacts } from '../ports/messaging-policy.js';
import { isDataError } from '../store/database/database-errors.js';
import type { Columns, Dialect, RowSource } from '../store/database/dialect.js';
import { GroupCommit } from '../store/database/group-commit.js';
import type { Sql, StoreDatabase } from '../store/database/store-database.js';
import { EVERY } from './contact-input.js';

/** Recipients of messages on one channel, from one sender. */
export interface FactsQuestion {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  /** Address keys. */
  readonly recipients: readonly string[];
}

/** The recipients to read: all known ones, or only those with a refusal for the channel. */
export type FactsOf = 'known' | 'refused';

/** Facts about a recipient for a whole channel, and those that differ by category. */
export interface KnownFacts extends RecipientFacts {
  readonly categories?: ReadonlyMap<string, CategoryFacts>;
}

interface CategoryFacts {
  suppressed: boolean;
  consent: RecipientFacts['consent'];
}

/** Facts by the position of the recipient over all questions. */
export type FactsByPlace = ReadonlyMap<number, KnownFacts>;

/** Facts of a recipient that is not in the database. */
export const UNKNOWN_RECIPIENT: RecipientFacts = {
  contact: null,
  suppressed: false,
  consent: null,
  lastInboundAt: null,
};

/**
 * The facts for messages of one consent category; a refusal of the category or of the whole channel
 * applies.
 */
export function factsFor(known: KnownFacts, category: string): RecipientFacts {
  const own = known.categories?.get(category);
  if (!own) return known;
  return {
    ...known,
    suppressed: known.suppressed || own.suppressed,
    consent: known.consent === 'opted_out' ? 'opted_out' : (own.consent ?? known.consent),
  };
}

/** Milliseconds for which empty tables are presumed to stay empty. */
const EMPTY_FOR = 1_000;
/** Largest number of recipients in a question that shares a query with other sends. */
const MAX_IN_SHARED_QUERY = 100;
const MAX_SHARED = 2_000;

/** Reads facts about many recipients in one query. Questions of concurrent sends share a query. */
export class RecipientFactsReader {
  readonly #statements;
  readonly #shared;
  /** A fresh check joins the next query, which starts after the request. */
  readonly #checks = new GroupCommit<undefined, boolean>(
    async (take) => {
      const requests = take();
      return Array(requests.length).fill(await this.#check());
    },
    { maxItems: Infinity, isItemError: () => false },
  );
  #emptyUntil = -Infinity;
  #filled = false;
  #writes = 0;
  #checking: Promise<boolean> | undefined;

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
  ) {
    this.#statements = factsStatements(database.dialect);
    const together = (of: FactsOf) =>
      new GroupCommit<FactsQuestion, FactsByPlace>((take) => this.#readTogether(take(), of), {
        maxItems: MAX_SHARED,
        weight: ({ recipients }) => recipients.length,
        isItemError: isDataError,
      });
    this.#shared = { known: together('known'), refused: together('refused') };
  }

  /**
   * A recipient without an entry is an {@link UNKNOWN_RECIPIENT}; with `refused` it has no refusal.
   */
  read(
    questions: readonly FactsQuestion[],
    of: FactsOf = 'known',
    sql?: Pick<Sql, 'all'>,
  ): Promise<FactsByPlace> {
    const [only, ...others] = questions;
    if (!sql && only && others.length === 0 && only.recipients.length <= MAX_IN_SHARED_QUERY)
      return this.#shared[of].add(only);
    return this.#read(questions, of, sql ?? this.database);
  }

  /** The tables were empty within the last second, so that the read can be skipped. */
  presumesEmpty(): boolean {
    return !this.#filled && this.clock.monotonic() < this.#emptyUntil;
  }

  /**
   * Whether there are no contacts and no suppressions. The result is cached for a second, so that
   * apps without contacts pay nothing; a write by this process ends the cache at once. `fresh`
   * skips the cache.
   */
  async isEmpty(sql?: Pick<Sql, 'all'>, fresh = false): Promise<boolean> {
    // Once the tables have a row, the check would only add a query.
    if (this.#filled) return false;
    if (!fresh && this.presumesEmpty()) return true;
    // A transaction has its own snapshot.
    if (sql) return this.#seesEmpty(sql);
    if (fresh) return this.#checks.add(undefined);
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Called after this process wrote a contact or a suppression. */
  wrote(): void {
    this.#writes++;
    this.#emptyUntil = -Infinity;
  }

  async #check(): Promise<boolean> {
    const writes = this.#writes;
    const now = this.clock.monotonic();
    const empty = await this.#seesEmpty(this.database);
    if (!empty) this.#filled = true;
    else if (writes === this.#writes) this.#emptyUntil = now + EMPTY_FOR;
    return empty;
  }

  async #seesEmpty(sql: Pick<Sql, 'all'>): Promise<boolean> {
    const rows = await sql.all<{ known: string | number }>(
      `SELECT CASE WHEN EXISTS (SELECT 1 FROM messaging_contact)
         OR EXISTS (SELECT 1 FROM messaging_suppression) THEN 1 ELSE 0 END AS known`,
    );
    return Number(rows[0]?.known) === 0;
  }

  async #readTogether(questions: readonly FactsQuestion[], of: FactsOf): Promise<FactsByPlace[]> {
    const all = await this.#read(questions, of, this.database);
    let from = 0;
    return questions.map(({ recipients }) => {
      const own = new Map<number, KnownFacts>();
      if (all.size > 0)
        for (let place = 0; place < recipients.length; place++) {
          const facts = all.get(from + place);
          if (facts) own.set(place, facts);
        }
      from += recipients.length;
      return own;
    });
  }

  async #read(
    questions: readonly FactsQuestion[],
    of: FactsOf,
    sql: Pick<Sql, 'all'>,
  ): Promise<FactsByPlace> {
    const [first] = questions;
    if (!first) return new Map();
    const common = questions.every(
      ({ tenant, channel, sender }) =>
        sender === first.sender && tenant === first.tenant && channel === first.channel,
    );
    if (!common) {
      const { sql: text, params } = this.#statements.ofMany(of, questions);
      return factsOf(await sql.all<FactsRow>(text, params), ({ v_i }) => Number(v_i));
    }
    const recipients =
      questions.length === 1 ? first.recipients : questions.flatMap((one) => one.recipients);
    const { sql: text, params } = this.#statements.ofOne(of, first, recipients);
    const facts = factsOf(await sql.all<FactsRow>(text, params), ({ recipient }) => recipient);
    const places = new Map<number, KnownFacts>();
    if (facts.size > 0)
      for (let place = 0; place < recipients.length; place++) {
        const known = facts.get(recipients[place] as string);
        if (known) places.set(place, known);
      }
    return places;
  }
}

interface FactsRow {
  /**
   * Position among all recipients; `null` in the statement for one sender, where `recipient`
   * identifies the row.
   */
  readonly v_i: number | string | null;
  readonly recipient: string;
  /** Suppressed category, `*` for all of them. */
  readonly suppressed: string | null;
  readonly contact: string | null;
  readonly category: string | null;
  readonly consent: 'opted_in' | 'opted_out' | null;
  readonly last_at: string | number | null;
}

/** A recipient has one row per suppression and consent. */
function factsOf<K>(rows: readonly FactsRow[], keyOf: (row: FactsRow) => K): Map<K, KnownFacts> {
  const facts = new Map<K, KnownFacts>();
  for (const row of rows) {
    const key = keyOf(row);
    const before: KnownFacts = facts.get(key) ?? UNKNOWN_RECIPIENT;
    const whole = row.category === EVERY ? row.consent : null;
    facts.set(key, {
      contact: row.contact ?? before.contact,
      suppressed: row.suppressed === EVERY || before.suppressed,
      consent: whole ?? before.consent,
      lastInboundAt: row.last_at === null ? before.lastInboundAt : Number(row.last_at) / 1_000,
      ...categoriesOf(row, before),
    });
  }
  return facts;
}

function categoriesOf(row: FactsRow, { categories }: KnownFacts): Pick<KnownFacts, 'categories'> {
  const suppressed = row.suppressed === EVERY ? null : row.suppressed;
  const consented = row.category === EVERY ? null : row.category;
  if (suppressed === null && consented === null) return categories ? { categories } : {};
  const known = new Map(categories);
  const of = (category: string): CategoryFacts => {
    const entry = { ...(known.get(category) ?? { suppressed: false, consent: null }) };
    known.set(category, entry);
    return entry;
  };
  if (suppressed !== null) of(suppressed).suppressed = true;
  if (consented !== null) of(consented).consent = row.consent;
  return { categories: known };
}

const MANY = {
  v_i: 'int',
  v_recipient: 'key',
  v_tenant: 'key',
  v_channel: 'key',
  v_sender: 'key',
} as const satisfies Columns;

/** One statement for recipients of one sender, and one for recipients of many senders. */
function factsStatements(dialect: Dialect) {
  const one = dialect.rows({ v_recipient: 'key' });
  const many = dialect.rows(MANY);
  const statements = (of: FactsOf) => ({ one: ofOne(dialect, one, of), many: ofMany(many, of) });
  const sql = { known: statements('known'), refused: statements('refused') };
  return {
    /** For recipients with the same tenant, channel and sender. */
    ofOne: (of: FactsOf, { tenant, channel, sender }: FactsQuestion, to: readonly string[]) => {
      const recipients = one.bind(to.map((recipient) => [recipient]));
      return {
        sql: sql[of].one,
        params: [...recipients, tenant, channel, ...recipients, channel, sender, tenant],
      };
    },
    ofMany: (of: FactsOf, questions: readonly FactsQuestion[]) => {
      let place = 0;
      const rows = questions.flatMap(({ tenant, channel, sender, recipients }) =>
        recipients.map((recipient) => [place++, recipient, tenant, channel, sender]),
      );
      return { sql: sql[of].many, params: many.bind(rows) };
    },
  };
}

function ofOne(dialect: Dialect, recipients: RowSource, of: FactsOf): string {
  const [consented, only] =
    of === 'refused' ? [dialect.join, `WHERE k.state = 'opted_out' AND`] : ['LEFT JOIN', 'WHERE'];
  return `SELECT NULL AS v_i, s.address AS recipient, s.category AS suppressed, NULL AS contact,
        NULL AS category, NULL AS consent, NULL AS last_at
      FROM ${dialect.whereIn('messaging_suppression', 'address', 's', recipients)}
      WHERE s.tenant = ? AND s.channel IN (?, '*')
    UNION ALL
    SELECT NULL, a.address, NULL, a.contact, k.category, k.state, i.last_at
      FROM ${dialect.whereIn('messaging_contact_address', 'address', 'a', recipients)}
      ${consented} messaging_consent k ON k.contact = a.contact AND k.channel = ?
      LEFT JOIN messaging_last_inbound i ON i.contact = a.contact AND i.sender = ?
      ${only} a.tenant = ?`;
}

function ofMany(rows: RowSource, of: FactsOf): string {
  const known = of === 'refused' ? `k.state = 'opted_out'` : 'a.contact IS NOT NULL';
  return `SELECT v_i, v_recipient AS recipient, s.category AS suppressed, a.contact,
      k.category, k.state AS consent, i.last_at
    FROM ${rows.keyed}
    LEFT JOIN messaging_suppression s ON s.tenant = v_tenant AND s.address = v_recipient
      AND s.channel IN (v_channel, '*')
    LEFT JOIN messaging_contact_address a ON a.tenant = v_tenant AND a.address = v_recipient
    LEFT JOIN messaging_consent k ON k.contact = a.contact AND k.channel = v_channel
    LEFT JOIN messaging_last_inbound i ON i.contact = a.contact AND i.sender = v_sender
    WHERE s.address IS NOT NULL OR ${known}`;
}
