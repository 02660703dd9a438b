import { randomUUID } from 'node:crypto';
import type { Clock } from '../../ports/clock.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';
import { HAS_WORK } from '../rows/batch-state.js';
import {
  checkHold,
  type Hold,
  HoldIndex,
  type NewHold,
  RESTORE_HOLD,
  restoreHoldOf,
} from '../rows/hold.js';

interface HoldRow extends Pick<Hold, 'lanes' | 'reason' | 'note'> {
  readonly since: string | number;
  readonly until: string | number | null;
}

/**
 * Holds on lanes. A restored copy of the database starts with one on all of them: a backup that is
 * marked inside holds the row already, with `since` 0; a restored dump is noticed by its mark.
 */
export class Holds {
  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async list(): Promise<Hold[]> {
    const rows = await this.database.all<HoldRow>(
      `SELECT lanes, reason, since, until_at AS "until", note FROM messaging_hold
       WHERE until_at IS NULL OR until_at > ${this.database.dialect.now} ORDER BY lanes, reason`,
    );
    return rows.map(({ since, until, ...row }) => ({
      ...row,
      since: new Date(Number(since) / 1_000),
      until: until === null ? null : new Date(Number(until) / 1_000),
    }));
  }

  async index(): Promise<HoldIndex> {
    return new HoldIndex(await this.list());
  }

  /**
   * Its `since` is a time of the database, as that at which a batch is due. A hold that exists keeps it;
   * its end and note are replaced. @throws MessageValidationError
   */
  async place(sql: Sql, hold: NewHold): Promise<void> {
    checkHold(hold);
    const { dialect } = this.database;
    const rows = dialect.rows<NewHold>({
      v_lanes: ['key', ({ lanes }) => lanes],
      v_reason: ['key', ({ reason }) => reason],
      v_note: ['key', ({ note }) => note],
      v_lasts: ['bigint', ({ lasts }) => (lasts === undefined ? null : Math.round(lasts * 1_000))],
    });
    await this.#deleteEnded(sql);
    await sql.run(
      `INSERT INTO messaging_hold (lanes, reason, since, until_at, note)
       SELECT v_lanes, v_reason, ${dialect.now}, ${dialect.now} + v_lasts, v_note
       FROM ${rows.sql} WHERE 1 = 1
       ${dialect.onConflict('lanes, reason', 'until_at = new.until_at, note = new.note')}`,
      rows.bind([hold]),
    );
  }

  /** False: there is no such hold. */
  async lift(sql: Sql, { lanes, reason }: Pick<Hold, 'lanes' | 'reason'>): Promise<boolean> {
    await this.#deleteEnded(sql);
    const sets = 'DELETE FROM messaging_hold WHERE lanes = ? AND reason = ?';
    return (await sql.run(sets, [lanes, reason])) > 0;
  }

  async #deleteEnded(sql: Sql): Promise<void> {
    await sql.run(`DELETE FROM messaging_hold WHERE until_at <= ${this.database.dialect.now}`);
  }

  /**
   * Before anything is sent: holds all lanes where this database is a restored dump of another one,
   * and dates the hold of a marked backup. False: neither.
   */
  async noticeRestore(): Promise<boolean> {
    const { database } = this;
    const { dialect } = database;
    const mark = await this.#mark();
    const now = this.clock.now() * 1_000;
    return database.transaction(async (tx) => {
      const own = dialect.rows<string | undefined>({ v_mark: ['key', (one) => one] });
      await tx.run(
        `INSERT INTO messaging_instance (id, mark) SELECT 1, v_mark FROM ${own.sql} WHERE 1 = 1
         ${dialect.ignoreConflict('messaging_instance', 'id')}`,
        own.bind([mark]),
      );
      const [row] = await tx.all<{ mark: string | null }>(
        `SELECT i.mark FROM messaging_instance i WHERE i.id = 1 ${dialect.forUpdate('i')}`,
      );
      const isDump = mark !== undefined && row?.mark !== mark && row?.mark !== null;
      if (mark !== undefined && row?.mark !== mark)
        await tx.run('UPDATE messaging_instance SET mark = ? WHERE id = 1', [mark]);
      if (isDump) await this.place(tx, RESTORE_HOLD);
      const dated = await tx.run('UPDATE messaging_hold SET since = ? WHERE since = 0', [now]);
      const isRestored = isDump || dated > 0;
      if (isRestored) await this.holdIrrevocable(tx);
      return isRestored;
    });
  }

  /** The holds of a restored database that a release of everything else leaves in place. */
  async holdIrrevocable(sql: Sql): Promise<void> {
    for (const { name, irrevocable } of this.database.channels.all)
      if (irrevocable) await this.place(sql, restoreHoldOf(name));
  }

  /**
   * Marks the batches of `lane` that were accepted and due before `since`: the unstarted messages of
   * them is settled as `unknown` instead of being sent.
   */
  async doubt(lane: string, since: Date): Promise<void> {
    const at = since.getTime() * 1_000;
    await this.database.transaction((tx) =>
      tx.run(
        `UPDATE messaging_batch SET in_doubt_at = ?
         WHERE ${HAS_WORK} AND lane = ? AND created_at < ? AND available_at <= ?`,
        [at, lane, at, at],
      ),
    );
  }

  /**
   * Tells this database from others: its mark, or where the server gives none, a random one that the
   * first call stores. `undefined`: the server does not say.
   */
  async identity(): Promise<string | undefined> {
    const { dialect } = this.database;
    if (dialect.instanceMark !== undefined) return this.#mark();
    return this.database.transaction(async (tx) => {
      const own = dialect.rows<string>({ v_mark: ['key', (one) => one] });
      const random = randomUUID();
      await tx.run(
        `INSERT INTO messaging_instance (id, mark) SELECT 1, v_mark FROM ${own.sql} WHERE 1 = 1
         ${dialect.ignoreConflict('messaging_instance', 'id')}`,
        own.bind([random]),
      );
      await tx.run('UPDATE messaging_instance SET mark = ? WHERE id = 1 AND mark IS NULL', [
        random,
      ]);
      const [row] = await tx.all<{ mark: string }>(
        'SELECT i.mark FROM messaging_instance i WHERE i.id = 1',
      );
      return row?.mark;
    });
  }

  /** Identifies this copy of the tables; `undefined` where the server does not tell. */
  async #mark(): Promise<string | undefined> {
    const { instanceMark } = this.database.dialect;
    if (instanceMark === undefined) return undefined;
    const rows = await this.database.all<{ mark: string }>(instanceMark).catch(() => []);
    return rows[0]?.mark;
  }
}
