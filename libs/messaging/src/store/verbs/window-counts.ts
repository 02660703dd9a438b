import type { Dialect } from '../database/dialect.js';
import type { Pause } from '../../ports/acceptance-guard.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

type Big = string | number;

/** What a window counts: messages of a tenant to one recipient, network, country … */
export interface WindowKey {
  readonly tenant: string;
  readonly scope: string;
  /** Keyed digest of a recipient or network, or a country. */
  readonly subject: string;
}

/** Times in epoch milliseconds. */
export interface CountedWindow {
  readonly windowAt: number;
  readonly started: number;
  readonly nextAt: number;
  /** A set of members as hexadecimal digits; `null`: none. */
  readonly seen: string | null;
}

export type KeyedWindow = WindowKey & CountedWindow;

type LockedRow = WindowKey & { windowAt: Big; started: Big; nextAt: Big; seen: string | null };

/** Rows of one statement. */
const ROWS = 1_000;

/**
 * Counts in windows of time. A transaction locks the windows that it counts in, so that limits are exact
 * with any number of processes, and what it rolls back is not counted.
 */
export class WindowCounts {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(database: Pick<StoreDatabase, 'dialect'>) {
    this.#sql = statementsFor(database.dialect);
  }

  /**
   * Locks the windows and creates those without a row.
   * @param keys each once, in descending order of tenant and scope, then ascending of subject
   */
  async lock(sql: Sql, keys: readonly WindowKey[], pause?: Pause): Promise<KeyedWindow[]> {
    const { create, lock, keyed } = this.#sql;
    const found: KeyedWindow[] = [];
    for (let from = 0; from < keys.length; from += ROWS) {
      const some = keys.slice(from, from + ROWS);
      const params = keyed.bind(some);
      let rows: LockedRow[] = [];
      // On PostgreSQL the job that deletes old windows may come between the two statements.
      while (rows.length < some.length) {
        await sql.run(create, params);
        rows = await sql.all<LockedRow>(lock, params);
      }
      for (const { windowAt, started, nextAt, ...row } of rows)
        found.push({
          ...row,
          windowAt: Number(windowAt) / 1_000,
          started: Number(started),
          nextAt: Number(nextAt) / 1_000,
        });
      await pause?.();
    }
    return found;
  }

  async lockOne(sql: Sql, key: WindowKey): Promise<CountedWindow> {
    const [found] = await this.lock(sql, [key]);
    return found!;
  }

  /** Writes windows that {@link lock} has locked. */
  async set(sql: Sql, windows: readonly KeyedWindow[], pause?: Pause): Promise<void> {
    const { set, written } = this.#sql;
    for (let from = 0; from < windows.length; from += ROWS) {
      await sql.run(set, written.bind(windows.slice(from, from + ROWS)));
      await pause?.();
    }
  }
}

function statementsFor(dialect: Dialect) {
  const key = {
    v_tenant: ['key', ({ tenant }: WindowKey) => tenant],
    v_scope: ['key', ({ scope }: WindowKey) => scope],
    v_subject: ['key', ({ subject }: WindowKey) => subject],
  } as const;
  const keyed = dialect.rows<WindowKey>(key);
  const written = dialect.rows<KeyedWindow>({
    ...key,
    v_window_at: ['bigint', ({ windowAt }) => windowAt * 1_000],
    v_started: ['int', ({ started }) => started],
    v_next_at: ['bigint', ({ nextAt }) => nextAt * 1_000],
    v_seen: ['text', ({ seen }) => seen],
  });
  const table = 'messaging_verification_limit';
  const is = (alias: string) =>
    `${alias}.tenant = v_tenant AND ${alias}.scope = v_scope AND ${alias}.subject = v_subject`;
  return {
    keyed,
    written,
    create: `INSERT INTO ${table} (tenant, scope, subject, window_at, started, next_at)
      SELECT v_tenant, v_scope, v_subject, 0, 0, 0 FROM ${keyed.sql} WHERE 1 = 1
      ${dialect.ignoreConflict(table, 'started')}`,
    lock: `SELECT l.tenant, l.scope, l.subject, l.window_at AS "windowAt", l.started,
        l.next_at AS "nextAt", l.seen
      FROM ${keyed.keyed} ${dialect.join} ${table} l ${dialect.forceIndex('PRIMARY')} ON ${is('l')}
      ORDER BY l.tenant DESC, l.scope DESC, l.subject ${dialect.forUpdate('l')}`,
    set: dialect.updateFrom({
      table,
      rows: written,
      set: 'window_at = v_window_at, started = v_started, next_at = v_next_at, seen = v_seen',
      where: is(table),
    }),
  };
}
