import { messageIdOf } from '../../message/ids.js';
import { FIRST_REPORTED_RANK } from '../../message/status.js';
import type { RedialRules } from '../../message/channel-definition.js';
import { type Dialect, type RowWriter, updater } from '../database/dialect.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { BATCH_STATE, setBack } from '../rows/batch-state.js';
import type { MessagePlace, ReceivedReport } from '../rows/received-report.js';
import { SUBMISSION_OUTCOME } from '../rows/outcome.js';
import type { LockedMessage } from '../rows/status.js';
import { readContent } from '../rows/stored-content.js';
import type { Places } from './report-places.js';

interface BatchRow {
  readonly id: string;
  readonly channel: string;
  readonly lane: string;
  readonly content: string | null;
  /** Microseconds until the batch expires. */
  readonly validFor: string | number | null;
}

interface RedialBatch extends Pick<RedialRules, 'event' | 'after'> {
  readonly lane: string;
  readonly times: number;
  /** Milliseconds. */
  readonly wait: number;
}

interface Redial {
  readonly message: LockedMessage;
  readonly wait: number;
}

/**
 * Sends messages again after a definite report such as `busy`, where their content says so. Only a
 * message that the provider accepted is sent again, and only for a report about its last submission:
 * a submission with an unknown outcome never is.
 *
 * ```
 * initiated, ringing ─busy─▶ waits with its status kept, until `due_at` ─intent─▶ sending
 *                      └─ no try left: busy
 * ```
 */
export class Redials {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(private readonly database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  /**
   * Locks the batches before their messages are locked. The lock makes the number of earlier tries
   * exact. @returns `undefined` where no report leads to another try
   */
  async lock(tx: Transaction, places: Places): Promise<RedialGroup | undefined> {
    const asked = new Map<string, MessagePlace>();
    for (const [{ status }, place] of places)
      if (place.position !== undefined && this.database.channels.mayRedial(status))
        asked.set(messageIdOf(place.batch, place.position), place);
    if (asked.size === 0) return undefined;
    const { ids, batches, places: source, tries } = this.#sql;
    const named = [...new Set([...asked.values()].map(({ batch }) => batch))].toSorted();
    const found = new Map<string, RedialBatch>();
    for (const row of await tx.all<BatchRow>(batches, ids.bind(named))) {
      const batch = this.#batchOf(row);
      if (batch) found.set(row.id, batch);
    }
    if (found.size === 0) return undefined;
    const own = [...asked.values()].filter(({ batch }) => found.has(batch));
    const rows = await tx.all<PlaceRow & { event: string; tries: string | number }>(
      tries,
      source.bind(own),
    );
    const counts = new Map(
      rows.flatMap((row) =>
        row.event === found.get(row.batch)?.event ? [[keyOf(row), Number(row.tries)] as const] : [],
      ),
    );
    const accepted = new Map(
      (await tx.all<PlaceRow & { submission: number }>(this.#sql.accepted, source.bind(own))).map(
        (row) => [keyOf(row), row.submission],
      ),
    );
    return new RedialGroup(found, counts, accepted);
  }

  /** @returns the lanes to wake after the commit */
  async write(tx: Transaction, group: RedialGroup): Promise<string[]> {
    await this.#sql.wait(tx, group.redials);
    const batches = [...new Set(group.redials.map(({ message }) => message.batch))].toSorted();
    await this.#sql.reopen(tx, batches);
    return [...new Set(batches.map((id) => group.batches.get(id)!.lane))];
  }

  #batchOf({ id, channel, lane, content, validFor }: BatchRow): RedialBatch | undefined {
    const { channels, seals } = this.database;
    const { redial } = channels.find(channel) ?? {};
    const stored = redial && content !== null && seals.open(id, readContent(content));
    const rule = stored && !stored.unreadable && redial.rule(stored.content);
    if (!redial || !rule) return undefined;
    const { times, after: wait } = rule;
    if (validFor !== null && Number(validFor) <= wait * 1_000) return undefined;
    return { lane, times, wait, event: redial.event, after: redial.after };
  }
}

export class RedialGroup {
  readonly redials: Redial[] = [];

  constructor(
    readonly batches: ReadonlyMap<string, RedialBatch>,
    /** Tries after the first, by message. */
    private readonly tries: Map<string, number>,
    /** The last submission of a message, where the provider accepted it. */
    private readonly accepted: ReadonlyMap<string, number>,
  ) {}

  /** @returns the event that the report becomes; `undefined`: the message is not sent again */
  eventOf({ status, rank }: ReceivedReport, message: LockedMessage): string | undefined {
    const batch = this.batches.get(message.batch);
    if (!batch || status === null || !batch.after.includes(status)) return undefined;
    const isAccepted = this.accepted.get(keyOf(message)) === message.submission;
    const isUnderWay = message.status >= FIRST_REPORTED_RANK && message.status < (rank ?? 0);
    const tries = this.tries.get(keyOf(message)) ?? 0;
    if (!isAccepted || !isUnderWay || message.recipient === '' || tries >= batch.times)
      return undefined;
    this.tries.set(keyOf(message), tries + 1);
    this.redials.push({ message, wait: batch.wait });
    return batch.event;
  }
}

interface PlaceRow {
  readonly batch: string;
  readonly position: number;
}

function keyOf({ batch, position }: PlaceRow): string {
  return messageIdOf(batch, position);
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  const places = dialect.rows<MessagePlace>({
    v_batch: ['uuid', ({ batch }) => batch],
    v_position: ['int', ({ position }) => position],
  });
  const wait: RowWriter<Redial> = updater(
    dialect,
    {
      v_batch: ['uuid', ({ message }) => message.batch],
      v_position: ['int', ({ message }) => message.position],
      v_wait: ['bigint', (redial) => Math.round(redial.wait * 1_000)],
    },
    {
      table: 'messaging_message',
      set: `submission = NULL, due_at = ${dialect.now} + v_wait`,
      where: 'messaging_message.batch = v_batch AND messaging_message.position = v_position',
    },
  );
  return {
    ids,
    places,
    wait,
    batches: `SELECT b.id, b.channel, b.lane, b.content, b.valid_until - ${dialect.now} AS "validFor"
      FROM ${ids.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id
      WHERE b.state >= ${BATCH_STATE.sending} AND b.state <= ${BATCH_STATE.completed} AND b.in_doubt_at IS NULL
      ORDER BY b.id ${dialect.forUpdate('b')}`,
    tries: `SELECT r.batch, r.position, r.raw_status AS event, count(*) AS tries FROM ${places.keyed}
      ${dialect.join} messaging_report r ${dialect.forceIndex('messaging_report_batch')}
        ON r.batch = v_batch AND r.position = v_position
      WHERE r.status IS NULL AND r.sequence IS NOT NULL GROUP BY r.batch, r.position, r.raw_status`,
    accepted: `SELECT m.batch, m.position, m.submission FROM ${places.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')}
        ON m.batch = v_batch AND m.position = v_position
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        AND ${dialect.residual(`s.outcome = ${SUBMISSION_OUTCOME.accepted}`)}`,
    // The new revision excludes the batch from slices that were planned before.
    reopen: updater<string>(
      dialect,
      { v_id: ['uuid', (id) => id] },
      {
        table: 'messaging_batch',
        set: `${setBack('NULL')}, poll_at = NULL`,
        where: 'messaging_batch.id = v_id',
      },
    ),
  };
}
