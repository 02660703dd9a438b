import { setImmediate as turn } from 'node:timers/promises';
import type { ChannelStatus } from '../../../message/status.js';
import { STATUS_RANK } from '../../../message/status.js';
import type { PresentStatuses, OutcomeCount } from '../../../message/views.js';
import type { StoreDatabase } from '../../database/store-database.js';
import type { ListScope } from '../../rows/cursor.js';
import { notStartedStatus } from '../batch-counts.js';
import type { Head } from './message-window.js';
import {
  type CountedPeriod,
  eachBatch,
  RECIPIENTS,
  REPORTS,
  slicesOf,
  slotAt,
  startOf,
} from './message-stats.js';

type Big = string | number;

interface StatusRow {
  readonly batch: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly messages: Big;
}

interface Slot {
  readonly at: number;
  readonly channel: string;
  accepted: number;
  sent: number;
  readonly outcomes: Map<string, OutcomeCount>;
}

/** Entries of the log that no report of a provider made; see `changeEntry`. */
const OWN = ['submit', 'policy', 'settled'];

/**
 * Counts messages of each channel by their present status, by the hour or day of their acceptance.
 * Each message has one status, so that the counts of a slot add up to the accepted messages.
 */
export async function presentStatuses(
  database: StoreDatabase,
  scope: ListScope,
  options: CountedPeriod,
): Promise<PresentStatuses> {
  const { interval } = options;
  const slots = new Map<string, Slot>();
  const slotOf = (head: Head): Slot => {
    const [at, { channel }] = [slotAt(head, interval), head];
    const key = `${at} ${channel}`;
    const slot = slots.get(key) ?? { at, channel, accepted: 0, sent: 0, outcomes: new Map() };
    slots.set(key, slot);
    return slot;
  };
  const add = (head: Head, status: ChannelStatus, errorCode: string | null, messages: number) => {
    const { outcomes } = slotOf(head);
    const key = `${status} ${errorCode ?? ''}`;
    const before = outcomes.get(key)?.messages ?? 0;
    if (messages > 0) outcomes.set(key, { status, errorCode, messages: before + messages });
  };
  const reader = new OutcomeReader(database);
  const countedSince = await eachBatch(database, scope, options, async (heads) => {
    const left = new Map(heads.map((head) => [head, head.recipients]));
    await reader.statuses(heads, (head, { status, errorCode, messages }) => {
      left.set(head, (left.get(head) ?? 0) - Number(messages));
      const name = database.channels.nameOf(status);
      const isFailure = status > STATUS_RANK.sent && errorCode !== null;
      add(head, name, isFailure ? errorCode : null, Number(messages));
    });
    for (const [head, messages] of left) add(head, notStartedStatus(head), null, messages);
    const sent = await reader.sent(heads);
    for (const head of heads) {
      const slot = slotOf(head);
      slot.accepted += head.recipients;
      slot.sent += Math.min(sent.get(head.id) ?? 0, head.recipients);
    }
  });
  return {
    slots: [...slots.values()].map(({ at, outcomes, ...slot }) => {
      return { ...slot, start: startOf(at, interval), outcomes: [...outcomes.values()] };
    }),
    countedSince,
  };
}

class OutcomeReader {
  readonly #isSent: string;

  constructor(private readonly database: StoreDatabase) {
    const { channels } = database;
    const accepted = channels.all.flatMap(({ name }) =>
      channels
        .statusesOf(name)
        .flatMap(([, { rank, failed }]) => (rank >= STATUS_RANK.sent && !failed ? [rank] : [])),
    );
    // A report of a provider says that the provider has the message, whatever became of it.
    this.#isSent = `r.position IS NOT NULL AND (r.status IN (${[...new Set(accepted)].join(', ')})
      OR r.status IS NOT NULL AND r.raw_status NOT IN (${OWN.map((name) => `'${name}'`).join(', ')}))`;
  }

  /** Of the messages that have started. */
  async statuses(
    heads: readonly Head[],
    count: (head: Head, row: StatusRow) => void,
  ): Promise<void> {
    const { dialect } = this.database;
    const read = async (some: readonly Head[], from: number, to: number) => {
      const ids = dialect.rows({ v_id: 'uuid' });
      const rows = await this.database.all<StatusRow>(
        `SELECT m.batch, m.status, m.error_code AS "errorCode", count(*) AS messages
         FROM ${ids.keyed} ${dialect.join} messaging_message m
           ON m.batch = v_id AND m.position >= ? AND m.position < ?
         GROUP BY m.batch, m.status, m.error_code`,
        [...ids.bind(some.map(({ id }) => [id])), from, to],
      );
      const byId = new Map(some.map((head) => [head.id, head]));
      for (const row of rows) {
        const head = byId.get(row.batch);
        if (head) count(head, row);
      }
      await turn();
    };
    const { large, slices } = slicesOf(heads);
    for (const slice of slices) await read(slice, 0, RECIPIENTS);
    for (const head of large)
      for (let from = 0; from < head.recipients; from += RECIPIENTS)
        await read([head], from, from + RECIPIENTS);
  }

  /** Messages of each batch that a provider has accepted. */
  async sent(heads: readonly Head[]): Promise<Map<string, number>> {
    const { dialect } = this.database;
    const sent = new Map<string, number>();
    const { large, slices } = slicesOf(heads);
    for (const slice of slices) {
      const ids = dialect.rows({ v_id: 'uuid' });
      const rows = await this.database.all<{ batch: string; messages: Big }>(
        `SELECT r.batch, count(DISTINCT r.position) AS messages
         FROM ${ids.keyed} ${dialect.join} messaging_report r
           ${dialect.forceIndex('messaging_report_batch')} ON r.batch = v_id
         WHERE ${this.#isSent} GROUP BY r.batch`,
        ids.bind(slice.map(({ id }) => [id])),
      );
      for (const { batch, messages } of rows) sent.set(batch, Number(messages));
      await turn();
    }
    for (const { id } of large) sent.set(id, await this.#sentOf(id));
    return sent;
  }

  /** Of a large batch, by slices of its log. */
  async #sentOf(batch: string): Promise<number> {
    const { dialect } = this.database;
    const positions = new Set<number>();
    for (let after: Big = 0; ;) {
      const rows: { id: Big; position: number }[] = await this.database.all(
        `SELECT r.id, r.position FROM messaging_report r
           ${dialect.forceIndex('messaging_report_batch')}
         WHERE r.batch = ? AND r.id > ? AND ${this.#isSent} ORDER BY r.id LIMIT ?`,
        [batch, after, REPORTS],
      );
      for (const { position } of rows) positions.add(position);
      const last = rows.at(-1);
      if (!last || rows.length < REPORTS) return positions.size;
      after = last.id;
      await turn();
    }
  }
}
