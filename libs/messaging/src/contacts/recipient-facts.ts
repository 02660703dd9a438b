import { isDataError } from '../store/database-errors.js';
import { GroupCommit } from '../store/group-commit.js';
import type { StoreDatabase, Sql } from '../store/store-database.js';
import type { Clock } from '../ports/clock.js';
import type { RecipientFacts } from '../ports/messaging-policy.js';
import {
  type FactsOf,
  type FactsQuestion,
  type FactsRow,
  factsStatements,
} from './recipient-facts.statements.js';

/** Facts by the place of the recipient among all that were asked about. */
export type FactsByPlace = ReadonlyMap<number, RecipientFacts>;

/** Nothing is known of this recipient. */
export const UNKNOWN_RECIPIENT: RecipientFacts = {
  contact: null,
  suppressed: false,
  consent: null,
  lastInboundAt: null,
};

/** How long nobody at all is known, in milliseconds, once that was seen. */
const NOBODY_FOR = 1_000;
/** Questions about so many at most share a query with those of other sends. */
const FEW = 100;
const MOST_SHARED = 2_000;

/** What is known of many recipients, in one query. Questions of concurrent sends go together. */
export class RecipientFactsReader {
  readonly #statements;
  readonly #shared;
  /** Who asks while one looks waits for the next look: it begins after they asked. */
  readonly #looks = new GroupCommit<undefined, boolean>(
    async (take) => {
      const askers = take();
      return Array(askers.length).fill(await this.#look());
    },
    { maxItems: Infinity, isItemError: () => false },
  );
  #nobodyUntil = -Infinity;
  #somebody = false;
  #written = 0;
  #looking: Promise<boolean> | undefined;

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
  ) {
    this.#statements = factsStatements(database.dialect);
    const together = (of: FactsOf) =>
      new GroupCommit<FactsQuestion, FactsByPlace>((take) => this.#readTogether(take(), of), {
        maxItems: MOST_SHARED,
        weight: ({ recipients }) => recipients.length,
        isItemError: isDataError,
      });
    this.#shared = { known: together('known'), refused: together('refused') };
  }

  /** Who is not in the answer is {@link UNKNOWN_RECIPIENT}, or refused nothing where only refusals were asked for. */
  read(
    questions: readonly FactsQuestion[],
    of: FactsOf = 'known',
    sql?: Pick<Sql, 'all'>,
  ): Promise<FactsByPlace> {
    const [only, ...others] = questions;
    if (!sql && only && others.length === 0 && only.recipients.length <= FEW)
      return this.#shared[of].add(only);
    return this.#read(questions, of, sql ?? this.database);
  }

  /** Nobody at all is known or suppressed, as was seen within the last second: asking can be spared. */
  presumesNobody(): boolean {
    return !this.#somebody && this.clock.monotonic() < this.#nobodyUntil;
  }

  /**
   * Nobody at all is known or suppressed. Believed for a second, so that sends which concern nobody
   * known cost nothing; what this process itself writes down is seen at once. With `fresh` it is looked up.
   */
  async nobody(sql?: Pick<Sql, 'all'>, fresh = false): Promise<boolean> {
    // Once there is somebody, asking first would only be one query more.
    if (this.#somebody) return false;
    if (!fresh && this.presumesNobody()) return true;
    // What a transaction sees is its own.
    if (sql) return this.#seesNobody(sql);
    if (fresh) return this.#looks.add(undefined);
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Somebody is being written down. */
  somebody(): void {
    this.#written++;
    this.#nobodyUntil = -Infinity;
  }

  async #look(): Promise<boolean> {
    const written = this.#written;
    const now = this.clock.monotonic();
    const nobody = await this.#seesNobody(this.database);
    if (!nobody) this.#somebody = true;
    else if (written === this.#written) this.#nobodyUntil = now + NOBODY_FOR;
    return nobody;
  }

  async #seesNobody(sql: Pick<Sql, 'all'>): Promise<boolean> {
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
      const own = new Map<number, RecipientFacts>();
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
    const places = new Map<number, RecipientFacts>();
    if (facts.size > 0)
      for (let place = 0; place < recipients.length; place++) {
        const known = facts.get(recipients[place] as string);
        if (known) places.set(place, known);
      }
    return places;
  }
}

/** A contact, and each line of the suppression list, may be a row of its own. */
function factsOf<K>(
  rows: readonly FactsRow[],
  keyOf: (row: FactsRow) => K,
): Map<K, RecipientFacts> {
  const facts = new Map<K, RecipientFacts>();
  for (const row of rows) {
    const key = keyOf(row);
    const before = facts.get(key) ?? UNKNOWN_RECIPIENT;
    facts.set(key, {
      contact: row.contact ?? before.contact,
      suppressed: row.suppressed !== null || before.suppressed,
      consent: row.consent ?? before.consent,
      lastInboundAt: row.last_at === null ? before.lastInboundAt : Number(row.last_at) / 1_000,
    });
  }
  return facts;
}
