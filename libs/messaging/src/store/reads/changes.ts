import { messageIdOf } from '../../message/ids.js';
import type { Changes, Latency, Percentiles, Tenants } from '../../message/views.js';
import type { Clock } from '../../ports/clock.js';
import type { RowSource } from '../database/dialect.js';
import type { StoreDatabase } from '../database/store-database.js';
import { decodeCursor, encodeCursor } from '../rows/cursor.js';
import { hasOtherChannels, idAt, newestBatches } from './newest-batches.js';

type Big = string | number;

/** Milliseconds: rows with an earlier time may still be committed, and clocks of processes differ. */
const OVERLAP = 10_000;

/** Rows that are counted since a cursor; where more came, everything counts as changed. */
const MOST = 5_000;

const MOST_BATCHES = 100;
const MOST_MESSAGES = 500;

/** Most tenants of an app whose reports are looked at where a read covers all. */
const MOST_TENANTS = 1_000;
const TENANTS_KEPT = 10_000;

/** Milliseconds over which accepted messages are counted. */
const LOAD_SPAN = 10_000;

/** Batches whose reports give the latency. */
const MEASURED_BATCHES = 200;
const MEASURED_REPORTS = 5_000;

/** Batches among which those of one channel of all tenants are looked for. */
const MIXED_BATCHES = 10_000;

interface Since {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly batches: number;
  readonly reports: number;
  readonly inbound: number;
}

/** Tells cheaply whether anything changed: counts rows of three indexes since a time. */
export class ChangeReader {
  readonly #tenants: RowSource;
  #known: { readonly at: number; readonly tenants: Promise<readonly string[]> } | undefined;

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
  ) {
    this.#tenants = database.dialect.rows({ v_tenant: 'key' });
  }

  async since(tenants: Tenants, cursor: string | undefined): Promise<Changes> {
    const now = this.clock.now();
    const next = { time: now - OVERLAP };
    if (cursor === undefined) {
      const counted = await this.#count(tenants, next.time);
      return { cursor: encode(counted), changed: false, batches: [], messages: [], more: false };
    }
    const [time = 0, batches = 0, reports = 0, inbound = 0] = decodeCursor(cursor, 'changes')
      .split('.')
      .map(Number);
    const counted = await this.#count(tenants, time);
    const counts = [
      [counted.batches, batches],
      [counted.reports, reports],
      [counted.inbound, inbound],
    ] as const;
    const changed = counts.some(([now, before]) => now !== before || now === MOST);
    // The base moves on, so that the counted range stays short.
    const moved = now - time > 3 * OVERLAP ? await this.#count(tenants, next.time) : counted;
    if (!changed) return { cursor: encode(moved), changed, batches: [], messages: [], more: false };
    const ids = await this.#batchIds(tenants, time);
    const messages = await this.#messageIds(await this.#listed(tenants), time);
    const more = ids.length >= MOST_BATCHES || messages.length >= MOST_MESSAGES;
    return { cursor: encode(moved), changed, batches: ids, messages, more };
  }

  /** Times of the newest batches of a period. */
  async latency(
    tenants: Tenants,
    { since, until, channel }: { since: Date; until: Date; channel?: string | undefined },
    sentRanks: readonly number[],
    deliveredRanks: readonly number[],
  ): Promise<Latency> {
    const heads = await newestBatches<{ id: string; channel: string; availableAt: Big }>(
      this.database,
      'b.id, b.channel, b.available_at AS "availableAt"',
      {
        tenants,
        channel,
        latest: idAt(until.getTime(), 'f'),
        earliest: idAt(since.getTime(), '0'),
        limit: hasOtherChannels({ tenants, channel }) ? MIXED_BATCHES : MEASURED_BATCHES,
      },
    );
    const due = new Map(
      heads
        .filter((head) => channel === undefined || head.channel === channel)
        .slice(0, MEASURED_BATCHES)
        .map(({ id, availableAt }) => [id, Number(availableAt)]),
    );
    if (due.size === 0) return { messages: 0, toSent: null, toDelivered: null };
    const { dialect } = this.database;
    const ids = dialect.rows({ v_id: 'uuid' });
    const rows = await this.database.all<{
      batch: string;
      position: number;
      status: number;
      at: Big;
    }>(
      `SELECT r.batch, r.position, r.status, r.received_at AS at FROM ${ids.keyed}
       ${dialect.join} messaging_report r ${dialect.forceIndex('messaging_report_batch')} ON r.batch = v_id
       WHERE r.position IS NOT NULL AND r.status IS NOT NULL LIMIT ?`,
      [...ids.bind([...due.keys()].map((id) => [id])), MEASURED_REPORTS],
    );
    const first = (ranks: readonly number[]) => {
      const times = new Map<string, number>();
      for (const { batch, position, status, at } of rows) {
        if (!ranks.includes(status)) continue;
        const key = messageIdOf(batch, position);
        const ms = Math.max(0, Number(at) - (due.get(batch) ?? 0)) / 1_000;
        times.set(key, Math.min(ms, times.get(key) ?? Infinity));
      }
      return [...times.values()];
    };
    return {
      messages: new Set(rows.map(({ batch, position }) => messageIdOf(batch, position))).size,
      toSent: percentiles(first(sentRanks)),
      toDelivered: percentiles(first(deliveredRanks)),
    };
  }

  /** Requests without an outcome, and messages accepted per second, by provider. */
  async load(): Promise<Map<string, { inFlight: number; rate: number }>> {
    const { dialect } = this.database;
    const open = await this.database.all<{ provider: string; n: Big }>(
      `SELECT s.provider, count(*) AS n FROM messaging_submission s WHERE s.outcome IS NULL
       GROUP BY s.provider`,
    );
    const tenants = await this.#listed('all');
    const accepted = await this.database.all<{ provider: string; n: Big }>(
      `SELECT r.provider, count(*) AS n FROM ${this.#tenants.keyed} ${dialect.join} messaging_report r
         ${dialect.forceIndex('messaging_report_list')}
         ON r.tenant = v_tenant AND r.received_at >= ?
       WHERE r.raw_status = 'submit' GROUP BY r.provider`,
      [...this.#bind(tenants), (this.clock.now() - LOAD_SPAN) * 1_000],
    );
    const load = new Map<string, { inFlight: number; rate: number }>();
    for (const { provider, n } of open) load.set(provider, { inFlight: Number(n), rate: 0 });
    for (const { provider, n } of accepted)
      load.set(provider, {
        inFlight: load.get(provider)?.inFlight ?? 0,
        rate: (Number(n) * 1_000) / LOAD_SPAN,
      });
    return load;
  }

  async #count(tenants: Tenants, time: number): Promise<Since> {
    const { dialect } = this.database;
    const first = idAt(time, '0');
    const listed = await this.#listed(tenants);
    const [batches] =
      tenants === 'all'
        ? await this.database.all<{ n: Big }>(
            `SELECT count(*) AS n FROM (SELECT b.id FROM messaging_batch b WHERE b.id >= ? LIMIT ?) AS newer`,
            [first, MOST],
          )
        : await this.database.all<{ n: Big }>(
            `SELECT count(*) AS n FROM (SELECT b.id FROM ${this.#tenants.keyed} ${dialect.join} messaging_batch b
               ${dialect.forceIndex('messaging_batch_list')} ON b.tenant = v_tenant AND b.id >= ? LIMIT ?) AS newer`,
            [...this.#bind(listed), first, MOST],
          );
    const [reports] = await this.database.all<{ n: Big }>(
      `SELECT count(*) AS n FROM (SELECT r.id FROM ${this.#tenants.keyed} ${dialect.join} messaging_report r
         ${dialect.forceIndex('messaging_report_list')} ON r.tenant = v_tenant AND r.received_at >= ? LIMIT ?) AS newer`,
      [...this.#bind(listed), time * 1_000, MOST],
    );
    const [inbound] = await this.database.all<{ n: Big }>(
      `SELECT count(*) AS n FROM (SELECT t.id FROM ${this.#tenants.keyed} ${dialect.join} messaging_inbound_text t
         ${dialect.forceIndex('messaging_inbound_text_list')} ON t.tenant = v_tenant AND t.id >= ? LIMIT ?) AS newer`,
      [...this.#bind(listed), first, MOST],
    );
    return {
      time,
      batches: Number(batches?.n ?? 0),
      reports: Number(reports?.n ?? 0),
      inbound: Number(inbound?.n ?? 0),
    };
  }

  async #batchIds(tenants: Tenants, time: number): Promise<string[]> {
    const rows = await newestBatches<{ id: string }>(this.database, 'b.id', {
      tenants,
      earliest: idAt(time, '0'),
      limit: MOST_BATCHES,
    });
    return rows.map(({ id }) => id);
  }

  async #messageIds(tenants: readonly string[], time: number): Promise<string[]> {
    const { dialect } = this.database;
    const rows = await this.database.all<{ batch: string; position: number }>(
      `SELECT r.batch, r.position FROM ${this.#tenants.keyed} ${dialect.join} messaging_report r
         ${dialect.forceIndex('messaging_report_list')} ON r.tenant = v_tenant AND r.received_at >= ?
       WHERE r.batch IS NOT NULL AND r.position IS NOT NULL LIMIT ?`,
      [...this.#bind(tenants), time * 1_000, 2 * MOST_MESSAGES],
    );
    const ids = new Set(rows.map(({ batch, position }) => messageIdOf(batch, position)));
    return [...ids].slice(0, MOST_MESSAGES);
  }

  #bind(tenants: readonly string[]): unknown[] {
    return this.#tenants.bind(tenants.map((tenant) => [tenant]));
  }

  /** The tenants with batches, by one step of the index for each. */
  #listed(tenants: Tenants): Promise<readonly string[]> {
    if (tenants !== 'all') return Promise.resolve(tenants);
    const now = this.clock.monotonic();
    if (!this.#known || now - this.#known.at > TENANTS_KEPT) {
      const known = { at: now, tenants: this.#read() };
      this.#known = known;
      known.tenants.catch(() => {
        if (this.#known === known) this.#known = undefined;
      });
    }
    return this.#known.tenants;
  }

  async #read(): Promise<string[]> {
    const found: string[] = [];
    const [first] = await this.database.all<{ tenant: string | null }>(
      'SELECT min(b.tenant) AS tenant FROM messaging_batch b',
    );
    let last = first?.tenant ?? null;
    while (last !== null && found.length < MOST_TENANTS) {
      found.push(last);
      const [next] = await this.database.all<{ tenant: string | null }>(
        'SELECT min(b.tenant) AS tenant FROM messaging_batch b WHERE b.tenant > ?',
        [last],
      );
      last = next?.tenant ?? null;
    }
    return found;
  }
}

function encode({ time, batches, reports, inbound }: Since): string {
  return encodeCursor(`${time}.${batches}.${reports}.${inbound}`);
}

function percentiles(values: number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number);
  return { p50: at(0.5), p95: at(0.95) };
}
