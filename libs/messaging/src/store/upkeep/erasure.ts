import { addressOfKey } from '../../message/address.js';
import { storedFormsOf } from '../../message/phone-identity.js';
import type { Clock } from '../../ports/clock.js';
import type { ErasureListeners } from '../../ports/listeners.js';
import type { AfterCommit } from '../database/after-commit.js';
import { isDataError } from '../database/database-errors.js';
import { GroupCommit } from '../database/group-commit.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import type { StatusWriter } from '../verbs/status-writer.js';
import { ErasedMessages, type MessageAt } from './erased-messages.js';
import { ErasedReports } from './erased-reports.js';

/** Most batches and recipients that one query reads, the recipients for each form of an address. */
const PAGE = { batches: 5_000, recipients: 200_000 };

/** Most erasures that walk together. */
const TOGETHER = 20;

/** Milliseconds after which a walk saves how far it is. */
const SAVE_EVERY = 1_000;

/** Milliseconds for which an erasure belongs to the process that works on it. */
const CLAIMED = 60_000;

/** Milliseconds between two looks at messages in flight. */
const LOOK_AGAIN = 10_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface ErasureRow {
  readonly id: string;
  readonly tenant: string;
  /** Identity of an address key, of which every form is erased. */
  readonly address: string;
  after: string | null;
  walked: number;
  places: string;
  readonly dueAt: string | number;
}

/** An erasure on its walk. */
interface Walker {
  readonly row: ErasureRow;
  readonly forms: readonly string[];
  /** Messages that must keep the address for now. */
  readonly inFlight: readonly MessageAt[];
}

/** What a walk found. */
interface Walked {
  readonly messages: number;
  readonly inFlight: readonly MessageAt[];
}

export interface Erased {
  /** Messages from which the address was erased. */
  readonly messages: number;
  /** Batches with a message in flight, which keeps the address until it ends. */
  readonly remaining: number;
}

/**
 * Erases addresses from messages, in small transactions, and survives a crash: its row has the last
 * batch that was read. No index has the recipients of batches, because each message would pay for
 * it: an erasure reads the recipients of all batches of the tenant, page by page. Erasures of a tenant
 * that arrive during a walk share the next one.
 *
 * ```
 * begin ─▶ walk the tenant's batches ─▶ waiting reports, listeners ─▶ ended, row deleted
 *                                            │        ▲
 *                     messages in flight ────▼        │ each has ended
 *                                       look again ───┘
 * ```
 */
export class Erasures {
  readonly #messages: ErasedMessages;
  readonly #reports: ErasedReports;
  /** By tenant, while erasures of it walk. */
  readonly #walks = new Map<string, { group: GroupCommit<Walker, Walked>; waiting: number }>();

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
    private readonly afterCommit: AfterCommit,
    private readonly listeners: ErasureListeners | undefined,
  ) {
    this.#messages = new ErasedMessages(database, writer, clock);
    this.#reports = new ErasedReports(database);
  }

  /** Requests the erasure of address keys. @returns ids for {@link run} */
  async begin(tx: Sql, tenant: string, addresses: readonly string[]): Promise<string[]> {
    const ids: string[] = [];
    for (const address of addresses) {
      const id = this.clock.id();
      ids.push(id);
      await tx.run(
        'INSERT INTO messaging_erasure (id, tenant, address, places, due_at) VALUES (?, ?, ?, ?, ?)',
        [id, tenant, address, '[]', this.#at(CLAIMED)],
      );
    }
    return ids;
  }

  /** Those of the identities whose erasure has not ended. */
  async unfinished(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    addresses: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const rows = await sql.all<{ readonly address: string }>(
      'SELECT e.address FROM messaging_erasure e WHERE e.tenant = ?',
      [tenant],
    );
    const erased = new Set(rows.map(({ address }) => address));
    return new Set(addresses.filter((address) => erased.has(address)));
  }

  /**
   * Erases all but messages in flight; with `tx`, all of it in this transaction. One after the other:
   * listeners may change one row for two addresses of a person, each by what it has read.
   */
  async run(ids: readonly string[], tx?: Transaction): Promise<Erased> {
    const total = { messages: 0, remaining: 0 };
    for (const id of ids) {
      const [row] = await (tx ?? this.database).all<ErasureRow>(`${SELECT} WHERE id = ?`, [id]);
      if (!row) continue;
      const { messages, remaining } = await this.#continue(row, tx);
      total.messages += messages;
      total.remaining += remaining;
    }
    return total;
  }

  /** Continues erasures whose process died, and those whose messages were in flight. */
  async resume(signal: AbortSignal): Promise<void> {
    const rows = await this.database.all<ErasureRow>(
      `${SELECT} WHERE due_at <= ? ORDER BY due_at LIMIT 100`,
      [this.#at(0)],
    );
    for (const row of rows) {
      if (signal.aborted) return;
      const claimed = await this.database.transaction((tx) =>
        tx.run('UPDATE messaging_erasure SET due_at = ? WHERE id = ? AND due_at = ?', [
          this.#at(CLAIMED),
          row.id,
          row.dueAt,
        ]),
      );
      if (claimed === 1) await this.#continue(row);
    }
  }

  async #continue(row: ErasureRow, tx?: Transaction): Promise<Erased> {
    const inFlight: MessageAt[] = [];
    const places = JSON.parse(row.places) as MessageAt[];
    const isFirst = Number(row.walked) === 0;
    const forms = storedFormsOf(row.address);
    let messages = await this.#eraseAt(row, places, inFlight, tx);
    if (isFirst) {
      const walker = { row, forms, inFlight };
      const walked = tx ? (await this.#walk([walker], tx))[0] : await this.#walkTogether(walker);
      messages += walked?.messages ?? 0;
      inFlight.push(...(walked?.inFlight ?? []));
    }
    if (isFirst || messages > 0) {
      await this.#eraseWaiting(row.address, tx);
      for (const form of forms)
        await this.listeners?.notify(
          { tenant: row.tenant, address: addressOfKey(form) },
          tx?.manager,
        );
    }
    if (inFlight.length === 0)
      await this.#in(tx, (sql) => sql.run('DELETE FROM messaging_erasure WHERE id = ?', [row.id]));
    else {
      const rest = { ...row, walked: 1, places: inFlight };
      await this.#in(tx, (sql) => this.#save(sql, rest, LOOK_AGAIN));
    }
    return { messages, remaining: new Set(inFlight.map(([batch]) => batch)).size };
  }

  async #walkTogether(walker: Walker): Promise<Walked> {
    const { tenant } = walker.row;
    const walk = this.#walks.get(tenant) ?? { group: this.#newGroup(), waiting: 0 };
    this.#walks.set(tenant, walk);
    walk.waiting++;
    try {
      return await walk.group.add(walker);
    } finally {
      if (--walk.waiting === 0) this.#walks.delete(tenant);
    }
  }

  #newGroup(): GroupCommit<Walker, Walked> {
    return new GroupCommit((take) => this.#walk(take()), {
      maxItems: TOGETHER,
      isItemError: isDataError,
    });
  }

  /** @param walkers of one tenant, which start where the one that is behind the others left off */
  async #walk(walkers: readonly Walker[], tx?: Transaction): Promise<Walked[]> {
    const sql = tx ?? this.database;
    const tenant = walkers[0]?.row.tenant ?? '';
    const forms = walkers.flatMap((walker) => walker.forms);
    const contained = forms.map(() => "c.recipients LIKE ? ESCAPE '!'").join(' OR ');
    const likes = forms.map((form) => `%${form.replaceAll(/[!%_]/g, '!$&')}%`);
    const walked = walkers.map((walker) => ({ ...walker, messages: 0, found: [] as MessageAt[] }));
    const starts = walkers.map(({ row }) => row.after ?? FIRST_ID);
    let saveAt = performance.now() + SAVE_EVERY;
    for (let after = starts.toSorted()[0]; ;) {
      const page = await sql.all<{ id: string; recipients: number }>(
        `SELECT b.id, b.recipient_count AS recipients FROM messaging_batch b
         WHERE b.tenant = ? AND b.id > ? ORDER BY b.id LIMIT ${PAGE.batches}`,
        [tenant, after],
      );
      let sum = 0;
      const beyond = page.findIndex(
        ({ recipients }) => (sum += recipients * forms.length) > PAGE.recipients,
      );
      const last = page[beyond < 0 ? page.length - 1 : Math.max(0, beyond - 1)]?.id;
      if (last === undefined)
        return walked.map(({ messages, found }) => ({ messages, inFlight: found }));
      const chunks = await sql.all<{ batch: string; n: number; recipients: string }>(
        `SELECT c.batch, c.n, c.recipients FROM messaging_batch b
         JOIN messaging_batch_chunk c ON c.batch = b.id
         WHERE b.tenant = ? AND b.id > ? AND b.id <= ? AND (${contained})`,
        [tenant, after, last, ...likes],
      );
      // At the same time: on SQLite they share turns, and each wait for another process's lock.
      await settledAll(
        walked.map(async (walker) => {
          const places = placesOf(chunks, walker.forms);
          walker.messages += await this.#eraseAt(walker.row, places, walker.found, tx);
        }),
      );
      after = last;
      if (performance.now() < saveAt) continue;
      await this.#in(tx, async (own) => {
        for (const { row, inFlight, found } of walked)
          await this.#save(own, { ...row, after: last, places: [...inFlight, ...found] }, CLAIMED);
      });
      saveAt = performance.now() + SAVE_EVERY;
    }
  }

  /** @param inFlight gets the messages that must keep the address for now */
  async #eraseAt(
    { tenant, address }: ErasureRow,
    places: readonly MessageAt[],
    inFlight: MessageAt[],
    tx?: Transaction,
  ): Promise<number> {
    let messages = 0;
    for (const place of places) {
      const reports = this.#reports.of(tenant, place, storedFormsOf(address));
      // Most reports of a large batch in small transactions, the latest with the message.
      const past = await reports.eraseMost((work) => this.#in(tx, work), tx);
      const changes = await this.#in(tx, async (sql) => {
        const erased = await this.#messages.erase(sql, place);
        if (erased) await reports.eraseRest(sql, past);
        return erased;
      });
      if (!changes) {
        inFlight.push(place);
        continue;
      }
      messages++;
      if (changes.length === 0) continue;
      const publish = () => this.writer.publish(changes);
      if (tx) this.afterCommit.on(tx.manager.queryRunner!, publish);
      else publish();
    }
    return messages;
  }

  /** Reports that match no message have no tenant. */
  async #eraseWaiting(address: string, tx?: Transaction): Promise<void> {
    const reports = this.#reports.waiting(storedFormsOf(address));
    const past = await reports.eraseMost((work) => this.#in(tx, work), tx);
    await this.#in(tx, (sql) => reports.eraseRest(sql, past));
  }

  async #save(
    sql: Sql,
    {
      id,
      after,
      walked,
      places,
    }: Omit<ErasureRow, 'places'> & { readonly places: readonly MessageAt[] },
    wait: number,
  ): Promise<void> {
    await sql.run(
      'UPDATE messaging_erasure SET after = ?, walked = ?, places = ?, due_at = ? WHERE id = ?',
      [after, walked, JSON.stringify(places), this.#at(wait), id],
    );
  }

  #in<T>(tx: Transaction | undefined, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return tx ? work(tx) : this.database.transaction(work);
  }

  /** Epoch microseconds, `wait` milliseconds from now. */
  #at(wait: number): number {
    return (this.clock.now() + wait) * 1_000;
  }
}

const SELECT =
  'SELECT id, tenant, address, after, walked, places, due_at AS "dueAt" FROM messaging_erasure';

function placesOf(
  chunks: readonly { readonly batch: string; readonly n: number; readonly recipients: string }[],
  forms: readonly string[],
): MessageAt[] {
  return chunks.flatMap(({ batch, n, recipients }) =>
    recipients
      .split('\n')
      .flatMap((recipient, line): MessageAt[] =>
        forms.includes(recipient) ? [[batch, n * CHUNK_SIZE + line]] : [],
      ),
  );
}

/** Waits for all of them, also where one fails. */
async function settledAll(works: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}
