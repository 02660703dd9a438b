import type { Channel } from '../message/message.js';
import type { Clock } from '../ports/clock.js';
import type { RecipientFacts } from '../ports/messaging-policy.js';
import type { Columns } from '../ledger/dialect.js';
import type { LedgerDatabase, Sql } from '../ledger/ledger-database.js';

/** Who is asked about, for a message over which channel and from whom. */
export interface FactsKey {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly recipient: string;
}

/** Nothing is known of this recipient. */
export const UNKNOWN_RECIPIENT: RecipientFacts = {
  contact: null,
  suppressed: false,
  consent: null,
  lastInboundAt: null,
};

interface FactsRow {
  readonly v_i: number;
  readonly suppressed: string | null;
  readonly contact: string | null;
  readonly consent: 'opted_in' | 'opted_out' | null;
  readonly last_at: string | number | null;
}

const ONE = { v_i: 'int', v_recipient: 'key' } as const satisfies Columns;
const MANY = {
  v_i: 'int',
  v_recipient: 'key',
  v_tenant: 'key',
  v_channel: 'key',
  v_sender: 'key',
} as const satisfies Columns;

/** How long nobody at all is known, in milliseconds, once that was seen. */
const NOBODY_FOR = 1_000;

/** What is known of many recipients, in one query. */
export class RecipientFactsReader {
  readonly #one;
  readonly #many;
  readonly #selectOne: string;
  readonly #selectMany: string;
  #nobodyUntil = -Infinity;
  #somebody = false;

  constructor(
    private readonly database: LedgerDatabase,
    private readonly clock: Clock,
  ) {
    const { dialect } = database;
    this.#one = dialect.rows(ONE);
    this.#many = dialect.rows(MANY);
    this.#selectOne = select(this.#one.sql, '?', '?', '?');
    this.#selectMany = select(this.#many.sql, 'v_tenant', 'v_channel', 'v_sender');
  }

  /** Facts by index; who is not in it is {@link UNKNOWN_RECIPIENT}. */
  async read(
    keys: readonly FactsKey[],
    sql: Pick<Sql, 'all'> = this.database,
  ): Promise<Map<number, RecipientFacts>> {
    const facts = new Map<number, RecipientFacts>();
    const [first] = keys;
    if (!first) return facts;
    const { tenant, channel, sender } = first;
    const rows = keys.every(
      (key) => key.sender === sender && key.tenant === tenant && key.channel === channel,
    )
      ? await sql.all<FactsRow>(this.#selectOne, [
          ...this.#one.bind(keys.map(({ recipient }, index) => [index, recipient])),
          tenant,
          channel,
          tenant,
          channel,
          sender,
        ])
      : await sql.all<FactsRow>(
          this.#selectMany,
          this.#many.bind(
            keys.map((k, index) => [index, k.recipient, k.tenant, k.channel, k.sender]),
          ),
        );
    for (const row of rows) {
      // A number on two lines of the suppression list comes twice.
      const suppressed = row.suppressed !== null || facts.get(Number(row.v_i))?.suppressed === true;
      facts.set(Number(row.v_i), {
        contact: row.contact,
        suppressed,
        consent: row.consent,
        lastInboundAt: row.last_at === null ? null : Number(row.last_at) / 1_000,
      });
    }
    return facts;
  }

  /**
   * Nobody at all is known or suppressed. Believed for a second, so that sends which concern nobody
   * known cost nothing; what this process itself writes down is seen at once. With `fresh` it is looked up.
   */
  async nobody(sql: Pick<Sql, 'all'> = this.database, fresh = false): Promise<boolean> {
    if (this.#somebody) return false;
    const now = this.clock.monotonic();
    if (!fresh && now < this.#nobodyUntil) return true;
    const rows = await sql.all<{ known: string | number }>(
      `SELECT CASE WHEN EXISTS (SELECT 1 FROM messaging_contact)
         OR EXISTS (SELECT 1 FROM messaging_suppression) THEN 1 ELSE 0 END AS known`,
    );
    const nobody = Number(rows[0]?.known) === 0;
    this.#nobodyUntil = nobody ? now + NOBODY_FOR : -Infinity;
    // Once there is somebody, asking first would only be one query more.
    this.#somebody = !nobody;
    return nobody;
  }

  /** Somebody is being written down. */
  somebody(): void {
    this.#nobodyUntil = -Infinity;
  }
}

function select(rows: string, tenant: string, channel: string, sender: string): string {
  return `SELECT v_i, s.recipient AS suppressed, c.id AS contact, k.state AS consent, i.last_at
    FROM ${rows}
    LEFT JOIN messaging_suppression s ON s.tenant = ${tenant} AND s.recipient = v_recipient
      AND s.channel IN (${channel}, '*')
    LEFT JOIN messaging_contact c ON c.tenant = ${tenant} AND c.phone = v_recipient
    LEFT JOIN messaging_consent k ON k.contact = c.id AND k.channel = ${channel}
    LEFT JOIN messaging_inbound i ON i.contact = c.id AND i.sender = ${sender}
    WHERE s.recipient IS NOT NULL OR c.id IS NOT NULL`;
}
