import { Logger } from '@nestjs/common';
import type { Clock } from '../../ports/clock.js';
import { type Dialect, type RowWriter, updater } from '../database/dialect.js';
import type { StoreDatabase } from '../database/store-database.js';

/** Milliseconds; a clock that goes back by less delays work by less. */
const TOLERANCE = 5_000;

/** Longest lease of another process, in milliseconds: a lease that ends later is a former clock's. */
const LONGEST_LEASE = 600_000;

/** Most rows in one transaction. */
const ROWS = 1_000;

/**
 * Corrects the times in the store after the database's clock was set back, as by NTP: what was due
 * would wait until the clock has reached its former time again, and so would a lane whose holder
 * died. All corrections are safe to repeat, because every process makes them: the first time for
 * times that only a former clock can have written, later as soon as it sees the clock go back.
 */
export class SetBackClock {
  readonly #logger = new Logger('StoreDatabase');
  readonly #sql: ReturnType<typeof statementsFor>;
  #last: { readonly now: number; readonly monotonic: number } | undefined;

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
    /** Milliseconds. */
    private readonly leaseTime: number,
  ) {
    this.#sql = statementsFor(database.dialect);
  }

  async correct(): Promise<void> {
    const monotonic = this.clock.monotonic();
    const [row] = await this.database.all<{ now: string | number }>(this.#sql.now);
    const now = Number(row?.now) / 1_000;
    const last = this.#last;
    const back = last && Math.round(last.now - now + monotonic - last.monotonic);
    if (back === undefined || back >= TOLERANCE) await this.#correct(back);
    // After a failure, the next call sees the same step.
    this.#last = { now, monotonic };
  }

  /** @param back milliseconds; `undefined`: the process has not seen the clock before */
  async #correct(back: number | undefined): Promise<void> {
    const { leases, notDue, pauses, providers, deferred } = this.#sql;
    const { leaseTime } = this;
    const longest = Math.max(leaseTime, LONGEST_LEASE);
    await this.#change(leases, longest * 1_000, leaseTime * 1_000);
    await this.#change(notDue, TOLERANCE * 1_000);
    if (back === undefined) return;
    this.#logger.warn(`The database's clock was set back by ${Math.round(back / 1_000)} s`);
    await this.#change(pauses, back * 1_000, back * 1_000);
    await this.#change(providers, back * 1_000, back * 1_000);
    await this.#change(deferred, back * 1_000, back * 1_000);
  }

  /**
   * Locks no other row than those it changes.
   * @param beyond microseconds from now after which a time is wrong
   */
  async #change({ find, change }: Correction, beyond: number, by = 0): Promise<void> {
    const found = await this.database.all<{ id: string }>(find, [beyond]);
    for (let from = 0; from < found.length; from += ROWS) {
      const rows = found.slice(from, from + ROWS).map(({ id }) => [id, by]);
      await this.database.transaction((tx) => change(tx, rows));
    }
  }
}

/** Rows to correct by their key, and their correction by `v_by` microseconds. */
interface Correction {
  readonly find: string;
  readonly change: RowWriter;
}

function statementsFor(dialect: Dialect) {
  const { now } = dialect;
  const correction = (
    [table, type, key]:
      | readonly ['lane', 'key', 'lane_key']
      | readonly ['provider_pause', 'key', 'provider']
      | readonly ['batch', 'uuid', 'id'],
    column: string,
    condition: string,
    set: string,
  ): Correction => ({
    find: `SELECT t.${key} AS id FROM messaging_${table} t WHERE ${condition} AND t.${column} > ${now} + ?
      ORDER BY t.${column}, t.${key}`,
    change: updater(
      dialect,
      { v_id: type, v_by: 'bigint' },
      {
        table: `messaging_${table}`,
        set,
        // Another process may have corrected it meanwhile.
        where: `messaging_${table}.${key} = v_id AND messaging_${table}.${column} > ${now} + v_by`,
      },
    ),
  });
  const lanes = ['lane', 'key', 'lane_key'] as const;
  const batches = ['batch', 'uuid', 'id'] as const;
  const hasWork = dialect.hasWork('t');
  const due = dialect.greatest(now, 'coalesce(send_at, 0)');
  const less = (column: string) => `${column} = ${column} - v_by`;
  return {
    now: `SELECT ${now} AS now`,
    // A live holder renews its lease long before this one ends.
    leases: correction(lanes, 'lease_until', 't.owner IS NOT NULL', `lease_until = ${now} + v_by`),
    providers: correction(
      ['provider_pause', 'key', 'provider'],
      'paused_until',
      't.paused_until > 0',
      `${less('paused_until')}, probed_until = 0`,
    ),
    pauses: correction(lanes, 'paused_until', 't.paused_until > 0', less('paused_until')),
    // They were due when they were accepted, or at their `send_at`. MySQL evaluates assignments in
    // order: the first one reads the old `available_at`.
    notDue: correction(
      batches,
      'available_at',
      `${hasWork} AND (t.send_at IS NULL OR t.available_at > t.send_at)`,
      `valid_until = valid_until - available_at + ${due}, available_at = ${due}`,
    ),
    deferred: correction(batches, 'parked_until', hasWork, less('parked_until')),
  };
}
