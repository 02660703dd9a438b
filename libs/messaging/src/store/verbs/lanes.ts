import { type Dialect, type RowWriter, updater } from '../database/dialect.js';
import { LaneGroup } from '../database/group-commit.js';
import {
  formerColumns,
  type LaneGrant,
  IS_OURS,
  type LaneHolder,
  type LaneRow,
  LANES,
  laneRows,
  lanesOf,
  type Lease,
  type LockWait,
  RELEASE,
  type ReleasedLane,
  type ShownPause,
  type WantedLane,
  type WantedRow,
} from '../rows/lease.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

/** Largest number of lanes in one flush. */
const MOST = 500;

/** Longest time ahead for which slots of a rate are reserved, beside a hundred reservations, in ms. */
const MOST_RESERVED = 600_000;

/** Start times that one process has reserved. Milliseconds of the database's clock. */
export interface ReservedSlots {
  readonly first: number;
  /** The time at the reservation. */
  readonly now: number;
}

/**
 * Leases on database time, pauses, and rate slots of providers. Rows are locked in the order of
 * their keys; where many lanes share a statement, locked rows are skipped, so that two processes do
 * not wait for each other, and such a lane then goes alone, and waits.
 */
export class Lanes {
  readonly holder: LaneHolder;
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #taking: LaneGroup<{ readonly lane: string }, Lease | undefined>;
  readonly #renewing: LaneGroup<LaneGrant, boolean>;
  readonly #releasing: LaneGroup<ReleasedLane, boolean>;

  /** @param leaseTime milliseconds */
  constructor(
    private readonly database: StoreDatabase,
    owner: string,
    leaseTime: number,
  ) {
    this.holder = { owner, leaseTime };
    this.#sql = statementsFor(database.dialect);
    this.#taking = new LaneGroup({
      many: (lanes) => this.#take(lanes),
      alone: async (lane) => {
        const [row] = await database.transaction((tx) => this.#takeWithin(tx, [lane], 'wait'));
        return row && this.#leaseOf(row);
      },
      most: MOST,
    });
    this.#renewing = this.#grantGroup((tx, lanes, locked) => this.renewWithin(tx, lanes, locked));
    const { releaseLanes } = database.fastPaths;
    this.#releasing = this.#grantGroup(
      (tx, lanes, locked) => this.#writeOwn(tx, lanes, locked, this.#sql.release),
      releaseLanes && ((sql, lanes) => releaseLanes(sql, lanes, this.holder)),
    );
  }

  /**
   * `undefined` while another process holds the lane. The caller must not work on it already: after
   * a lost response, a lane of this process is granted again under the next fence.
   */
  acquire(lane: string): Promise<Lease | undefined> {
    return this.#taking.add({ lane });
  }

  /** The lanes of the list that any process has leased. */
  async leased(lanes: readonly string[]): Promise<ReadonlySet<string>> {
    return lanes.length === 0
      ? new Set()
      : this.#find(
          this.database,
          this.#sql.leased,
          lanes.map((lane) => ({ lane })),
        );
  }

  /** False: another process holds the lane. */
  renew(lane: string, fence: number): Promise<boolean> {
    return this.#renewing.add({ lane, fence });
  }

  /** @param unanswered some submissions have no outcome; the next holder recovers them */
  async release(
    lane: string,
    fence: number,
    rateState: string | null,
    unanswered: boolean,
  ): Promise<void> {
    await this.#releasing.add({ lane, fence, rateState, unanswered });
  }

  /** @returns the lanes of this process, renewed and locked until the transaction ends */
  renewWithin(tx: Sql, lanes: readonly LaneGrant[], locked: LockWait): Promise<Set<string>> {
    return this.#writeOwn(tx, lanes, locked, this.#sql.renew);
  }

  /**
   * @param wait milliseconds; 0 ends the pause
   * @param shown `undefined`: the row shows none
   * @param part of its provider alone; the lane goes on with others
   */
  async pause(
    { lane, fence }: LaneGrant,
    wait: number,
    shown: ShownPause | undefined,
    part = false,
  ): Promise<void> {
    const { provider = null, reason = null } = shown ?? {};
    await this.database.transaction((tx) =>
      tx.run(
        `UPDATE messaging_lane SET paused_until = ${this.database.dialect.now} + ?, pause_provider = ?,
           pause_reason = ?, pause_part = ?
         WHERE lane_key = ? AND fence = ? AND owner = ?`,
        [Math.round(wait * 1_000), provider, reason, part ? 1 : 0, lane, fence, this.holder.owner],
      ),
    );
  }

  async pausedProvider(tx: Sql, lane: string): Promise<string | undefined> {
    const [row] = await tx.all<{ provider: string | null }>(
      'SELECT pause_provider AS provider FROM messaging_lane WHERE lane_key = ?',
      [lane],
    );
    return row?.provider ?? undefined;
  }

  /** Ends a pause, also of a lane that another process holds. False: the lane does not exist. */
  async resume(tx: Sql, lane: string): Promise<boolean> {
    // MySQL counts changed rows only, so a second query checks that the lane exists.
    const known = await this.#find(tx, this.#sql.known, [{ lane }]);
    await tx.run(
      'UPDATE messaging_lane SET paused_until = 0, pause_provider = NULL, pause_reason = NULL WHERE lane_key = ?',
      [lane],
    );
    return known.has(lane);
  }

  /**
   * Reserves evenly spaced start times of a provider's rate, exclusive to this process.
   *
   * @param interval milliseconds
   */
  async reserve(key: string, count: number, interval: number): Promise<ReservedSlots> {
    const { dialect } = this.database;
    const span = Math.ceil(count * interval * 1_000);
    const keys = dialect.rows<string>({ v_key: ['key', (one) => one] });
    const reserved = 'messaging_rate_slot.reserved_until';
    // The processes of a provider reserve no further ahead: the database's clock was set back.
    const until = `CASE WHEN ${reserved} > ${dialect.now} + ? THEN new.reserved_until
      ELSE ${dialect.greatest(`${reserved} + ?`, 'new.reserved_until')} END`;
    const row = await this.database.transaction(async (tx) => {
      await tx.run(
        `INSERT INTO messaging_rate_slot (rate_key, reserved_until)
         SELECT v_key, ${dialect.now} + ? FROM ${keys.sql} WHERE 1 = 1
         ${dialect.onConflict('rate_key', `reserved_until = ${until}`)}`,
        [span, ...keys.bind([key]), MOST_RESERVED * 1_000 + 100 * span, span],
      );
      const rows = await tx.all<{ until: string | number; now: string | number }>(
        `SELECT reserved_until AS until, ${dialect.now} AS now FROM messaging_rate_slot WHERE rate_key = ?`,
        [key],
      );
      return rows[0]!;
    });
    return { first: (Number(row.until) - span) / 1_000, now: Number(row.now) / 1_000 };
  }

  /** Requests that only the lane's holder may make; the result of each is whether it was made. */
  #grantGroup<T extends LaneGrant>(
    slow: (tx: Sql, lanes: readonly T[], locked: LockWait) => Promise<Set<string>>,
    fast?: (sql: Sql, lanes: readonly T[]) => Promise<Set<string>>,
  ): LaneGroup<T, boolean> {
    const { database } = this;
    return new LaneGroup<T, boolean>({
      many: async (lanes) => {
        const done = await (fast
          ? database.fastPath((sql) => fast(sql, lanes))
          : database.transaction((tx) => slow(tx, lanes, 'skip')));
        return new Map([...done].map((lane) => [lane, true]));
      },
      alone: async (lane) =>
        (await database.transaction((tx) => slow(tx, [lane], 'wait'))).size === 1,
      most: MOST,
    });
  }

  async #take(lanes: readonly WantedLane[]): Promise<Map<string, Lease | undefined>> {
    const rows = await this.#takeKnown(lanes);
    const found = lanesOf(rows);
    const others = lanes.filter(({ lane }) => !found.has(lane));
    if (others.length > 0) {
      // MySQL would wait for an existing lane that is locked.
      const known = await this.#find(this.database, this.#sql.known, others);
      const missing = others.filter(({ lane }) => !known.has(lane));
      if (missing.length > 0) {
        await this.database.transaction((tx) => tx.run(this.#sql.create, this.#bind(missing)));
        rows.push(...(await this.#takeKnown(missing)));
      }
    }
    return new Map(rows.map((row) => [row.lane_key, this.#leaseOf(row)]));
  }

  #takeKnown(lanes: readonly WantedLane[]): Promise<LaneRow[]> {
    const { takeLanes } = this.database.fastPaths;
    return takeLanes
      ? this.database.fastPath((sql) => takeLanes(sql, lanes, this.holder))
      : this.database.transaction((tx) => this.#takeWithin(tx, lanes, 'skip'));
  }

  /** @returns the lanes before they were taken */
  async #takeWithin(tx: Sql, lanes: readonly WantedLane[], locked: LockWait): Promise<LaneRow[]> {
    const { former, take } = this.#sql;
    const found = await tx.all<LaneRow>(former[locked], this.#bind(lanes));
    const free = found.flatMap((row) => (Number(row.free) === 1 ? [{ lane: row.lane_key }] : []));
    await take(tx, laneRows(free, this.holder));
    return found;
  }

  /** @returns the lanes that this process holds, without skipped ones */
  async #writeOwn(
    tx: Sql,
    lanes: readonly LaneGrant[],
    locked: LockWait,
    write: RowWriter<WantedRow>,
  ): Promise<Set<string>> {
    const found = await this.#find(tx, this.#sql.ours[locked], lanes);
    const own = lanes.filter(({ lane }) => found.has(lane));
    await write(tx, laneRows(own, this.holder));
    return found;
  }

  async #find(
    sql: Pick<Sql, 'all'>,
    statement: string,
    lanes: readonly WantedLane[],
  ): Promise<Set<string>> {
    return lanesOf(await sql.all<LaneRow>(statement, this.#bind(lanes)));
  }

  #bind(lanes: readonly WantedLane[]): unknown[] {
    return this.#sql.rows.bind(laneRows(lanes, this.holder));
  }

  #leaseOf(former: LaneRow): Lease | undefined {
    if (Number(former.free) !== 1) return undefined;
    const { owner, leaseTime } = this.holder;
    const now = Number(former.now);
    const [by, rateState] = leftBy(former.rate_state);
    return {
      lane: former.lane_key,
      fence: Number(former.fence) + 1,
      clean: former.owner === null,
      // No request starts after two thirds of a lease. A lease of this process may still be
      // running.
      idleFor:
        former.owner === null
          ? 0
          : Math.max(0, (now - Number(former.lease_until)) / 1_000 + leaseTime / 3),
      rateState,
      ours: (former.owner ?? by) === owner,
      pausedFor: Math.max(0, (Number(former.paused_until) - now) / 1_000),
      pauseProvider: former.pause_provider,
      pauseReason: former.pause_reason,
      pausePart: Number(former.pause_part) === 1,
    };
  }
}

/** The process that saved a limiter's state, and the state. */
function leftBy(state: string | null): [owner: string | null, state: string | null] {
  const end = state?.indexOf(' ') ?? -1;
  return state === null || end < 0 ? [null, state] : [state.slice(0, end), state.slice(end + 1)];
}

function statementsFor(dialect: Dialect) {
  const { now, join } = dialect;
  const rows = dialect.rows(LANES);
  const lane = `messaging_lane l ${dialect.forceIndex('PRIMARY')} ON l.lane_key = v_lane`;
  const locking = (select: string): Record<LockWait, string> => ({
    wait: `${select} ORDER BY l.lane_key ${dialect.forUpdate('l')}`,
    skip: `${select} ORDER BY l.lane_key ${dialect.skipLocked('l')}`,
  });
  const update = (set: string) =>
    updater(dialect, LANES, {
      table: 'messaging_lane',
      set,
      where: 'messaging_lane.lane_key = v_lane',
    });
  return {
    rows,
    former: locking(`SELECT ${formerColumns(dialect)} FROM ${rows.keyed} ${join} ${lane}`),
    ours: locking(`SELECT l.lane_key FROM ${rows.keyed} ${join} ${lane} AND ${IS_OURS}`),
    known: `SELECT l.lane_key FROM ${rows.keyed} ${join} ${lane}`,
    leased: `SELECT l.lane_key FROM ${rows.keyed} ${join} ${lane}
      AND l.owner IS NOT NULL AND l.lease_until >= ${now}`,
    create: `INSERT INTO messaging_lane (lane_key) SELECT v_lane FROM ${rows.sql} WHERE 1 = 1
      ORDER BY v_lane ${dialect.ignoreConflict('messaging_lane', 'lane_key')}`,
    take: update(
      `owner = v_owner, fence = fence + 1, lease_until = ${now} + v_lease, rate_state = NULL`,
    ),
    renew: update(`lease_until = ${now} + v_lease`),
    release: update(RELEASE),
  };
}
