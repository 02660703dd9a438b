import type { Sql } from '../store/database/store-database.js';
import type { Consent, ConsentEntry, ConsentScope, ConsentState } from './contact.js';
import { EVERY } from './contact-input.js';
import { contactOf, type ContactTables, groupedBy, type Row } from './contact-tables.js';
import type { Suppressions } from './suppressions.js';

/** Consent of a contact; `at` in epoch milliseconds. */
export type ContactConsent = Row<'consent'> & { readonly state: ConsentState };

export function consentKey({ channel, category }: ConsentScope): string {
  return category === EVERY ? channel : `${channel}:${category}`;
}

export function consentOf({ state, at, source, evidence }: Row<'consent'>): Consent {
  return { state: state as ConsentState, at: new Date(at), source, evidence };
}

export function isRefusal({ state }: { readonly state: string }): boolean {
  return state === 'opted_out';
}

export function overlap(one: ConsentScope, other: ConsentScope): boolean {
  if (one.channel !== other.channel) return false;
  return one.category === other.category || [one.category, other.category].includes(EVERY);
}

function keyOf(consent: ConsentScope & { readonly contact: string }): string {
  return `${consent.contact} ${consentKey(consent)}`;
}

function byKey(consents: readonly ContactConsent[]): ReadonlyMap<string, ContactConsent> {
  return new Map(consents.map((one) => [keyOf(one), one]));
}

/** MySQL assigns from left to right, so the columns that the condition reads are last. */
const RAISED = ['source', 'evidence', 'state', 'at'];

/**
 * The younger of two entries for one scope wins; at the same instant the refusal wins. An entry
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
    return rows.map((row) => {
      return { channel: row.channel, category: row.category, ...consentOf(row) };
    });
  }

  /** Updates the current consent. @returns the entries that changed the state of their scope */
  async raise(
    tx: Sql,
    consents: readonly ContactConsent[],
    now: number,
  ): Promise<readonly ContactConsent[]> {
    const changed = await this.#raise(tx, consents, now);
    await this.#liftOutlived(tx, consents, now);
    return changed;
  }

  /**
   * Gives the current consents of merged contacts to the targets.
   * @param keepsRefusals of overlapping entries the refusal stays, whichever is younger
   */
  async merge(
    tx: Sql,
    moves: ReadonlyMap<string, string>,
    now: number,
    keepsRefusals: boolean,
  ): Promise<void> {
    const moved = (await this.current(tx, moves.keys())).map((one) => {
      return { ...one, contact: moves.get(one.contact) as string };
    });
    if (!keepsRefusals) {
      await this.raise(tx, moved, now);
      return;
    }
    const all = [...moved, ...(await this.current(tx, moves.values()))];
    const latest = new Map<string, number>();
    for (const { contact, channel, at } of all) {
      const key = `${contact} ${channel}`;
      latest.set(key, Math.max(at, latest.get(key) ?? 0));
    }
    const kept = all.filter(isRefusal).map((refusal) => {
      return { ...refusal, at: latest.get(`${refusal.contact} ${refusal.channel}`) as number };
    });
    await this.#raise(tx, [...moved, ...kept], now);
  }

  async #raise(
    tx: Sql,
    consents: readonly ContactConsent[],
    now: number,
  ): Promise<readonly ContactConsent[]> {
    if (consents.length === 0) return [];
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
    const contacts = consents.map(contactOf);
    const changed: ContactConsent[] = [];
    let before = byKey(await this.current(tx, contacts));
    for (const round of rounds) {
      await this.tables.insert(tx, 'consent', round, conflict, present);
      const after = byKey(await this.current(tx, contacts));
      for (const one of round)
        if (before.get(keyOf(one))?.state !== after.get(keyOf(one))?.state) changed.push(one);
      before = after;
    }
    await this.#endRefusals(tx, before, now);
    return changed;
  }

  /** Deletes refusals of a category that a younger consent for the whole channel overrules. */
  async #endRefusals(tx: Sql, current: ReturnType<typeof byKey>, now: number): Promise<void> {
    for (const { contact, channel, category, at } of [...current.values()].filter(isRefusal)) {
      const whole = current.get(keyOf({ contact, channel, category: EVERY }));
      if (whole?.state === 'opted_in' && whole.at > at && whole.at <= now)
        await tx.run(
          'DELETE FROM messaging_consent WHERE contact = ? AND channel = ? AND category = ?',
          [contact, channel, category],
        );
    }
  }

  /**
   * Ends refusals of erased contacts, and entries `unsubscribe` of the suppression list, that a
   * younger consent of the same address overrules.
   */
  async #liftOutlived(tx: Sql, given: readonly ContactConsent[], now: number): Promise<void> {
    const optedIn = given.filter(({ state, at }) => state === 'opted_in' && at <= now);
    if (optedIn.length === 0) return;
    const isOver = (refusal: ConsentScope & { readonly contact: string; readonly at: number }) =>
      optedIn.some(
        ({ contact, channel, category, at }) =>
          refusal.contact === contact &&
          refusal.channel === channel &&
          refusal.at < at &&
          (category === EVERY || category === refusal.category),
      );
    const contacts = optedIn.map(contactOf);
    for (const refusal of await this.suppressions.outlived(tx, contacts))
      if (isOver(refusal)) await this.suppressions.lift(tx, refusal);
    for (const refusal of await this.suppressions.unsubscribed(tx, contacts))
      if (isOver(refusal)) await this.suppressions.liftUnsubscribed(tx, refusal);
  }
}
