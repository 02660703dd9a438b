import type { Sql } from '../store/database/store-database.js';
import type { Consent, ConsentEntry, ConsentScope, ConsentState } from './contact.js';
import { EVERY } from './contact-input.js';
import { type ContactTables, groupedBy, type Row } from './contact-tables.js';
import type { Suppressions } from './suppressions.js';

/** Consent of a contact; `at` in epoch milliseconds. */
export type ContactConsent = Row<'consent'> & { readonly state: ConsentState };

export function consentKey({ channel, category }: ConsentScope): string {
  return category === EVERY ? channel : `${channel}:${category}`;
}

export function consentOf({ state, at, source, evidence }: Row<'consent'>): Consent {
  return { state: state as ConsentState, at: new Date(at), source, evidence };
}

export function overlap(one: ConsentScope, other: ConsentScope): boolean {
  if (one.channel !== other.channel) return false;
  return one.category === other.category || [one.category, other.category].includes(EVERY);
}

function keyOf(consent: ContactConsent): string {
  return `${consent.contact} ${consentKey(consent)}`;
}

/** MySQL assigns from left to right, so the columns that the condition reads are last. */
const RAISED = ['source', 'evidence', 'state', 'at'];

/**
 * Of two entries for one scope the younger one wins; at the same instant the refusal wins. An entry
 * in the future (the parameter is the present) means a wrong clock: then any refusal wins.
 */
const WINS = `(new.at > messaging_consent.at OR (new.at = messaging_consent.at
    AND (new.state = 'opted_out' OR messaging_consent.state = 'opted_in'))
  OR (new.state = 'opted_out' AND messaging_consent.at > ?))`;

/**
 * Current consent by contact, channel and category, and an append-only history. In any order of
 * arrival, a refusal stands until a younger consent of the same scope or of the whole channel.
 * Callers hold the contact locks.
 */
export class Consents {
  constructor(
    private readonly tables: ContactTables,
    private readonly suppressions: Suppressions,
    private readonly newId: () => string,
  ) {}

  /** Appends to the history and updates the current consent. @returns as {@link raise} */
  async record(
    tx: Sql,
    consents: readonly ContactConsent[],
    now: number,
  ): Promise<readonly ContactConsent[]> {
    const history = consents.map((one) => ({ ...one, id: this.newId(), recorded_at: now }));
    await this.tables.insert(tx, 'consent_history', history);
    return this.raise(tx, consents, now);
  }

  async current(tx: Sql, contacts: Iterable<string>): Promise<ContactConsent[]> {
    return (await this.tables.of(tx, 'consent', contacts)) as ContactConsent[];
  }

  async history(sql: Pick<Sql, 'all'>, contacts: readonly string[]): Promise<ConsentEntry[]> {
    const rows = await this.tables.of(sql, 'consent_history', contacts, 't.recorded_at, t.id');
    return rows.map((row) => ({
      channel: row.channel,
      category: row.category,
      ...consentOf(row),
    }));
  }

  /** Updates the current consent. @returns the entries that changed the state of their scope */
  async raise(
    tx: Sql,
    consents: readonly ContactConsent[],
    now: number,
  ): Promise<readonly ContactConsent[]> {
    const raise = (column: string) =>
      `${column} = CASE WHEN ${WINS} THEN new.${column} ELSE messaging_consent.${column} END`;
    const conflict = this.tables.dialect.onConflict(
      'contact, channel, category',
      RAISED.map(raise).join(', '),
    );
    const present = RAISED.map(() => now * 1_000);
    // Each round has each scope of a contact once; the order of its entries stays.
    const rounds: ContactConsent[][] = [];
    for (const scope of groupedBy(consents, keyOf).values())
      scope.forEach((one, n) => (rounds[n] ??= []).push(one));
    const changed: ContactConsent[] = [];
    for (const round of rounds) {
      const before = await this.#states(tx, round);
      await this.tables.insert(tx, 'consent', round, conflict, present);
      const after = await this.#states(tx, round);
      changed.push(...round.filter((one) => before.get(keyOf(one)) !== after.get(keyOf(one))));
    }
    await this.#endRefusals(tx, consents, now);
    return changed;
  }

  async #states(tx: Sql, of: readonly ContactConsent[]): Promise<Map<string, ConsentState>> {
    const contacts = of.map(({ contact }) => contact);
    const current = await this.current(tx, contacts);
    return new Map(current.map((one) => [keyOf(one), one.state]));
  }

  /** Deletes refusals that a younger consent overrules: of a category, or of an erased contact. */
  async #endRefusals(tx: Sql, given: readonly ContactConsent[], now: number): Promise<void> {
    if (given.some(({ state, category }) => (state === 'opted_in') === (category === EVERY)))
      for (const { contact, channel, category } of await this.#overruled(tx, given, now))
        await tx.run(
          'DELETE FROM messaging_consent WHERE contact = ? AND channel = ? AND category = ?',
          [contact, channel, category],
        );
    const optedIn = given.filter(({ state }) => state === 'opted_in');
    if (optedIn.length === 0) return;
    const outlived = await this.suppressions.outlived(
      tx,
      optedIn.map(({ contact }) => contact),
    );
    for (const refusal of outlived) {
      const ends = ({ contact, channel, category, at }: ContactConsent) =>
        refusal.contact === contact &&
        refusal.channel === channel &&
        refusal.at < at &&
        (category === EVERY || category === refusal.category);
      if (optedIn.some(ends)) await this.suppressions.lift(tx, refusal);
    }
  }

  /** Refusals of a category that a younger consent for the whole channel overrules. */
  #overruled(
    tx: Sql,
    given: readonly ContactConsent[],
    now: number,
  ): Promise<Pick<ContactConsent, 'contact' | 'channel' | 'category'>[]> {
    const { dialect, ids } = this.tables;
    return tx.all(
      `SELECT k.contact, k.channel, k.category FROM ${ids.keyed}
       ${dialect.join} messaging_consent k ON k.contact = v_id
         AND k.category <> '${EVERY}' AND k.state = 'opted_out'
       JOIN messaging_consent w ON w.contact = k.contact AND w.channel = k.channel
         AND w.category = '${EVERY}' AND w.state = 'opted_in' AND w.at > k.at
       WHERE w.at <= ?`,
      [...this.tables.bind(given.map(({ contact }) => contact)), now * 1_000],
    );
  }
}
