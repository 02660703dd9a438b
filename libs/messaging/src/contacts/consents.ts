import type { Channel } from '../message/message.js';
import type { Columns, Dialect } from '../store/dialect.js';
import type { Sql } from '../store/store-database.js';
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

export interface ContactConsent extends NewConsent {
  readonly contact: string;
}

/** Why a number is on the suppression list whose contact refused a channel and was erased. */
export const REFUSED = 'opted_out';

/** What somebody says of a channel, and since when, epoch milliseconds. */
export type Standing = Pick<NewConsent, 'state' | 'at'>;

/**
 * The younger one counts; of two at the same instant the refusal does. A word from the time to come is a
 * clock gone wrong: any refusal counts against it.
 * @param now epoch milliseconds
 */
export function overrules(consent: Standing, other: Standing, now: number): boolean {
  const { state, at } = consent;
  if (state === 'opted_out' && other.at > now) return true;
  if (at !== other.at) return at > other.at;
  return state === 'opted_out' || other.state === 'opted_in';
}

function rowOf(
  { contact, channel, state, at, source, evidence }: ContactConsent,
  recordedAt: number,
): unknown[] {
  return [contact, channel, state, at * 1_000, source, evidence, recordedAt * 1_000];
}

/** MySQL assigns from left to right, so what decides comes last. */
const RAISED = ['source', 'evidence', 'state', 'at'];

/** The state of consent per channel, which the youngest entry decides, and the history, which only grows. */
export class Consents {
  readonly #rows;
  readonly #append: string;
  readonly #raise: string;
  readonly #ids;
  readonly #select: string;
  readonly #outlived: string;
  readonly #lift: string;
  readonly #refused: string;

  constructor(dialect: Dialect) {
    this.#rows = dialect.rows(CONSENT);
    this.#ids = dialect.rows({ v_id: 'uuid' });
    this.#select = `SELECT k.contact, k.channel, k.state, k.at FROM ${this.#ids.sql}
      ${dialect.join} messaging_consent k ON k.contact = v_id`;
    this.#outlived = `SELECT s.tenant, s.recipient, s.channel FROM ${this.#rows.sql}
      ${dialect.join} messaging_contact c ${dialect.forceIndex('PRIMARY')} ON c.id = v_contact
      ${dialect.join} messaging_suppression s ON s.tenant = c.tenant AND s.recipient = c.phone
        AND s.channel = v_channel
      WHERE s.reason = '${REFUSED}' AND s.at < v_at`;
    this.#lift = `DELETE FROM messaging_suppression
      WHERE tenant = ? AND recipient = ? AND channel = ? AND reason = '${REFUSED}'`;
    const columns = 'contact, channel, state, at, source, evidence';
    const values = 'v_contact, v_channel, v_state, v_at, v_source, v_evidence';
    this.#append = `INSERT INTO messaging_consent_history (${columns}, recorded_at)
      SELECT ${values}, v_recorded FROM ${this.#rows.sql}`;
    // `overrules()`, in SQL.
    const wins = `(new.at > messaging_consent.at OR (new.at = messaging_consent.at
      AND (new.state = 'opted_out' OR messaging_consent.state = 'opted_in'))
      OR (new.state = 'opted_out' AND messaging_consent.at > ?))`;
    const raise = (column: string) =>
      `${column} = CASE WHEN ${wins} THEN new.${column} ELSE messaging_consent.${column} END`;
    this.#raise = `INSERT INTO messaging_consent (${columns})
      SELECT ${values} FROM ${this.#rows.sql} WHERE 1 = 1
      ${dialect.onConflict('contact, channel', RAISED.map(raise).join(', '))}`;
    this.#refused = `SELECT k.contact, k.channel FROM ${this.#ids.sql}
        ${dialect.join} messaging_consent k ON k.contact = v_id WHERE k.state = 'opted_out'
      UNION ALL
      SELECT c.id, s.channel FROM ${this.#ids.sql}
        ${dialect.join} messaging_contact c ${dialect.forceIndex('PRIMARY')} ON c.id = v_id
        ${dialect.join} messaging_suppression s ON s.tenant = c.tenant AND s.recipient = c.phone
      WHERE s.reason = '${REFUSED}'`;
  }

  async record(tx: Sql, consents: readonly ContactConsent[], recordedAt: number): Promise<void> {
    if (consents.length === 0) return;
    await tx.run(this.#append, this.#rows.bind(consents.map((one) => rowOf(one, recordedAt))));
    const winners = new Map<string, ContactConsent>();
    for (const consent of consents) {
      const key = `${consent.contact} ${consent.channel}`;
      const other = winners.get(key);
      if (!other || overrules(consent, other, recordedAt)) winners.set(key, consent);
    }
    // In one order, so that two of these never wait for each other.
    const sorted = [...winners.keys()].sort().map((key) => winners.get(key) as ContactConsent);
    await tx.run(this.#raise, [
      ...this.#rows.bind(sorted.map((one) => rowOf(one, recordedAt))),
      ...RAISED.map(() => recordedAt * 1_000),
    ]);
    await this.#liftOutlived(
      tx,
      sorted.filter(({ state }) => state === 'opted_in').map((one) => rowOf(one, recordedAt)),
    );
  }

  /** Who was erased and says yes anew is no stranger who refuses. */
  async #liftOutlived(tx: Sql, optedIn: readonly unknown[][]): Promise<void> {
    if (optedIn.length === 0) return;
    const outlived = await tx.all<{ tenant: string; recipient: string; channel: string }>(
      this.#outlived,
      this.#rows.bind(optedIn),
    );
    for (const { tenant, recipient, channel } of outlived)
      await tx.run(this.#lift, [tenant, recipient, channel]);
  }

  /** What contacts say now, by `{contact} {channel}`. They are locked already, so that of two words at once one sees the other. */
  async held(tx: Sql, contacts: readonly string[]): Promise<Map<string, Standing>> {
    const ids = this.#ids.bind([...new Set(contacts)].sort().map((id) => [id]));
    const rows = await tx.all<ConsentRow>(this.#select, ids);
    return new Map(
      rows.map(({ contact, channel, state, at }) => [
        `${contact} ${channel}`,
        { state, at: Number(at) / 1_000 },
      ]),
    );
  }

  /** What contacts have refused, as `{contact} {channel}`; also whoever had their number and was erased. */
  async refused(tx: Sql, contacts: readonly string[]): Promise<Set<string>> {
    const ids = this.#ids.bind([...new Set(contacts)].sort().map((id) => [id]));
    const rows = await tx.all<ConsentRow>(this.#refused, [...ids, ...ids]);
    return new Set(rows.map(({ contact, channel }) => `${contact} ${channel}`));
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
