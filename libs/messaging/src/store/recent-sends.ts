import type { EntityManager } from 'typeorm';
import { STATUS_RANK } from '../message/status.js';
import type { Columns } from './dialect.js';
import type { StoreDatabase } from './store-database.js';

const PERSON = { v_tenant: 'key', v_recipient: 'key' } as const satisfies Columns;

/** What has reached somebody, or may have. */
const COUNTED = [
  STATUS_RANK.sending,
  STATUS_RANK.unknown,
  STATUS_RANK.sent,
  STATUS_RANK.delivered,
  STATUS_RANK.read,
].join(', ');

/** Who was sent what lately. Needs the index of {@link RecipientIndex1790000000100}. */
export class RecentSends {
  readonly #people;
  readonly #select: string;

  constructor(private readonly database: StoreDatabase) {
    const { dialect } = database;
    this.#people = dialect.rows(PERSON);
    const content = 'coalesce(s.content, b.content)';
    const category = `CASE WHEN b.channel = 'sms' THEN 'sms'
      WHEN ${dialect.jsonField(content, 'kind')} = 'text' THEN 'service'
      ELSE coalesce(${dialect.jsonField(content, 'category')}, 'marketing') END`;
    this.#select = `SELECT v_tenant AS tenant, v_recipient AS recipient, m.batch FROM ${this.#people.sql}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_recipient')}
        ON m.recipient = v_recipient AND m.status IN (${COUNTED})
      JOIN messaging_batch b ON b.id = m.batch AND b.tenant = v_tenant AND b.channel = ?
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission AND s.first_sent_at > ?
      WHERE ${category} = ?`;
  }

  /**
   * The batches in which each was sent a message of the category since then, by `{recipient} {tenant}`.
   * @param since epoch milliseconds
   * @param manager of a transaction to read in
   */
  async batchesTo(
    people: readonly { readonly tenant: string; readonly recipient: string }[],
    category: string,
    since: number,
    manager?: EntityManager,
  ): Promise<Map<string, Set<string>>> {
    const keys = new Map(
      people.map(({ tenant, recipient }) => [keyOf(tenant, recipient), [tenant, recipient]]),
    );
    const sql = manager ? this.database.join(manager) : this.database;
    const rows = await sql.all<{ tenant: string; recipient: string; batch: string }>(this.#select, [
      ...this.#people.bind([...keys.values()]),
      category === 'sms' ? 'sms' : 'whatsapp',
      since * 1_000,
      category,
    ]);
    const batches = new Map<string, Set<string>>();
    for (const { tenant, recipient, batch } of rows) {
      const key = keyOf(tenant, recipient);
      batches.set(key, (batches.get(key) ?? new Set()).add(batch));
    }
    return batches;
  }
}

function keyOf(tenant: string, recipient: string): string {
  return `${recipient} ${tenant}`;
}
