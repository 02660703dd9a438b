import { setImmediate as turn } from 'node:timers/promises';
import type { HistoryStats, HistoryStatsOptions, MessageStats } from '../../../message/views.js';
import type { StoreDatabase } from '../../database/store-database.js';
import { STATUS_RANK } from '../../../message/status.js';
import { BATCH_STATE } from '../../rows/batch-state.js';
import type { ListScope } from '../../rows/cursor.js';
import { type Head, HEAD, matches } from './message-window.js';
import { ID_SLACK, idAt, newestBatches } from '../newest-batches.js';

const MILLISECONDS = { hour: 3_600_000, day: 86_400_000 } as const;

/** Batches, recipients, and reports of one batch, that one statement reads. */
const BATCHES = 1_000;
export const RECIPIENTS = 10_000;
export const REPORTS = 20_000;

type Big = string | number;

export type CountedPeriod = Omit<HistoryStatsOptions, 'tenants' | 'channel'> & {
  readonly until: Date;
};

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
  options: CountedPeriod,
): Promise<HistoryStats> {
  const { since, until, interval } = options;
  const step = MILLISECONDS[interval];
  const slots = new Map<number, Slot>();
  for (let at = Math.floor(since.getTime() / step); at * step < until.getTime(); at++)
    slots.set(at, { accepted: 0, counts: {} });
  const slotOf = (head: Head) => slots.get(slotAt(head, interval)) ?? { accepted: 0, counts: {} };
  const reports = new LoggedReports(database, scope.channel);
  const add = (head: Head, name: string, messages: number): void => {
    const { counts } = slotOf(head);
    if (messages > 0) counts[name] = (counts[name] ?? 0) + messages;
  };
  const countedSince = await eachBatch(database, scope, options, async (heads) => {
    for (const head of heads) slotOf(head).accepted += head.recipients;
    await reports.count(heads, (head, { status, event }, messages) => {
      const name = status === null ? event : database.channels.nameOf(status);
      if (name !== null) add(head, name, messages);
    });
    for (const [head, messages] of await cancelledOf(database, heads))
      add(head, 'cancelled', messages);
  });
  return { slots: [...slots].map(([at, slot]) => statsOf(at * step, slot)), countedSince };
}

/** Number of the hour or day since 1970 in which the batch was accepted. */
export function slotAt({ createdAt }: Head, interval: CountedPeriod['interval']): number {
  return Math.floor(Number(createdAt) / 1_000 / MILLISECONDS[interval]);
}

export function startOf(slot: number, interval: CountedPeriod['interval']): Date {
  return new Date(slot * MILLISECONDS[interval]);
}

/**
 * Gives the batches of a period to `count`, the newest first, up to 1,000 at once.
 * @returns since when they are counted, where `atMost` ended before the period; `null`: all are
 */
export async function eachBatch(
  database: StoreDatabase,
  scope: ListScope,
  { since, until, tag, domain, atMost = Infinity }: CountedPeriod,
  count: (heads: readonly Head[]) => Promise<void>,
): Promise<Date | null> {
  const ending = domain === undefined ? '' : `@${domain.toLowerCase()}`;
  const earliest = idAt(since.getTime() - ID_SLACK, '0');
  let latest = idAt(until.getTime() + ID_SLACK, 'f');
  let left = atMost;
  for (let isFirst = true; ; isFirst = false) {
    const range = { ...scope, earliest, latest, excluded: !isFirst, tag };
    const heads = await newestBatches<Head>(database, HEAD, { ...range, limit: BATCHES });
    const counted: Head[] = [];
    let end: Head | undefined;
    for (const head of heads) {
      if (!matches(head, scope, { since, until })) continue;
      if (!head.sender.toLowerCase().endsWith(ending)) continue;
      counted.push(head);
      left -= head.recipients;
      if (left <= 0) {
        end = head;
        break;
      }
    }
    await count(counted);
    const last = heads.at(-1);
    if (end || !last || heads.length < BATCHES) {
      const isWhole = !end || (end === last && heads.length < BATCHES);
      return isWhole || !end ? null : new Date(Number(end.createdAt) / 1_000);
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

/** Batches that one statement reads together, and those that it reads in parts. */
export function slicesOf(heads: readonly Head[]) {
  const large: Head[] = [];
  const slices: Head[][] = [];
  let recipients = RECIPIENTS;
  for (const head of heads) {
    if (head.recipients > RECIPIENTS) {
      large.push(head);
      continue;
    }
    if (recipients + head.recipients > RECIPIENTS) {
      slices.push([]);
      recipients = 0;
    }
    slices.at(-1)?.push(head);
    recipients += head.recipients;
  }
  return { large, slices };
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
    const { large, slices } = slicesOf(heads);
    for (const head of large) await this.#ofOne(head, count);
    for (const slice of slices) await this.#ofMany(slice, count);
  }

  async #ofMany(heads: readonly Head[], count: Count): Promise<void> {
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
