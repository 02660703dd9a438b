import { LaneGroup } from './lane-group.js';
import { type HeldLane, LaneLeases, type Lease, type ReleasedLane } from './lane-leases.js';
import type { StoreDatabase, Sql } from './store-database.js';

/** Lanes in one flush. */
const LANES = 500;

/** The lane rows: leases on database time, and pauses. What many lanes ask for shares a statement. */
export class Lanes {
  /** Leases of many lanes at once. */
  readonly leases: LaneLeases;
  readonly #taking: LaneGroup<{ readonly lane: string }, Lease | undefined>;
  readonly #renewing: LaneGroup<HeldLane, boolean>;
  readonly #releasing: LaneGroup<ReleasedLane, void>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly owner: string,
    /** Milliseconds. */
    private readonly leaseTime: number,
  ) {
    const leases = new LaneLeases(database, owner, leaseTime);
    this.leases = leases;
    this.#taking = new LaneGroup({
      together: (lanes) => leases.take(lanes.map(({ lane }) => lane)),
      alone: ({ lane }) => leases.takeWaiting(lane),
      most: LANES,
    });
    this.#renewing = new LaneGroup({
      together: async (lanes) => each(await leases.renew(lanes), true),
      alone: ({ lane, fence }) =>
        this.database.transaction((tx) => this.renewWithin(tx, lane, fence)),
      most: LANES,
    });
    this.#releasing = new LaneGroup({
      together: async (lanes) => each(await leases.release(lanes), undefined),
      alone: (lane) => leases.releaseWaiting(lane),
      most: LANES,
    });
  }

  /** The lane's lease, or `undefined` while somebody else holds it. Not to be asked for by who works on it. */
  acquire(lane: string): Promise<Lease | undefined> {
    return this.#taking.add({ lane });
  }

  /** Those of the lanes that a process holds. */
  async held(lanes: readonly string[]): Promise<ReadonlySet<string>> {
    return lanes.length === 0 ? new Set() : this.leases.heldBySome(lanes);
  }

  /** False: somebody else holds the lane. */
  renew(lane: string, fence: number): Promise<boolean> {
    return this.#renewing.add({ lane, fence });
  }

  /** @param open submissions are left without an outcome: the next holder has to see to them */
  release(lane: string, fence: number, rateState: string | null, open: boolean): Promise<void> {
    return this.#releasing.add({ lane, fence, rateState, open });
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
      if (!(await this.#lock(tx, lane))) return false;
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
    const keys = dialect.rows({ v_key: 'key' });
    const row = await this.database.transaction(async (tx) => {
      await tx.run(
        `INSERT INTO messaging_rate_slot (rate_key, reserved_until)
         SELECT v_key, ${dialect.now} + ? FROM ${keys.sql} WHERE 1 = 1
         ${dialect.onConflict('rate_key', `reserved_until = ${dialect.greatest('messaging_rate_slot.reserved_until + ?', 'new.reserved_until')}`)}`,
        [span, ...keys.bind([[key]]), span],
      );
      const rows = await tx.all<{ until: string | number; now: string | number }>(
        `SELECT reserved_until AS until, ${dialect.now} AS now FROM messaging_rate_slot WHERE rate_key = ?`,
        [key],
      );
      return rows[0]!;
    });
    return (Number(row.until) - span - Number(row.now)) / 1_000;
  }

  async #lock(tx: Sql, lane: string): Promise<boolean> {
    const rows = await tx.all(
      `SELECT l.lane_key FROM messaging_lane l WHERE l.lane_key = ? ${this.database.dialect.forUpdate('l')}`,
      [lane],
    );
    return rows.length > 0;
  }
}

function each<R>(lanes: ReadonlySet<string>, result: R): Map<string, R> {
  return new Map([...lanes].map((lane) => [lane, result]));
}
