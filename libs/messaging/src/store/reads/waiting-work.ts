import type { StoreDatabase } from '../database/store-database.js';
import { HAS_WORK } from '../rows/batch-state.js';
import { isQueued } from '../rows/status.js';

/** Messages of a lane that a restored database has queued or in flight. */
export interface WaitingLane {
  readonly lane: string;
  readonly channel: string;
  /** Accepted and due before the restore: the lost database may have sent them. */
  readonly queued: number;
  /** Due after the restore: the lost database did not send them. */
  readonly scheduled: number;
  /** In flight at the backup, by provider and start. */
  readonly inFlight: readonly InFlightMessages[];
}

export interface InFlightMessages {
  readonly provider: string;
  readonly firstSentAt: Date;
  readonly messages: number;
}

type Big = string | number;

/** Counts the messages that a restored database would send. Reads all work of the store: for operators only. */
export class WaitingWork {
  readonly #queued: string;
  readonly #inFlight: string;

  constructor(private readonly database: StoreDatabase) {
    const started = `(SELECT count(*) FROM messaging_message m
      WHERE m.batch = b.id AND NOT (${isQueued('m')}))`;
    const later = `CASE WHEN b.available_at > ${database.dialect.bigint} THEN 1 ELSE 0 END`;
    this.#queued = `SELECT lane, channel, later, sum(messages) AS messages FROM (
        SELECT b.lane, b.channel, ${later} AS later, b.recipient_count - ${started} AS messages
        FROM messaging_batch b WHERE b.${HAS_WORK} AND b.created_at < ?) AS open_batches
      GROUP BY lane, channel, later ORDER BY lane, channel`;
    this.#inFlight = `SELECT b.lane, b.channel, s.provider, s.first_sent_at AS "firstSentAt",
        count(*) AS messages
      FROM messaging_submission s JOIN messaging_batch b ON b.id = s.batch
      JOIN messaging_message m ON m.batch = s.batch AND m.submission = s.n
        AND m.position BETWEEN s.first_position AND s.last_position
      WHERE s.outcome IS NULL AND b.created_at < ?
      GROUP BY b.lane, b.channel, s.provider, s.first_sent_at ORDER BY b.lane, b.channel`;
  }

  /** @param since start of the restored database */
  async byLane(since: Date): Promise<WaitingLane[]> {
    const at = since.getTime() * 1_000;
    type Key = Pick<WaitingLane, 'lane' | 'channel'>;
    const queued = await this.database.all<Key & { later: Big; messages: Big }>(this.#queued, [
      at,
      at,
    ]);
    const inFlight = await this.database.all<
      Key & { provider: string; firstSentAt: Big; messages: Big }
    >(this.#inFlight, [at]);
    const lanes = new Map<
      string,
      Key & { queued: number; scheduled: number; inFlight: InFlightMessages[] }
    >();
    const laneOf = ({ lane, channel }: Key) => {
      const key = `${channel} ${lane}`;
      const found = lanes.get(key) ?? { lane, channel, queued: 0, scheduled: 0, inFlight: [] };
      lanes.set(key, found);
      return found;
    };
    for (const row of queued)
      laneOf(row)[Number(row.later) === 1 ? 'scheduled' : 'queued'] += Number(row.messages);
    for (const row of inFlight)
      laneOf(row).inFlight.push({
        provider: row.provider,
        firstSentAt: new Date(Number(row.firstSentAt) / 1_000),
        messages: Number(row.messages),
      });
    return [...lanes.values()];
  }

  async lanes(): Promise<string[]> {
    const rows = await this.database.all<{ lane: string }>(
      `${this.database.dialect.laneHeads} SELECT DISTINCT lane FROM heads WHERE due_at IS NOT NULL`,
    );
    return rows.map(({ lane }) => lane);
  }

  /** A page of the lane's batches with messages that have not started, by id. */
  async batches(
    lane: string,
    after: string,
    limit: number,
  ): Promise<{ readonly id: string; readonly tenant: string; readonly channel: string }[]> {
    return this.database.all(
      `SELECT b.id, b.tenant, b.channel FROM messaging_batch b
       WHERE ${this.database.dialect.hasWork('b')} AND b.lane = ? AND b.id > ?
       ORDER BY b.id LIMIT ?`,
      [lane, after, limit],
    );
  }
}
