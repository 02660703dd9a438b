import type { EntityManager } from 'typeorm';
import { addressIdentity, formsOf } from '../../message/phone-identity.js';
import type { StoreDatabase } from '../database/store-database.js';
import { readContent } from '../rows/stored-content.js';

export interface CountedCategory {
  readonly channel: string;
  readonly category: string;
}

interface SentRow {
  readonly tenant: string;
  readonly recipient: string;
  readonly batch: string;
  /** As it was sent, substituted by policy or not; null after retention erased it. */
  readonly content: string | null;
}

/**
 * Finds recent messages by recipient; those that wait to be sent again count. Needs the index of {@link FREQUENCY_CAP_MIGRATIONS}.
 */
export class RecentSends {
  readonly #people;
  readonly #select: (waiting: readonly number[]) => string;

  constructor(private readonly database: StoreDatabase) {
    const { dialect, channels } = database;
    this.#people = dialect.rows({ v_tenant: 'key', v_recipient: 'key' });
    const counted = channels.countedRanks;
    this.#select = (waiting) => `SELECT v_tenant AS tenant, v_recipient AS recipient, m.batch,
        coalesce(s.content, b.content) AS content FROM ${this.#people.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_recipient')}
        ON m.recipient = v_recipient AND m.status IN (${[...counted, ...waiting].join(', ')})
      JOIN messaging_batch b ON b.id = m.batch AND b.tenant = v_tenant AND b.channel = ?
      ${waiting.length > 0 ? 'LEFT ' : ''}JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
      WHERE s.first_sent_at > ?${waiting.length > 0 ? ` OR m.status IN (${waiting.join(', ')})` : ''}`;
  }

  /**
   * Messages as `{batch} {recipient}`, by `{identity} {tenant}` of their recipients; `since` is in
   * epoch ms.
   */
  async batchesTo(
    people: readonly { readonly tenant: string; readonly recipient: string }[],
    { channel, category }: CountedCategory,
    since: number,
    manager?: EntityManager,
  ): Promise<Map<string, Set<string>>> {
    const keys = new Map(
      people.flatMap(({ tenant, recipient }) =>
        formsOf(addressIdentity(recipient)).map((form) => [`${form} ${tenant}`, [tenant, form]]),
      ),
    );
    const sql = manager ? this.database.join(manager) : this.database;
    const { channels } = this.database;
    const waiting = channels.waitingRanksOf(channel);
    const rows = await sql.all<SentRow>(this.#select(waiting), [
      ...this.#people.bind([...keys.values()]),
      channel,
      since * 1_000,
    ]);
    const categories = new Map<string | null, string>();
    const batches = new Map<string, Set<string>>();
    for (const { tenant, recipient, batch, content } of rows) {
      const sent = categories.get(content) ?? this.#categoryOf(channel, content);
      categories.set(content, sent);
      if (sent !== category) continue;
      const key = keyOf(tenant, recipient);
      batches.set(key, (batches.get(key) ?? new Set()).add(`${batch} ${recipient}`));
    }
    return batches;
  }

  #categoryOf(channel: string, content: string | null): string {
    return this.database.channels.capCategoryOf(channel, readContent(content ?? '{}').content);
  }
}

function keyOf(tenant: string, recipient: string): string {
  return `${addressIdentity(recipient)} ${tenant}`;
}
