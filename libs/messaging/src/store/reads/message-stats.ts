import { setImmediate as turn } from 'node:timers/promises';
import type { HistoryStats, HistoryStatsOptions, MessageStats } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';
import { STATUS_RANK } from '../../message/status.js';
import { BATCH_STATE } from '../rows/batch-state.js';
import type { ListScope } from '../rows/cursor.js';
import { type Head, HEAD, matches } from './message-window.js';
import { ID_SLACK, idAt, newestBatches } from './newest-batches.js';

const MILLISECONDS = { hour: 3_600_000, day: 86_400_000 } as const;

/** Batches, recipients, and reports of one batch, that one statement reads. */
const BATCHES = 1_000;
const RECIPIENTS = 10_000;
const REPORTS = 20_000;

type Big = string | number;

interface Logged {
  readonly status: number | null;
  readonly event: string | null;
}

interface Slot {
  accepted: number;
  readonly counts: Record<string, number>;
}

/**
 * Counts messages by the hour or day of their acceptance, with empty ones: the newest batches first,
 * in slices, between which other work has turns of the event loop.
 */
export async function messageStats(
  database: StoreDatabase,
  scope: ListScope,
  options: Omit<HistoryStatsOptions, 'tenants' | 'channel'> & { readonly until: Date },
): Promise<HistoryStats> {
  const { since, until, interval, tag, domain, atMost = Infinity } = options;
  const step = MILLISECONDS[interval];
  const slots = new Map<number, Slot>();
  for (let at = Math.floor(since.getTime() / step); at * step < until.getTime(); at++)
    slots.set(at, { accepted: 0, counts: {} });
  const slotOf = ({ createdAt }: Head) =>
    slots.get(Math.floor(Number(createdAt) / 1_000 / step)) ?? { accepted: 0, counts: {} };
  const ending = domain === undefined ? '' : `@${domain.toLowerCase()}`;
  const reports = new LoggedReports(database, scope.channel);
  const earliest = idAt(since.getTime() - ID_SLACK, '0');
  let latest = idAt(until.getTime() + ID_SLACK, 'f');
  let left = atMost;
  for (let isFirst = true; ; isFirst = false) {
    const range = { tenants: scope.tenants, earliest, latest, excluded: !isFirst, tag };
    const heads = await newestBatches<Head>(database, HEAD, { ...range, limit: BATCHES });
    const counted: Head[] = [];
    let end: Head | undefined;
    for (const head of heads) {
      if (!matches(head, scope, { since, until })) continue;
      if (!head.sender.toLowerCase().endsWith(ending)) continue;
      counted.push(head);
      slotOf(head).accepted += head.recipients;
      left -= head.recipients;
      if (left <= 0) {
        end = head;
        break;
      }
    }
    const add = (head: Head, name: string, messages: number): void => {
      const { counts } = slotOf(head);
      if (messages > 0) counts[name] = (counts[name] ?? 0) + messages;
    };
    await reports.count(counted, (head, { status, event }, messages) => {
      const name = status === null ? event : database.channels.nameOf(status);
      if (name !== null) add(head, name, messages);
    });
    for (const [head, messages] of await cancelledOf(database, counted))
      add(head, 'cancelled', messages);
    const last = heads.at(-1);
    if (end || !last || heads.length < BATCHES) {
      const isWhole = !end || (end === last && heads.length < BATCHES);
      const countedSince = isWhole || !end ? null : new Date(Number(end.createdAt) / 1_000);
      return { slots: [...slots].map(([at, slot]) => statsOf(at * step, slot)), countedSince };
    }
    latest = last.id;
    await turn();
  }
}

/** Messages that were cancelled with their batch: no log has them. */
async function cancelledOf(
  database: StoreDatabase,
  heads: readonly Head[],
): Promise<Map<Head, number>> {
  const left = new Map(
    heads
      .filter(({ state }) => state === BATCH_STATE.cancelled)
      .map((head) => [head, head.recipients]),
  );
  if (left.size === 0) return left;
  const { dialect } = database;
  const ids = dialect.rows({ v_id: 'uuid' });
  const started = await database.all<{ batch: string; messages: Big }>(
    `SELECT m.batch, count(*) AS messages
     FROM ${ids.keyed} ${dialect.join} messaging_message m ON m.batch = v_id
     WHERE m.status <> ${STATUS_RANK.cancelled} GROUP BY m.batch`,
    ids.bind([...left.keys()].map(({ id }) => [id])),
  );
  const byId = new Map([...left.keys()].map((head) => [head.id, head]));
  for (const { batch, messages } of started) {
    const head = byId.get(batch);
    if (head) left.set(head, head.recipients - Number(messages));
  }
  return left;
}

function statsOf(start: number, slot: Slot): MessageStats {
  return { start: new Date(start), ...slot };
}

type Count = (head: Head, logged: Logged, messages: number) => void;

/** Counts the messages of batches by the statuses and events of their log. */
class LoggedReports {
  readonly #events: readonly string[];
  readonly #counted: string;

  constructor(
    private readonly database: StoreDatabase,
    channel: string | undefined,
  ) {
    this.#events = database.channels.all
      .filter(({ name }) => channel === undefined || name === channel)
      .flatMap((definition) => definition.events ?? []);
    const isEvent = this.#events.map(() => 'r.raw_status = ?').join(' OR ') || '1 = 0';
    this.#counted = `r.position IS NOT NULL AND (r.status IS NOT NULL OR ${isEvent})`;
  }

  async count(heads: readonly Head[], count: Count): Promise<void> {
    let slice: Head[] = [];
    let recipients = 0;
    for (const head of heads) {
      if (head.recipients > RECIPIENTS) {
        await this.#ofOne(head, count);
        continue;
      }
      if (recipients + head.recipients > RECIPIENTS) {
        await this.#ofMany(slice, count);
        slice = [];
        recipients = 0;
      }
      slice.push(head);
      recipients += head.recipients;
    }
    await this.#ofMany(slice, count);
  }

  async #ofMany(heads: readonly Head[], count: Count): Promise<void> {
    if (heads.length === 0) return;
    const { dialect } = this.database;
    const ids = dialect.rows({ v_id: 'uuid' });
    const rows = await this.database.all<Logged & { batch: string; messages: Big }>(
      `SELECT batch, status, event, count(*) AS messages FROM (
         SELECT DISTINCT r.batch, r.position, r.status,
           CASE WHEN r.status IS NULL THEN r.raw_status END AS event
         FROM ${ids.keyed} ${dialect.join} messaging_report r
           ${dialect.forceIndex('messaging_report_batch')} ON r.batch = v_id
         WHERE ${this.#counted}) AS logged
       GROUP BY batch, status, event`,
      [...ids.bind(heads.map(({ id }) => [id])), ...this.#events],
    );
    const byId = new Map(heads.map((head) => [head.id, head]));
    for (const { batch, messages, ...logged } of rows) {
      const head = byId.get(batch);
      if (head) count(head, logged, Number(messages));
    }
    await turn();
  }

  /** A large batch, by slices of its log. */
  async #ofOne(head: Head, count: Count): Promise<void> {
    const { dialect } = this.database;
    const seen = new Set<string>();
    for (let after: Big = 0; ;) {
      const rows: (Logged & { id: Big; position: number | null })[] = await this.database.all(
        `SELECT r.id, r.position, r.status,
           CASE WHEN r.status IS NULL THEN r.raw_status END AS event
         FROM messaging_report r ${dialect.forceIndex('messaging_report_batch')}
         WHERE r.batch = ? AND r.id > ? AND ${this.#counted} ORDER BY r.id LIMIT ?`,
        [head.id, after, ...this.#events, REPORTS],
      );
      for (const { position, status, event } of rows) {
        const key = `${position} ${status ?? event}`;
        if (seen.has(key)) continue;
        seen.add(key);
        count(head, { status, event }, 1);
      }
      const last = rows.at(-1);
      if (!last || rows.length < REPORTS) return;
      after = last.id;
      await turn();
    }
  }
}
