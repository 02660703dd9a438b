import type { LedgerDatabase, Sql } from './ledger-database.js';

/** What a lane's holder knows of its lease. */
export interface Lease {
  readonly lane: string;
  /** Grows with each grant: what was started under a lower one belongs to a former holder. */
  readonly fence: number;
  /** The former holder released it, so nothing of its work is open. */
  readonly clean: boolean;
  /** Milliseconds the former holder may have gone on starting requests after the grant's moment minus this. */
  readonly idleFor: number;
  /** Limiter state its former holder left, where it released the lane. */
  readonly rateState: string | null;
  /** Milliseconds the lane is still paused. */
  readonly pausedFor: number;
  readonly pauseReason: string | null;
}

interface LaneRow {
  readonly lane_key: string;
  readonly owner: string | null;
  readonly fence: string | number;
  readonly lease_until: string | number;
  readonly rate_state: string | null;
  readonly paused_until: string | number;
  readonly pause_reason: string | null;
  readonly now: string | number;
}

/**
 * A lease given or taken is on the disk with the next intent: PostgreSQL keeps its commits in order, and
 * nothing starts before that. Should it be lost, the lane is taken over as if its holder had died.
 */
const UNSYNCED = `WITH unsynced AS (SELECT set_config('synchronous_commit', 'off', true))`;

/** The lane rows: leases on database time, and pauses. */
export class Lanes {
  constructor(
    private readonly database: LedgerDatabase,
    private readonly owner: string,
    /** Milliseconds. */
    private readonly leaseTime: number,
  ) {}

  /** The lane's lease, or `undefined` while somebody else holds it. */
  async acquire(lane: string): Promise<Lease | undefined> {
    const taken = await this.#take(lane);
    if (taken) return this.#leaseOf(taken);
    return this.database.transaction(async (tx) => {
      const row = (await this.#row(tx, lane)) ?? (await this.#create(tx, lane));
      if (row.owner !== null && Number(row.lease_until) >= Number(row.now)) return undefined;
      await tx.run(
        `UPDATE messaging_lane SET owner = ?, fence = fence + 1, lease_until = ${this.database.dialect.now} + ?,
           rate_state = NULL WHERE lane_key = ?`,
        [this.owner, this.leaseTime * 1_000, lane],
      );
      return this.#leaseOf(row);
    });
  }

  /** A lane that is there and free, in one statement where a server can; nobody waits for its disk. */
  async #take(lane: string): Promise<LaneRow | undefined> {
    const { kind, now } = this.database.dialect;
    if (kind !== 'postgres') return undefined;
    const [row] = await this.database.standalone.all<LaneRow>(
      `WITH former AS (${UNSYNCED}
         SELECT l.* FROM messaging_lane l, unsynced WHERE l.lane_key = ? FOR UPDATE OF l),
       taken AS (
         UPDATE messaging_lane SET owner = ?, fence = former.fence + 1, lease_until = ${now} + ?, rate_state = NULL
         FROM former WHERE messaging_lane.lane_key = former.lane_key
           AND (former.owner IS NULL OR former.lease_until < ${now})
         RETURNING former.*)
       SELECT taken.*, ${now} AS now FROM taken`,
      [lane, this.owner, this.leaseTime * 1_000],
    );
    return row;
  }

  #leaseOf(former: LaneRow): Lease {
    const now = Number(former.now);
    return {
      lane: former.lane_key,
      fence: Number(former.fence) + 1,
      clean: former.owner === null,
      // A holder stops starting at two thirds of its lease.
      idleFor:
        former.owner === null ? 0 : (now - Number(former.lease_until)) / 1_000 + this.leaseTime / 3,
      rateState: former.rate_state,
      pausedFor: Math.max(0, (Number(former.paused_until) - now) / 1_000),
      pauseReason: former.pause_reason,
    };
  }

  /** False: somebody else holds the lane. */
  async renew(lane: string, fence: number): Promise<boolean> {
    return this.database.transaction((tx) => this.renewWithin(tx, lane, fence));
  }

  /** Locks the lane by its fence; with false, nothing may be intended. */
  async renewWithin(tx: Sql, lane: string, fence: number): Promise<boolean> {
    const { sql, params } = this.renewal(lane, fence);
    return (await tx.run(sql, params)) === 1;
  }

  /** The statement that locks the lane by its fence, and renews its lease. */
  renewal(lane: string, fence: number): { sql: string; params: unknown[] } {
    return {
      sql: `UPDATE messaging_lane SET lease_until = ${this.database.dialect.now} + ? WHERE lane_key = ? AND fence = ? AND owner = ?`,
      params: [this.leaseTime * 1_000, lane, fence, this.owner],
    };
  }

  /** @param open submissions are left without an outcome: the next holder has to see to them */
  async release(
    lane: string,
    fence: number,
    rateState: string | null,
    open: boolean,
  ): Promise<void> {
    const given = `UPDATE messaging_lane SET owner = ${open ? 'owner' : 'NULL'}, lease_until = 0, rate_state = ?`;
    const params = [rateState, lane, fence, this.owner];
    if (this.database.dialect.kind === 'postgres')
      await this.database.standalone.all(
        `${UNSYNCED} ${given} FROM unsynced WHERE lane_key = ? AND fence = ? AND owner = ?`,
        params,
      );
    else
      await this.database.transaction((tx) =>
        tx.run(`${given} WHERE lane_key = ? AND fence = ? AND owner = ?`, params),
      );
  }

  /** @param wait milliseconds; 0 ends the pause */
  async pause(lane: string, fence: number, wait: number, reason: string | null): Promise<void> {
    await this.database.transaction((tx) =>
      tx.run(
        `UPDATE messaging_lane SET paused_until = ${this.database.dialect.now} + ?, pause_reason = ?
         WHERE lane_key = ? AND fence = ? AND owner = ?`,
        [Math.round(wait * 1_000), reason, lane, fence, this.owner],
      ),
    );
  }

  /** Ends a pause, whoever holds the lane. False: there is no such lane. */
  async resume(lane: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if (!(await this.#row(tx, lane))) return false;
      await tx.run(
        'UPDATE messaging_lane SET paused_until = 0, pause_reason = NULL WHERE lane_key = ?',
        [lane],
      );
      return true;
    });
  }

  /**
   * Reserves `count` evenly spaced moments that nobody else gets.
   * @param interval milliseconds between two of them
   * @returns milliseconds from now to the first
   */
  async reserve(key: string, count: number, interval: number): Promise<number> {
    const { dialect } = this.database;
    const span = Math.ceil(count * interval * 1_000);
    const row = await this.database.transaction(async (tx) => {
      if (!(await this.#row(tx, key))) await this.#create(tx, key);
      await tx.run(
        `UPDATE messaging_lane SET accepted_at = ${dialect.greatest('accepted_at', dialect.now)} + ?
         WHERE lane_key = ?`,
        [span, key],
      );
      const rows = await tx.all<{ until: string | number; now: string | number }>(
        `SELECT accepted_at AS until, ${dialect.now} AS now FROM messaging_lane WHERE lane_key = ?`,
        [key],
      );
      return rows[0]!;
    });
    return (Number(row.until) - span - Number(row.now)) / 1_000;
  }

  async #row(tx: Sql, lane: string): Promise<LaneRow | undefined> {
    const { dialect } = this.database;
    const rows = await tx.all<LaneRow>(
      `SELECT l.lane_key, l.owner, l.fence, l.lease_until, l.rate_state, l.paused_until, l.pause_reason,
         ${dialect.now} AS now FROM messaging_lane l WHERE l.lane_key = ? ${dialect.forUpdate('l')}`,
      [lane],
    );
    return rows[0];
  }

  async #create(tx: Sql, lane: string): Promise<LaneRow> {
    const rows = this.database.dialect.rows({ v_key: 'key' });
    await tx.run(
      `INSERT INTO messaging_lane (lane_key) SELECT v_key FROM ${rows.sql} WHERE 1 = 1
       ${this.database.dialect.ignoreConflict('messaging_lane', 'lane_key')}`,
      rows.bind([[lane]]),
    );
    return (await this.#row(tx, lane)) as LaneRow;
  }
}
