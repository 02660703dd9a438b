import type { Dialect } from '../database/dialect.js';
import type { HeldLane, LaneHolder, LaneRow, LockWait, ReleasedLane } from '../rows/lease.js';
import type { Sql } from '../database/sql.js';

/**
 * Takes, renews and releases many lanes in one transaction. Rows are locked in the order of their
 * keys. With `skip` the rows that another transaction has locked are skipped, unchanged, so that
 * two processes that take the same lanes do not wait for each other.
 */
export class LanesSlowPath {
  readonly #sql: ReturnType<typeof laneStatements>;

  constructor(dialect: Dialect) {
    this.#sql = laneStatements(dialect);
  }

  /** Grants the lanes that no other process holds. @returns the lanes before the grant */
  async take(
    tx: Sql,
    lanes: readonly string[],
    holder: LaneHolder,
    locked: LockWait,
  ): Promise<LaneRow[]> {
    const { taken, former, grant } = this.#sql;
    const rowsOf = (names: readonly string[]) => taken.bind(takenRows(names, holder));
    const rows = await tx.all<LaneRow>(former[locked], rowsOf(lanes));
    const free = rows.filter(({ free }) => Number(free) === 1).map(({ lane_key }) => lane_key);
    if (free.length > 0) await tx.run(grant, rowsOf(free));
    return rows;
  }

  /** The lanes of the list that have a row. */
  async known(sql: Pick<Sql, 'all'>, lanes: readonly string[]): Promise<Set<string>> {
    return keysOf(await sql.all<LaneRow>(this.#sql.known, this.#sql.lanes.bind(keyRows(lanes))));
  }

  /** The lanes of the list that any process holds. */
  async held(sql: Pick<Sql, 'all'>, lanes: readonly string[]): Promise<Set<string>> {
    return keysOf(
      await sql.all<LaneRow>(this.#sql.heldByAny, this.#sql.lanes.bind(keyRows(lanes))),
    );
  }

  async create(tx: Sql, lanes: readonly string[]): Promise<void> {
    await tx.run(this.#sql.create, this.#sql.lanes.bind(keyRows(lanes)));
  }

  /** @returns the lanes that the holder still has, locked until the transaction ends */
  async renew(
    tx: Sql,
    lanes: readonly HeldLane[],
    holder: LaneHolder,
    locked: LockWait,
  ): Promise<Set<string>> {
    const { held, ours, renew } = this.#sql;
    const found = keysOf(await tx.all<LaneRow>(ours[locked], held.bind(heldRows(lanes, holder))));
    const renewed = lanes.filter(({ lane }) => found.has(lane));
    if (renewed.length > 0) await tx.run(renew, held.bind(heldRows(renewed, holder)));
    return found;
  }

  /** @returns the released lanes; another process holds the others, or has them locked */
  async release(
    tx: Sql,
    lanes: readonly ReleasedLane[],
    holder: LaneHolder,
    locked: LockWait,
  ): Promise<Set<string>> {
    const { held, ours, released, release } = this.#sql;
    const found = keysOf(await tx.all<LaneRow>(ours[locked], held.bind(heldRows(lanes, holder))));
    const own = lanes.filter(({ lane }) => found.has(lane));
    if (own.length > 0) await tx.run(release, released.bind(releasedRows(own, holder)));
    return found;
  }
}

export const TAKEN = { v_lane: 'key', v_owner: 'key', v_lease: 'bigint' } as const;
export const HELD = {
  v_lane: 'key',
  v_fence: 'bigint',
  v_owner: 'key',
  v_lease: 'bigint',
} as const;
export const RELEASED = {
  v_lane: 'key',
  v_fence: 'bigint',
  v_owner: 'key',
  v_state: 'text',
  v_open: 'int',
} as const;

/** Rows of {@link TAKEN}. */
export function takenRows(lanes: readonly string[], { owner, leaseTime }: LaneHolder): unknown[][] {
  return lanes.map((lane) => [lane, owner, leaseTime * 1_000]);
}

/** Rows of {@link HELD}. */
export function heldRows(
  lanes: readonly HeldLane[],
  { owner, leaseTime }: LaneHolder,
): unknown[][] {
  return lanes.map(({ lane, fence }) => [lane, fence, owner, leaseTime * 1_000]);
}

/** Rows of {@link RELEASED}. */
export function releasedRows(lanes: readonly ReleasedLane[], { owner }: LaneHolder): unknown[][] {
  return lanes.map(({ lane, fence, rateState, open }) => [
    lane,
    fence,
    owner,
    rateState === null ? null : `${owner} ${rateState}`,
    open ? 1 : 0,
  ]);
}

/** SQL: the columns of a {@link LaneRow} of the lane `l`, for the holder `v_owner`. */
export function formerColumns({ now }: Dialect): string {
  return `l.lane_key, l.owner, l.fence, l.lease_until, l.rate_state, l.paused_until, l.pause_reason,
    ${now} AS now, CASE WHEN l.owner IS NULL OR l.owner = v_owner OR l.lease_until < ${now} THEN 1 ELSE 0 END AS free`;
}

/** SQL condition: the lane `l` is held by `v_owner` under `v_fence`. */
export const IS_OURS = 'l.fence = v_fence AND l.owner = v_owner';

/** SQL assignments that release a lane. */
export const RELEASE = `owner = CASE WHEN v_open = 1 THEN owner END, lease_until = 0, rate_state = v_state`;

function laneStatements(dialect: Dialect) {
  const { now, join } = dialect;
  const lanes = dialect.rows({ v_lane: 'key' });
  const taken = dialect.rows(TAKEN);
  const held = dialect.rows(HELD);
  const released = dialect.rows(RELEASED);
  const lane = `messaging_lane l ${dialect.forceIndex('PRIMARY')} ON l.lane_key = v_lane`;
  const locking = (select: string): Record<LockWait, string> => ({
    wait: `${select} ORDER BY l.lane_key ${dialect.forUpdate('l')}`,
    skip: `${select} ORDER BY l.lane_key ${dialect.skipLocked('l')}`,
  });
  const update = (rows: typeof taken, set: string) =>
    dialect.updateFrom({
      table: 'messaging_lane',
      rows,
      set,
      where: 'messaging_lane.lane_key = v_lane',
    });
  return {
    lanes,
    taken,
    held,
    released,
    former: locking(`SELECT ${formerColumns(dialect)} FROM ${taken.keyed} ${join} ${lane}`),
    grant: update(
      taken,
      `owner = v_owner, fence = fence + 1, lease_until = ${now} + v_lease, rate_state = NULL`,
    ),
    known: `SELECT l.lane_key FROM ${lanes.keyed} ${join} ${lane}`,
    heldByAny: `SELECT l.lane_key FROM ${lanes.keyed} ${join} ${lane}
      AND l.owner IS NOT NULL AND l.lease_until >= ${now}`,
    create: `INSERT INTO messaging_lane (lane_key) SELECT v_lane FROM ${lanes.sql} WHERE 1 = 1
      ORDER BY v_lane ${dialect.ignoreConflict('messaging_lane', 'lane_key')}`,
    ours: locking(`SELECT l.lane_key FROM ${held.keyed} ${join} ${lane} AND ${IS_OURS}`),
    renew: update(held, `lease_until = ${now} + v_lease`),
    release: update(released, RELEASE),
  };
}

function keyRows(lanes: readonly string[]): string[][] {
  return lanes.map((lane) => [lane]);
}

function keysOf(rows: readonly LaneRow[]): Set<string> {
  return new Set(rows.map(({ lane_key }) => lane_key));
}
