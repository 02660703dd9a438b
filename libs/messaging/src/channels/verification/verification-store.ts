import type { Sql, StoreDatabase } from '../../store/database/store-database.js';
import { hasEnded } from '../../store/rows/batch-state.js';
import { eraseContent } from '../../store/upkeep/erased-content.js';
import type { VerificationStatus } from './verification.js';

type Big = string | number;

/** Times in epoch milliseconds. */
export interface StoredVerification {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  /** Empty where the recipient has none. */
  readonly country: string;
  /** Keyed digest. */
  readonly code: string;
  readonly status: VerificationStatus;
  readonly tries: number;
  readonly attempts: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly batch: string;
}

/** Keyed digests of an idempotency key and of the verification under it. */
export interface VerificationKey {
  readonly key: string;
  readonly fingerprint: string;
}

/** A verification whose message still has its content. */
interface Ended {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly batch: string;
}

interface VerificationRow extends Omit<StoredVerification, 'createdAt' | 'expiresAt'> {
  readonly createdAt: Big;
  readonly expiresAt: Big;
}

const COLUMNS = `v.id, v.tenant, v.channel, v.country, v.code, v.status, v.tries, v.attempts,
  v.created_at AS "createdAt", v.expires_at AS "expiresAt", v.batch`;

export class VerificationStore {
  constructor(private readonly database: StoreDatabase) {}

  async insert(sql: Sql, verification: StoredVerification, key?: VerificationKey): Promise<void> {
    const { id, tenant, channel, country, code, status, tries, attempts, batch } = verification;
    const values = [id, tenant, channel, country, code, status, tries, attempts];
    const times = [verification.createdAt, verification.expiresAt].map((at) => at * 1_000);
    await sql.run(
      `INSERT INTO messaging_verification (id, tenant, channel, country, code, status, tries,
         attempts, created_at, expires_at, batch, erase_at, idempotency_key, fingerprint)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [...values, ...times, batch, times[1], key?.key ?? null, key?.fingerprint ?? null],
    );
  }

  async find(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    id: string,
    lock = false,
  ): Promise<StoredVerification | undefined> {
    const [row] = await sql.all<VerificationRow>(
      `SELECT ${COLUMNS} FROM messaging_verification v WHERE v.id = ? AND v.tenant = ?
       ${lock ? this.database.dialect.forUpdate('v') : ''}`,
      [id, tenant],
    );
    return row && storedOf(row);
  }

  /** Verifications by the batches of their messages. */
  async ofBatches(
    batches: readonly string[],
  ): Promise<
    Pick<StoredVerification, 'batch' | 'id' | 'channel' | 'status' | 'createdAt' | 'expiresAt'>[]
  > {
    const ids = this.database.dialect.rows({ v_id: 'uuid' });
    const rows = await this.database.all<
      Pick<StoredVerification, 'batch' | 'id' | 'channel' | 'status'> & {
        createdAt: Big;
        expiresAt: Big;
      }
    >(
      `SELECT c.batch, c.id, c.channel, c.status, c.created_at AS "createdAt", c.expires_at AS "expiresAt"
       FROM ${ids.keyed} ${this.database.dialect.join} messaging_verification c ON c.batch = v_id`,
      ids.bind([...new Set(batches)].map((id) => [id])),
    );
    return rows.map(({ createdAt, expiresAt, ...row }) => ({
      ...row,
      createdAt: ms(createdAt),
      expiresAt: ms(expiresAt),
    }));
  }

  /** The newest verification under one of the keys; `undefined`: none since that time. */
  async ofKey(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    keys: readonly string[],
    since: number,
  ): Promise<(StoredVerification & Pick<VerificationKey, 'fingerprint'>) | undefined> {
    const [row] = await sql.all<VerificationRow & Pick<VerificationKey, 'fingerprint'>>(
      `SELECT ${COLUMNS}, v.fingerprint FROM messaging_verification v
       WHERE v.tenant = ? AND v.idempotency_key IN (${keys.map(() => '?').join(', ')})
         AND v.created_at > ? ORDER BY v.created_at DESC LIMIT 1`,
      [tenant, ...keys, since * 1_000],
    );
    return row && { ...storedOf(row), fingerprint: row.fingerprint };
  }

  /** @param eraseAt when the message's content may go; `null`: as before */
  async update(
    sql: Sql,
    id: string,
    status: VerificationStatus,
    tries: number,
    eraseAt: number | null,
  ): Promise<void> {
    await sql.run(
      `UPDATE messaging_verification SET status = ?, tries = ?, erase_at = coalesce(?, erase_at)
       WHERE id = ?`,
      [status, tries, eraseAt === null ? null : eraseAt * 1_000, id],
    );
  }

  /** Whether each of the newest verifications of a time was checked at all. */
  async checked(
    sql: Pick<Sql, 'all'>,
    { tenant, country }: Pick<StoredVerification, 'tenant' | 'country'>,
    since: number,
    until: number,
    limit: number,
  ): Promise<boolean[]> {
    const rows = await sql.all<{ tries: number; status: string }>(
      `SELECT v.tries, v.status FROM messaging_verification v
       WHERE v.tenant = ? AND v.country = ? AND v.created_at > ? AND v.created_at < ?
       ORDER BY v.created_at DESC LIMIT ?`,
      [tenant, country, since * 1_000, until * 1_000, limit],
    );
    return rows.map(({ tries, status }) => tries > 0 || status === 'verified');
  }

  /** Verifications that have ended and whose message has its content; those without end expire. */
  async ended(sql: Sql, now: number, limit: number): Promise<Ended[]> {
    const found = await sql.all<Ended & { status: VerificationStatus }>(
      `SELECT v.id, v.tenant, v.channel, v.batch, v.status FROM messaging_verification v
       WHERE v.erase_at IS NOT NULL AND v.erase_at <= ? ORDER BY v.erase_at LIMIT ?
       ${this.database.dialect.skipLocked('v')}`,
      [now * 1_000, limit],
    );
    for (const { id } of found.filter(({ status }) => status === 'pending'))
      await sql.run("UPDATE messaging_verification SET status = 'expired' WHERE id = ?", [id]);
    return found.map(({ status: _status, ...ended }) => ended);
  }

  /** Verifications whose message has its content, in the order of their ids. */
  withContent(
    sql: Pick<Sql, 'all'>,
    after: string,
    limit: number,
  ): Promise<Pick<Ended, 'id' | 'batch'>[]> {
    return sql.all(
      `SELECT v.id, v.batch FROM messaging_verification v
       WHERE v.erase_at IS NOT NULL AND v.id > ? ORDER BY v.id LIMIT ?`,
      [after, limit],
    );
  }

  /** Erases the content of the message, once nothing of it is left to send. False: not yet. */
  async eraseContent(sql: Sql, { id, batch }: Ended, again: number): Promise<boolean> {
    const [ready] = await sql.all(
      `SELECT b.id FROM messaging_batch b WHERE b.id = ? AND NOT (${hasEnded('b')})`,
      [batch],
    );
    if (ready) {
      await sql.run('UPDATE messaging_verification SET erase_at = ? WHERE id = ?', [
        again * 1_000,
        id,
      ]);
      return false;
    }
    await eraseContent(sql, batch);
    await sql.run('UPDATE messaging_verification SET erase_at = NULL WHERE id = ?', [id]);
    return true;
  }

  /** Deletes verifications and windows that no check and no limit needs any more. */
  async forget(sql: Sql, createdBefore: number, windowsBefore: number): Promise<void> {
    await sql.run('DELETE FROM messaging_verification WHERE created_at < ? AND erase_at IS NULL', [
      createdBefore * 1_000,
    ]);
    await sql.run('DELETE FROM messaging_verification_limit WHERE window_at < ?', [
      windowsBefore * 1_000,
    ]);
  }
}

function storedOf({ createdAt, expiresAt, ...row }: VerificationRow): StoredVerification {
  return { ...row, createdAt: ms(createdAt), expiresAt: ms(expiresAt) };
}

function ms(micros: Big | undefined): number {
  return Math.floor(Number(micros ?? 0) / 1_000);
}
