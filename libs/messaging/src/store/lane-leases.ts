import { type LaneStatements, laneStatements } from './lane.statements.js';
import type { StoreDatabase, Sql } from './store-database.js';

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
  /** Its former holder was this very process: a fence alone does not tell, where a database lost the last grants. */
  readonly ours: boolean;
  /** Milliseconds the lane is still paused. */
  readonly pausedFor: number;
  readonly pauseReason: string | null;
}

/** A lane and the fence it is held by. */
export interface HeldLane {
  readonly lane: string;
  readonly fence: number;
}

export interface ReleasedLane extends HeldLane {
  readonly rateState: string | null;
  /** Submissions are left without an outcome: the next holder has to see to them. */
  readonly open: boolean;
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
  /** Nobody else holds it. */
  readonly free: string | number;
}

/**
 * Leases of many lanes at once: in one statement on PostgreSQL, in one transaction elsewhere. Rows are
 * locked in the order of their keys, and one that somebody else has locked is left out of the answer,
 * untouched: nobody waits, so two processes that want the same lanes cannot wait for each other.
 */
export class LaneLeases {
  readonly #sql: LaneStatements;

  constructor(
    private readonly database: StoreDatabase,
    private readonly owner: string,
    /** Milliseconds. */
    private readonly leaseTime: number,
  ) {
    this.#sql = laneStatements(database.dialect);
  }

  /**
   * One that is ours already is taken anew, under the next fence: the answer to an earlier grant or release
   * was lost, since nobody here asks for a lane that is being worked on.
   * @returns by lane; `undefined`: somebody else holds it
   */
  async take(lanes: readonly string[]): Promise<Map<string, Lease | undefined>> {
    const rows = await this.#takeKnown(lanes);
    const known = new Set(rows.map(({ lane_key }) => lane_key));
    const unknown = lanes.filter((lane) => !known.has(lane));
    if (unknown.length > 0) {
      await this.#createMissing(unknown);
      rows.push(...(await this.#takeKnown(unknown)));
    }
    return new Map(rows.map((row) => [row.lane_key, isFree(row) ? this.#leaseOf(row) : undefined]));
  }

  /** The same for one whose row is waited for. */
  takeWaiting(lane: string): Promise<Lease | undefined> {
    return this.database.transaction(async (tx) => {
      const [row] = await tx.all<LaneRow>(this.#sql.formerWaiting, this.#taken([lane]));
      if (!row || !isFree(row)) return undefined;
      await tx.run(this.#sql.grant, this.#taken([lane]));
      return this.#leaseOf(row);
    });
  }

  /** Those of the lanes that a process holds. */
  async heldBySome(lanes: readonly string[]): Promise<Set<string>> {
    return keysOf(await this.database.all<LaneRow>(this.#sql.heldBySome, this.#keys(lanes)));
  }

  async renew(lanes: readonly HeldLane[]): Promise<Set<string>> {
    const { atOnce } = this.#sql;
    if (!atOnce) return this.database.transaction((tx) => this.renewWithin(tx, lanes));
    return keysOf(await this.database.standalone.all<LaneRow>(atOnce.renew, this.heldRows(lanes)));
  }

  /** Those that are ours and free, locked until the transaction ends. */
  async renewWithin(tx: Sql, lanes: readonly HeldLane[]): Promise<Set<string>> {
    const ours = keysOf(await tx.all<LaneRow>(this.#sql.ours, this.heldRows(lanes)));
    const held = lanes.filter(({ lane }) => ours.has(lane));
    if (held.length > 0) await tx.run(this.#sql.renew, this.heldRows(held));
    return ours;
  }

  async release(lanes: readonly ReleasedLane[]): Promise<Set<string>> {
    const { atOnce, ours, release } = this.#sql;
    if (atOnce)
      return keysOf(
        await this.database.standalone.all<LaneRow>(atOnce.release, this.#released(lanes)),
      );
    return this.database.transaction(async (tx) => {
      const found = keysOf(await tx.all<LaneRow>(ours, this.heldRows(lanes)));
      const held = lanes.filter(({ lane }) => found.has(lane));
      if (held.length > 0) await tx.run(release, this.#released(held));
      return found;
    });
  }

  /** The same for one whose row is waited for, if it is ours. */
  async releaseWaiting(lane: ReleasedLane): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [ours] = await tx.all<LaneRow>(this.#sql.oursWaiting, this.heldRows([lane]));
      if (ours) await tx.run(this.#sql.release, this.#released([lane]));
    });
  }

  /** A query that locks those that are ours and free, and its parameters: `lane_key` and `v_lease` of each. */
  get held(): string {
    return this.#sql.ours;
  }

  heldRows(lanes: readonly HeldLane[]): unknown[] {
    return this.#sql.held.bind(
      lanes.map(({ lane, fence }) => [lane, fence, this.owner, this.leaseTime * 1_000]),
    );
  }

  async create(tx: Sql, lanes: readonly string[]): Promise<void> {
    await tx.run(this.#sql.create, this.#keys(lanes));
  }

  async #takeKnown(lanes: readonly string[]): Promise<LaneRow[]> {
    const { atOnce, former, grant } = this.#sql;
    if (atOnce) return this.database.standalone.all<LaneRow>(atOnce.take, this.#taken(lanes));
    return this.database.transaction(async (tx) => {
      const rows = await tx.all<LaneRow>(former, this.#taken(lanes));
      const free = rows.filter(isFree).map(({ lane_key }) => lane_key);
      if (free.length > 0) await tx.run(grant, this.#taken(free));
      return rows;
    });
  }

  /** Those of the lanes that are not there; some may be, and locked. */
  async #createMissing(lanes: readonly string[]): Promise<void> {
    const { atOnce, known } = this.#sql;
    if (atOnce) {
      await this.database.standalone.all(atOnce.create, this.#keys(lanes));
      return;
    }
    // MySQL would wait for the row that is there.
    const there = keysOf(await this.database.all<LaneRow>(known, this.#keys(lanes)));
    const missing = lanes.filter((lane) => !there.has(lane));
    if (missing.length > 0) await this.database.transaction((tx) => this.create(tx, missing));
  }

  #keys(lanes: readonly string[]): unknown[] {
    return this.#sql.lanes.bind(lanes.map((lane) => [lane]));
  }

  #taken(lanes: readonly string[]): unknown[] {
    return this.#sql.taken.bind(lanes.map((lane) => [lane, this.owner, this.leaseTime * 1_000]));
  }

  #released(lanes: readonly ReleasedLane[]): unknown[] {
    return this.#sql.released.bind(
      lanes.map(({ lane, fence, rateState, open }) => [
        lane,
        fence,
        this.owner,
        rateState === null ? null : `${this.owner} ${rateState}`,
        open ? 1 : 0,
      ]),
    );
  }

  #leaseOf(former: LaneRow): Lease {
    const now = Number(former.now);
    const [by, rateState] = leftBy(former.rate_state);
    return {
      lane: former.lane_key,
      fence: Number(former.fence) + 1,
      clean: former.owner === null,
      // A holder stops starting at two thirds of its lease. One of ours is not over, and nobody else's.
      idleFor:
        former.owner === null
          ? 0
          : Math.max(0, (now - Number(former.lease_until)) / 1_000 + this.leaseTime / 3),
      rateState,
      ours: (former.owner ?? by) === this.owner,
      pausedFor: Math.max(0, (Number(former.paused_until) - now) / 1_000),
      pauseReason: former.pause_reason,
    };
  }
}

/** Who left a limiter's state, and the state. */
function leftBy(state: string | null): [owner: string | null, state: string | null] {
  const end = state?.indexOf(' ') ?? -1;
  return state === null || end < 0 ? [null, state] : [state.slice(0, end), state.slice(end + 1)];
}

function isFree({ free }: LaneRow): boolean {
  return Number(free) === 1;
}

function keysOf(rows: readonly LaneRow[]): Set<string> {
  return new Set(rows.map(({ lane_key }) => lane_key));
}
