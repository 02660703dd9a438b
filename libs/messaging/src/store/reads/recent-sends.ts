import type { EntityManager } from 'typeorm';
import type { Columns } from '../database/dialect.js';
import type { StoreDatabase } from '../database/store-database.js';

const PERSON = { v_tenant: 'key', v_recipient: 'key' } as const satisfies Columns;

export interface CountedCategory {
  readonly channel: string;
  readonly category: string;
}

/** Finds recent messages by recipient. Needs the index of {@link FREQUENCY_CAP_MIGRATIONS}. */
export class RecentSends {
  readonly #people;

  constructor(private readonly database: StoreDatabase) {
    this.#people = database.dialect.rows(PERSON);
  }

  /** Batches by `{recipient} {tenant}`; recipients are address keys, `since` is epoch ms. */
  async batchesTo(
    people: readonly { readonly tenant: string; readonly recipient: string }[],
    { channel, category }: CountedCategory,
    since: number,
    manager?: EntityManager,
  ): Promise<Map<string, Set<string>>> {
    const keys = new Map(
      people.map(({ tenant, recipient }) => [keyOf(tenant, recipient), [tenant, recipient]]),
    );
    const sql = manager ? this.database.join(manager) : this.database;
    const rows = await sql.all<{ tenant: string; recipient: string; batch: string }>(
      this.#selectOf(channel),
      [...this.#people.bind([...keys.values()]), channel, since * 1_000, category],
    );
    const batches = new Map<string, Set<string>>();
    for (const { tenant, recipient, batch } of rows) {
      const key = keyOf(tenant, recipient);
      batches.set(key, (batches.get(key) ?? new Set()).add(batch));
    }
    return batches;
  }

  #selectOf(channel: string): string {
    const { dialect, channels } = this.database;
    return `SELECT v_tenant AS tenant, v_recipient AS recipient, m.batch FROM ${this.#people.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_recipient')}
        ON m.recipient = v_recipient AND m.status IN (${channels.countedRanks.join(', ')})
      JOIN messaging_batch b ON b.id = m.batch AND b.tenant = v_tenant AND b.channel = ?
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission AND s.first_sent_at > ?
      WHERE ${this.#category(channel)} = ?`;
  }

  /** `ChannelRegistry.capCategoryOf()` in SQL, on the content that was sent. */
  #category(channel: string): string {
    const { dialect, channels } = this.database;
    const {
      categories,
      categoryOf = {},
      presumedCategory = channel,
    } = channels.find(channel)?.pricing ?? {};
    if (!categories) return text(channel);
    const content = 'coalesce(s.content, b.content)';
    const given = dialect.jsonField(content, 'category');
    const kinds = Object.entries(categoryOf).map(
      ([kind, category]) =>
        `WHEN ${dialect.jsonField(content, 'kind')} = ${text(kind)} THEN ${text(category)}`,
    );
    return `CASE WHEN ${given} IN (${categories.map(text).join(', ')}) THEN ${given}
      ${kinds.join(' ')} ELSE ${text(presumedCategory)} END`;
  }
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function keyOf(tenant: string, recipient: string): string {
  return `${recipient} ${tenant}`;
}
