import type { Columns, Dialect } from './dialect.js';

const HELD = {
  v_lane: 'key',
  v_fence: 'bigint',
  v_owner: 'key',
  v_lease: 'bigint',
} as const satisfies Columns;
const RELEASED = {
  v_lane: 'key',
  v_fence: 'bigint',
  v_owner: 'key',
  v_state: 'text',
  v_open: 'int',
} as const satisfies Columns;

export type LaneStatements = ReturnType<typeof laneStatements>;

/**
 * A lease given or taken is on the disk with the next intent: PostgreSQL keeps its commits in order, and
 * nothing starts before that. Should it be lost, the lane is taken over as if its holder had died.
 */
const UNSYNCED = `WITH unsynced AS (SELECT set_config('synchronous_commit', 'off', true))`;

/** What is said of many lanes at once; their rows are locked in the order of their keys. */
export function laneStatements(dialect: Dialect) {
  const { kind, now, join } = dialect;
  const lanes = dialect.rows({ v_lane: 'key' });
  const taken = dialect.rows({ v_lane: 'key', v_owner: 'key', v_lease: 'bigint' });
  const held = dialect.rows(HELD);
  const released = dialect.rows(RELEASED);
  const lane = `messaging_lane l ${dialect.forceIndex('PRIMARY')} ON l.lane_key = v_lane`;
  /** A row somebody else holds is left out. */
  const free = kind === 'sqlite' ? '' : `${dialect.forUpdate('l')} SKIP LOCKED`;
  const former = `l.lane_key, l.owner, l.fence, l.lease_until, l.rate_state, l.paused_until, l.pause_reason,
    ${now} AS now, CASE WHEN l.owner IS NULL OR l.owner = v_owner OR l.lease_until < ${now} THEN 1 ELSE 0 END AS free`;
  const ours = `l.fence = v_fence AND l.owner = v_owner`;
  const oursFree = `SELECT l.lane_key, v_lease FROM ${held.sql} ${join} ${lane} AND ${ours} ORDER BY l.lane_key ${free}`;
  const release = `owner = CASE WHEN v_open = 1 THEN owner END, lease_until = 0, rate_state = v_state`;
  return {
    lanes,
    taken,
    held,
    released,
    former: `SELECT ${former} FROM ${taken.sql} ${join} ${lane} ORDER BY l.lane_key ${free}`,
    grant: dialect.updateFrom({
      table: 'messaging_lane',
      rows: taken,
      set: `owner = v_owner, fence = fence + 1, lease_until = ${now} + v_lease, rate_state = NULL`,
      where: 'messaging_lane.lane_key = v_lane',
    }),
    known: `SELECT l.lane_key FROM ${lanes.sql} ${join} ${lane}`,
    heldBySome: `SELECT l.lane_key FROM ${lanes.sql} ${join} ${lane}
      AND l.owner IS NOT NULL AND l.lease_until >= ${now}`,
    create: `INSERT INTO messaging_lane (lane_key) SELECT v_lane FROM ${lanes.sql} WHERE 1 = 1
      ORDER BY v_lane ${dialect.ignoreConflict('messaging_lane', 'lane_key')}`,
    formerWaiting: `SELECT ${former} FROM ${taken.sql} ${join} ${lane} ${dialect.forUpdate('l')}`,
    oursWaiting: `SELECT l.lane_key FROM ${held.sql} ${join} ${lane} AND ${ours} ${dialect.forUpdate('l')}`,
    ours: oursFree,
    renew: dialect.updateFrom({
      table: 'messaging_lane',
      rows: held,
      set: `lease_until = ${now} + v_lease`,
      where: `messaging_lane.lane_key = v_lane`,
    }),
    release: dialect.updateFrom({
      table: 'messaging_lane',
      rows: released,
      set: release,
      where: 'messaging_lane.lane_key = v_lane',
    }),
    /** The same in one statement each, where a server can. */
    atOnce:
      kind === 'postgres'
        ? {
            take: `WITH former AS MATERIALIZED (${UNSYNCED}
                SELECT ${former}, v_owner, v_lease FROM unsynced, ${taken.sql} JOIN ${lane}
                ORDER BY l.lane_key ${free}),
              taken AS (
                UPDATE messaging_lane SET owner = v_owner, fence = former.fence + 1,
                  lease_until = ${now} + v_lease, rate_state = NULL FROM former
                WHERE messaging_lane.lane_key = former.lane_key AND former.free = 1)
              SELECT * FROM former`,
            create: `${UNSYNCED} INSERT INTO messaging_lane (lane_key) SELECT v_lane FROM unsynced, ${lanes.sql}
              ORDER BY v_lane ON CONFLICT DO NOTHING`,
            renew: `WITH held AS MATERIALIZED (${oursFree}),
              renewed AS (
                UPDATE messaging_lane SET lease_until = ${now} + v_lease FROM held
                WHERE messaging_lane.lane_key = held.lane_key)
              SELECT lane_key FROM held`,
            release: `WITH held AS MATERIALIZED (${UNSYNCED}
                SELECT l.lane_key, v_state, v_open FROM unsynced, ${released.sql} JOIN ${lane} AND ${ours}
                ORDER BY l.lane_key ${free}),
              released AS (
                UPDATE messaging_lane SET ${release} FROM held WHERE messaging_lane.lane_key = held.lane_key)
              SELECT lane_key FROM held`,
          }
        : undefined,
  };
}
