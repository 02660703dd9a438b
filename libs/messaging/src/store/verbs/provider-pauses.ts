import type { Dialect } from '../database/dialect.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

/** A provider that accepts nothing, as one process has found. Durations in milliseconds. */
export interface ProviderPause {
  readonly provider: string;
  /** Until a message may be sent to find out whether it accepts again; 0 or less: now. */
  readonly pausedFor: number;
  /** `code: text` with the remedy. */
  readonly reason: string;
  /** Pauses since it last accepted a message. */
  readonly trips: number;
}

/** Microseconds by which the clocks of a process and of the database may differ. */
const CLOCKS_DIFFER = 100_000;

/** Pauses of providers, over all lanes and processes; a row is gone once its provider accepts. */
export class ProviderPauses {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(private readonly database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  async list(): Promise<ProviderPause[]> {
    const rows = await this.database.all<{
      provider: string;
      pausedFor: string | number;
      reason: string;
      trips: string | number;
    }>(this.#sql.list);
    return rows.map(({ pausedFor, trips, ...row }) => ({
      ...row,
      pausedFor: Number(pausedFor) / 1_000,
      trips: Number(trips),
    }));
  }

  /** A pause that lasts longer stays. */
  async pause({ provider, pausedFor, reason, trips }: ProviderPause): Promise<void> {
    const { rows, pause } = this.#sql;
    const bound = rows.bind([{ provider, pausedFor, reason, trips }]);
    await this.database.transaction((tx) => tx.run(pause, bound));
  }

  /**
   * Whether this process may send the one message that finds out whether the provider accepts again;
   * for `lasts` milliseconds no other process may.
   */
  async claim(provider: string, lasts: number): Promise<boolean> {
    const span = Math.round(lasts * 1_000);
    const claimed = await this.database.transaction((tx) =>
      tx.run(this.#sql.claim, [span, provider]),
    );
    return claimed > 0;
  }

  /** The provider accepts again. */
  async end(provider: string): Promise<void> {
    await this.database.transaction((tx) => this.endWithin(tx, provider));
  }

  async endWithin(tx: Sql, provider: string): Promise<void> {
    await tx.run('DELETE FROM messaging_provider_pause WHERE provider = ?', [provider]);
  }
}

function statementsFor(dialect: Dialect) {
  const { now } = dialect;
  const rows = dialect.rows<ProviderPause>({
    v_provider: ['key', ({ provider }) => provider],
    v_wait: ['bigint', ({ pausedFor }) => Math.round(pausedFor * 1_000)],
    v_reason: ['key', ({ reason }) => reason],
    v_trips: ['int', ({ trips }) => trips],
  });
  const table = 'messaging_provider_pause';
  const until = dialect.greatest(`${table}.paused_until`, 'new.paused_until');
  return {
    rows,
    list: `SELECT provider, paused_until - ${now} AS "pausedFor", reason, trips FROM ${table}
      ORDER BY provider`,
    pause: `INSERT INTO ${table} (provider, paused_until, reason, trips, probed_until)
      SELECT v_provider, ${now} + v_wait, v_reason, v_trips, 0 FROM ${rows.sql} WHERE 1 = 1
      ${dialect.onConflict('provider', `reason = new.reason, trips = new.trips, probed_until = 0, paused_until = ${until}`)}`,
    claim: `UPDATE ${table} SET probed_until = ${now} + ?
      WHERE provider = ? AND paused_until <= ${now} + ${CLOCKS_DIFFER} AND probed_until <= ${now}`,
  };
}
