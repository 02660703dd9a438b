import type { Channel } from '../message/message.js';
import type { Columns, Dialect } from '../ledger/dialect.js';
import type { Sql } from '../ledger/ledger-database.js';
import type { ConsentEntry, ConsentState } from './contact.js';

const CONSENT = {
  v_contact: 'uuid',
  v_channel: 'key',
  v_state: 'key',
  v_at: 'bigint',
  v_source: 'key',
  v_evidence: 'text',
  v_recorded: 'bigint',
} as const satisfies Columns;

export interface NewConsent {
  readonly channel: Channel;
  readonly state: ConsentState;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly source: string;
  readonly evidence: string | null;
}

/** The state of consent per channel, which the youngest entry decides, and the history, which only grows. */
export class Consents {
  readonly #rows;
  readonly #append: string;
  readonly #raise: string;

  constructor(dialect: Dialect) {
    this.#rows = dialect.rows(CONSENT);
    const columns = 'contact, channel, state, at, source, evidence';
    const values = 'v_contact, v_channel, v_state, v_at, v_source, v_evidence';
    this.#append = `INSERT INTO messaging_consent_history (${columns}, recorded_at)
      SELECT ${values}, v_recorded FROM ${this.#rows.sql}`;
    // Of two at the same instant the refusal counts.
    const wins = `(new.at > messaging_consent.at OR (new.at = messaging_consent.at
      AND (new.state = 'opted_out' OR messaging_consent.state = 'opted_in')))`;
    const raise = (column: string) =>
      `${column} = CASE WHEN ${wins} THEN new.${column} ELSE messaging_consent.${column} END`;
    // MySQL assigns from left to right, so what decides comes last.
    this.#raise = `INSERT INTO messaging_consent (${columns})
      SELECT ${values} FROM ${this.#rows.sql} WHERE 1 = 1
      ${dialect.onConflict('contact, channel', ['source', 'evidence', 'state', 'at'].map(raise).join(', '))}`;
  }

  async record(
    tx: Sql,
    contacts: readonly string[],
    consent: NewConsent,
    recordedAt: number,
  ): Promise<void> {
    const { channel, state, at, source, evidence } = consent;
    // In one order, so that two of these never wait for each other.
    const rows = [...new Set(contacts)]
      .sort()
      .map((id) => [id, channel, state, at * 1_000, source, evidence, recordedAt * 1_000]);
    if (rows.length === 0) return;
    await tx.run(this.#append, this.#rows.bind(rows));
    await tx.run(this.#raise, this.#rows.bind(rows));
  }

  /** Oldest first. */
  async history(sql: Pick<Sql, 'all'>, contact: string): Promise<ConsentEntry[]> {
    const rows = await sql.all<ConsentRow>(
      `SELECT contact, channel, state, at, source, evidence FROM messaging_consent_history
       WHERE contact = ? ORDER BY id`,
      [contact],
    );
    return rows.map((row) => ({ channel: row.channel, ...consentOf(row) }));
  }
}

export interface ConsentRow {
  readonly contact: string;
  readonly channel: Channel;
  readonly state: ConsentState;
  readonly at: string | number;
  readonly source: string;
  readonly evidence: string | null;
}

export function consentOf({ state, at, source, evidence }: ConsentRow) {
  return { state, at: new Date(Number(at) / 1_000), source, evidence };
}
