import { LaneGroup } from '../database/group-commit.js';
import type { HeldLane, LaneHolder, LaneRow, Lease, ReleasedLane } from '../rows/lease.js';
import { LanesSlowPath } from '../slow-path/lanes.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

export type { Lease } from '../rows/lease.js';

/** Largest number of lanes in one flush. */
const LANES = 500;

/** The lane rows: leases on database time, pauses, and rate slots of providers. */
export class Lanes {
  readonly holder: LaneHolder;
  readonly #slow: LanesSlowPath;
  readonly #taking: LaneGroup<{ readonly lane: string }, Lease | undefined>;
  readonly #renewing: LaneGroup<HeldLane, boolean>;
  readonly #releasing: LaneGroup<ReleasedLane, void>;

  /** @param leaseTime milliseconds */
  constructor(
    private readonly database: StoreDatabase,
    owner: string,
    leaseTime: number,
  ) {
    const holder = { owner, leaseTime };
    this.holder = holder;
    const slow = new LanesSlowPath(database.dialect);
    this.#slow = slow;
    const { renewLanes, releaseLanes } = database.fastPaths;
    this.#taking = new LaneGroup({
      many: (lanes) => this.#take(lanes.map(({ lane }) => lane)),
      alone: async ({ lane }) => {
        const [row] = await database.transaction((tx) => slow.take(tx, [lane], holder, 'wait'));
        return row && this.#leaseOf(row);
      },
      most: LANES,
    });
    this.#renewing = new LaneGroup({
      many: async (lanes) =>
        answersOf(
          await (renewLanes
            ? database.fastPath((sql) => renewLanes(sql, lanes, holder))
            : database.transaction((tx) => slow.renew(tx, lanes, holder, 'skip'))),
          true,
        ),
      alone: async (lane) =>
        (await database.transaction((tx) => slow.renew(tx, [lane], holder, 'wait'))).size === 1,
      most: LANES,
    });
    this.#releasing = new LaneGroup({
      many: async (lanes) =>
        answersOf(
          await (releaseLanes
            ? database.fastPath((sql) => releaseLanes(sql, lanes, holder))
            : database.transaction((tx) => slow.release(tx, lanes, holder, 'skip'))),
          undefined,
        ),
      alone: async (lane) => {
        await database.transaction((tx) => slow.release(tx, [lane], holder, 'wait'));
      },
      most: LANES,
    });
  }

  /**
   * The lane's lease; `undefined` while another process holds it. The caller must not work on the
   * lane already: a lane held by this process is granted again under the next fence, because the
   * response to an earlier grant or release may have been lost.
   */
  acquire(lane: string): Promise<Lease | undefined> {
    return this.#taking.add({ lane });
  }

  /** The lanes of the list that any process holds. */
  async held(lanes: readonly string[]): Promise<ReadonlySet<string>> {
    return lanes.length === 0 ? new Set() : this.#slow.held(this.database, lanes);
  }

  /** False: another process holds the lane. */
  renew(lane: string, fence: number): Promise<boolean> {
    return this.#renewing.add({ lane, fence });
  }

  /** @param open some submissions have no outcome; the next holder recovers them */
  release(lane: string, fence: number, rateState: string | null, open: boolean): Promise<void> {
    return this.#releasing.add({ lane, fence, rateState, open });
  }

  /**
   * Locks the lane by its fence and renews its lease. On false the caller must not record an
   * intent.
   */
  async renewWithin(tx: Sql, lane: string, fence: number): Promise<boolean> {
    return (await this.#slow.renew(tx, [{ lane, fence }], this.holder, 'wait')).size === 1;
  }

  /** @param wait milliseconds; 0 ends the pause */
  async pause(lane: string, fence: number, wait: number, reason: string | null): Promise<void> {
    await this.database.transaction((tx) =>
      tx.run(
        `UPDATE messaging_lane SET paused_until = ${this.database.dialect.now} + ?, pause_reason = ?
         WHERE lane_key = ? AND fence = ? AND owner = ?`,
        [Math.round(wait * 1_000), reason, lane, fence, this.holder.owner],
      ),
    );
  }

  /** Ends a pause, also of a lane that another process holds. False: the lane does not exist. */
  async resume(lane: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      // MySQL counts changed rows only, so a second query checks that the lane exists.
      const known = await this.#slow.known(tx, [lane]);
      await tx.run(
        'UPDATE messaging_lane SET paused_until = 0, pause_reason = NULL WHERE lane_key = ?',
        [lane],
      );
      return known.has(lane);
    });
  }

  /**
   * Reserves `count` evenly spaced start times of a provider's rate, exclusive to this process.
   * @param interval milliseconds between two start times
   * @returns milliseconds from now to the first one
   */
  async reserve(key: string, count: number, interval: number): Promise<number> {
    const { dialect } = this.database;
    const span = Math.ceil(count * interval * 1_000);
    const keys = dialect.rows({ v_key: 'key' });
    const until = dialect.greatest('messaging_rate_slot.reserved_until + ?', 'new.reserved_until');
    const row = await this.database.transaction(async (tx) => {
      await tx.run(
        `INSERT INTO messaging_rate_slot (rate_key, reserved_until)
         SELECT v_key, ${dialect.now} + ? FROM ${keys.sql} WHERE 1 = 1
         ${dialect.onConflict('rate_key', `reserved_until = ${until}`)}`,
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

  async #take(lanes: readonly string[]): Promise<Map<string, Lease | undefined>> {
    const rows = await this.#takeKnown(lanes);
    const found = new Set(rows.map(({ lane_key }) => lane_key));
    const others = lanes.filter((lane) => !found.has(lane));
    if (others.length > 0) {
      // MySQL would wait for an existing lane that is locked.
      const known = await this.#slow.known(this.database, others);
      const missing = others.filter((lane) => !known.has(lane));
      if (missing.length > 0) {
        await this.database.transaction((tx) => this.#slow.create(tx, missing));
        rows.push(...(await this.#takeKnown(missing)));
      }
    }
    return new Map(rows.map((row) => [row.lane_key, this.#leaseOf(row)]));
  }

  #takeKnown(lanes: readonly string[]): Promise<LaneRow[]> {
    const { takeLanes } = this.database.fastPaths;
    return takeLanes
      ? this.database.fastPath((sql) => takeLanes(sql, lanes, this.holder))
      : this.database.transaction((tx) => this.#slow.take(tx, lanes, this.holder, 'skip'));
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
      // A holder stops starting requests at two thirds of its lease. A lease of this process may
      // still be running.
      idleFor:
        former.owner === null
          ? 0
          : Math.max(0, (now - Number(former.lease_until)) / 1_000 + leaseTime / 3),
      rateState,
      ours: (former.owner ?? by) === owner,
      pausedFor: Math.max(0, (Number(former.paused_until) - now) / 1_000),
      pauseReason: former.pause_reason,
    };
  }
}

/** The process that saved a limiter's state, and the state. */
function leftBy(state: string | null): [owner: string | null, state: string | null] {
  const end = state?.indexOf(' ') ?? -1;
  return state === null || end < 0 ? [null, state] : [state.slice(0, end), state.slice(end + 1)];
}

function answersOf<R>(lanes: ReadonlySet<string>, result: R): Map<string, R> {
  return new Map([...lanes].map((lane) => [lane, result]));
}
