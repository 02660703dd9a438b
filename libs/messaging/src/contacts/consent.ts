import type { Channel } from '../message/message.js';
import type { Columns, Dialect } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';
import type { Consent, ConsentEntry, ConsentState } from './contact.js';
import { EVERY } from './contact-input.js';

/** A whole channel, or one category of it. */
export interface ConsentScope {
  readonly channel: Channel;
  /** `*`: the whole channel. */
  readonly category: string;
}

/** Consent and when it was given, epoch milliseconds. */
export interface Standing {
  readonly state: ConsentState;
  readonly at: number;
}

export interface ContactConsent extends ConsentScope, Standing {
  readonly contact: string;
  readonly source: string;
  readonly evidence: string | null;
}

export interface ConsentRow extends ConsentScope {
  readonly contact: string;
  readonly state: ConsentState;
  readonly at: string | number;
  readonly source: string;
  readonly evidence: string | null;
}

/** Suppression reason of a refusal that outlives its erased contact. */
export const REFUSED = 'opted_out';

/** Key of `Contact.consents`. */
export function consentKey({ channel, category }: ConsentScope): string {
  return category === EVERY ? channel : `${channel}:${category}`;
}

export function consentOf({ state, at, source, evidence }: ConsentRow): Consent {
  return { state, at: new Date(Number(at) / 1_000), source, evidence };
}

/**
 * Of two entries for one scope the younger one wins; at the same instant the refusal wins. A time
 * in the future means a wrong clock: then any refusal wins.
 * @param now epoch milliseconds
 */
export function overrules(consent: Standing, other: Standing, now: number): boolean {
  const { state, at } = consent;
  if (state === 'opted_out' && other.at > now) return true;
  if (at !== other.at) return at > other.at;
  return state === 'opted_out' || other.state === 'opted_in';
}

const CONSENT = {
  v_contact: 'uuid',
  v_channel: 'key',
  v_category: 'key',
  v_state: 'key',
  v_at: 'bigint',
  v_source: 'key',
  v_evidence: 'text',
} as const satisfies Columns;
const HISTORY = { ...CONSENT, v_id: 'uuid', v_recorded: 'bigint' } as const satisfies Columns;

/** MySQL assigns from left to right, so the columns that the condition reads are last. */
const RAISED = ['source', 'evidence', 'state', 'at'];

/**
 * Current consent by contact, channel and category, and an append-only history. A refusal stands
 * until a younger consent of the same or a wider scope, so that the order of arrival does not
 * matter. Consent for a whole channel ends older refusals of its categories, also those that arrive
 * later.
 */
export class Consents {
  readonly #sql: ReturnType<typeof statementsFor>;

  /** @param newId returns a UUIDv7 for a history entry */
  constructor(
    dialect: Dialect,
    private readonly newId: () => string,
  ) {
    this.#sql = statementsFor(dialect);
  }

  /** Appends to the history and updates the current consent. The caller holds the contact locks. */
  async record(tx: Sql, consents: readonly ContactConsent[], now: number): Promise<void> {
    if (consents.length === 0) return;
    const { history, append } = this.#sql;
    const lines = consents.map((one) => [...rowOf(one), this.newId(), now * 1_000]);
    await tx.run(append, history.bind(lines));
    await this.#raise(tx, consents, now);
  }

  /**
   * Moves consent and history to the target contacts of a merge. The caller holds the contact
   * locks.
   */
  async move(tx: Sql, to: ReadonlyMap<string, string>, now: number): Promise<void> {
    const { moves, moveHistory, ids, select } = this.#sql;
    await tx.run(moveHistory, moves.bind([...to]));
    const rows = await tx.all<ConsentRow>(select, ids.bind([...to.keys()].map((id) => [id])));
    const moved = rows.map((row) => ({
      ...row,
      at: Number(row.at) / 1_000,
      contact: to.get(row.contact) as string,
    }));
    await this.#raise(tx, moved, now);
  }

  async #raise(tx: Sql, consents: readonly ContactConsent[], now: number): Promise<void> {
    if (consents.length === 0) return;
    const { rows, raise } = this.#sql;
    const winners = new Map<string, ContactConsent>();
    for (const consent of consents) {
      const key = `${consent.contact} ${consentKey(consent)}`;
      const other = winners.get(key);
      if (!other || overrules(consent, other, now)) winners.set(key, consent);
    }
    // A fixed order avoids deadlocks between transactions.
    const sorted = [...winners.keys()].sort().map((key) => winners.get(key) as ContactConsent);
    await tx.run(raise, [...rows.bind(sorted.map(rowOf)), ...RAISED.map(() => now * 1_000)]);
    await this.#endRefusals(tx, sorted, now);
  }

  /** Deletes refusals that a younger consent overrules: of a category, or of an erased contact. */
  async #endRefusals(tx: Sql, given: readonly ContactConsent[], now: number): Promise<void> {
    const { ids, rows, overruled, end, outlived, lift } = this.#sql;
    const contacts = [...new Set(given.map(({ contact }) => contact))];
    if (given.some(({ state, category }) => (state === 'opted_in') === (category === EVERY))) {
      const old = await tx.all<ConsentRow>(overruled, [
        ...ids.bind(contacts.map((id) => [id])),
        now * 1_000,
      ]);
      for (const { contact, channel, category } of old)
        await tx.run(end, [contact, channel, category]);
    }
    const optedIn = given.filter(({ state }) => state === 'opted_in');
    if (optedIn.length === 0) return;
    const lifted = await tx.all<Record<'tenant' | 'address' | 'channel' | 'category', string>>(
      outlived,
      rows.bind(optedIn.map(rowOf)),
    );
    for (const { tenant, address, channel, category } of lifted)
      await tx.run(lift, [tenant, address, channel, category]);
  }

  /**
   * Current consent by contact and {@link consentKey}. The caller holds the contact locks, so the
   * result stays current.
   */
  async present(tx: Sql, contacts: readonly string[]): Promise<Map<string, Standing>> {
    const { ids, select } = this.#sql;
    const rows = await tx.all<ConsentRow>(select, ids.bind(sortedIds(contacts)));
    return new Map(
      rows.map((row) => [
        `${row.contact} ${consentKey(row)}`,
        { state: row.state, at: Number(row.at) / 1_000 },
      ]),
    );
  }

  /**
   * Scopes that contacts refused, including refusals of an erased contact with one of their
   * addresses.
   */
  async refused(
    tx: Sql,
    contacts: readonly string[],
  ): Promise<(ConsentScope & { readonly contact: string })[]> {
    const { ids, refused } = this.#sql;
    const bound = ids.bind(sortedIds(contacts));
    return tx.all(refused, [...bound, ...bound]);
  }

  /** Entries, oldest first. */
  async history(sql: Pick<Sql, 'all'>, contact: string): Promise<ConsentEntry[]> {
    const rows = await sql.all<ConsentRow>(
      `SELECT contact, channel, category, state, at, source, evidence
       FROM messaging_consent_history WHERE contact = ? ORDER BY recorded_at, id`,
      [contact],
    );
    return rows.map(({ channel, category, ...row }) => ({
      channel,
      category,
      ...consentOf({ channel, category, ...row }),
    }));
  }
}

function sortedIds(contacts: readonly string[]): string[][] {
  return [...new Set(contacts)].sort().map((id) => [id]);
}

function rowOf(consent: ContactConsent): unknown[] {
  const { contact, channel, category, state, at, source, evidence } = consent;
  return [contact, channel, category, state, at * 1_000, source, evidence];
}

function statementsFor(dialect: Dialect) {
  const [rows, history] = [dialect.rows(CONSENT), dialect.rows(HISTORY)];
  const ids = dialect.rows({ v_id: 'uuid' });
  const moves = dialect.rows({ v_from: 'uuid', v_to: 'uuid' });
  const columns = 'contact, channel, category, state, at, source, evidence';
  const values = 'v_contact, v_channel, v_category, v_state, v_at, v_source, v_evidence';
  // The rule of `overrules()` as SQL.
  const wins = `(new.at > messaging_consent.at OR (new.at = messaging_consent.at
      AND (new.state = 'opted_out' OR messaging_consent.state = 'opted_in'))
    OR (new.state = 'opted_out' AND messaging_consent.at > ?))`;
  const raise = (column: string) =>
    `${column} = CASE WHEN ${wins} THEN new.${column} ELSE messaging_consent.${column} END`;
  return {
    rows,
    history,
    ids,
    moves,
    append: `INSERT INTO messaging_consent_history (${columns}, id, recorded_at)
      SELECT ${values}, v_id, v_recorded FROM ${history.sql}`,
    raise: `INSERT INTO messaging_consent (${columns}) SELECT ${values} FROM ${rows.sql} WHERE 1 = 1
      ${dialect.onConflict('contact, channel, category', RAISED.map(raise).join(', '))}`,
    moveHistory: dialect.updateFrom({
      table: 'messaging_consent_history',
      rows: moves,
      set: 'contact = v_to',
      where: 'messaging_consent_history.contact = v_from',
    }),
    select: `SELECT k.contact, k.channel, k.category, k.state, k.at, k.source, k.evidence
      FROM ${ids.sql} ${dialect.join} messaging_consent k ON k.contact = v_id`,
    overruled: `SELECT k.contact, k.channel, k.category FROM ${ids.sql}
      ${dialect.join} messaging_consent k ON k.contact = v_id
        AND k.category <> '${EVERY}' AND k.state = 'opted_out'
      JOIN messaging_consent w ON w.contact = k.contact AND w.channel = k.channel
        AND w.category = '${EVERY}' AND w.state = 'opted_in' AND w.at > k.at
      WHERE w.at <= ?`,
    end: 'DELETE FROM messaging_consent WHERE contact = ? AND channel = ? AND category = ?',
    outlived: `SELECT s.tenant, s.address, s.channel, s.category FROM ${rows.sql}
      ${dialect.join} messaging_contact_address a
        ${dialect.forceIndex('messaging_contact_address_contact')} ON a.contact = v_contact
      ${dialect.join} messaging_suppression s ON s.tenant = a.tenant AND s.address = a.address
        AND s.channel = v_channel AND (v_category = '${EVERY}' OR s.category = v_category)
      WHERE s.reason = '${REFUSED}' AND s.at < v_at`,
    lift: `DELETE FROM messaging_suppression
      WHERE tenant = ? AND address = ? AND channel = ? AND category = ? AND reason = '${REFUSED}'`,
    refused: `SELECT k.contact, k.channel, k.category FROM ${ids.sql}
        ${dialect.join} messaging_consent k ON k.contact = v_id WHERE k.state = 'opted_out'
      UNION ALL
      SELECT a.contact, s.channel, s.category FROM ${ids.sql}
        ${dialect.join} messaging_contact_address a
          ${dialect.forceIndex('messaging_contact_address_contact')} ON a.contact = v_id
        ${dialect.join} messaging_suppression s ON s.tenant = a.tenant AND s.address = a.address
      WHERE s.reason = '${REFUSED}'`,
  };
}
