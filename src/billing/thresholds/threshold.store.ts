import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** A balance that has passed an amount; amounts are millionths. */
export interface Crossing {
  readonly accountId: string;
  /** `null`: there is nothing left to spend, or there is again. */
  readonly threshold: bigint | null;
  /** Whether the balance has fallen. */
  readonly isDown: boolean;
  readonly balance: bigint;
  readonly creditLimit: bigint;
  readonly currency: string;
  /** E-mail addresses, separated by commas; `null`: none. */
  readonly emails: string | null;
}

/** Settings of the notices about the balance of an account. */
export interface ThresholdSettings {
  /** Millionths, the largest first. */
  readonly thresholds: readonly bigint[];
  readonly emails: readonly string[];
}

export interface Notice {
  readonly id: string;
  readonly accountId: string;
  readonly event: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const text = (column: string) => `CONCAT(${column}, '')`;

export type CrossingRow = Record<'accountId' | 'balance' | 'creditLimit' | 'currency', string> & {
  readonly emails: string | null;
  /** Empty without a threshold, as text of NULL is. */
  readonly amount: string;
  readonly isBelow: number | null;
  readonly isExhausted: number;
};

/** Statements over thresholds. The caller has the rows of the accounts locked. */
@Injectable()
export class ThresholdStore {
  readonly #database: QueueDatabase;
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor({ database }: WorkQueues) {
    this.#database = database;
    this.#sql = statementsFor(database);
  }

  join(manager: EntityManager): Sql {
    return this.#database.join(manager);
  }

  /** Balances on the other side of an amount than when they were last looked at. */
  async crossings(sql: Sql, accounts: readonly string[]): Promise<readonly Crossing[]> {
    if (accounts.length === 0) return [];
    const { crossed, ids } = this.#sql;
    const rows = await sql.all<CrossingRow>(crossed, ids.bind([...new Set(accounts)]));
    return crossingsOf(rows);
  }

  /** Remembers on which side the balances are. */
  async note(sql: Sql, crossings: readonly Crossing[]): Promise<void> {
    const { noteLow, noteExhausted, sides } = this.#sql;
    const low = crossings.filter(({ threshold }) => threshold !== null);
    const exhausted = crossings.filter(({ threshold }) => threshold === null);
    if (low.length > 0) await sql.run(noteLow, sides.bind(low));
    if (exhausted.length > 0) await sql.run(noteExhausted, sides.bind(exhausted));
  }

  async settings(
    accountId: string,
    sql: Sql | QueueDatabase = this.#database,
  ): Promise<ThresholdSettings> {
    const thresholds = await sql.all<{ amount: string }>(
      `SELECT ${text('t.amount')} AS amount FROM gateway_billing_threshold t
        WHERE t.account_id = ? ORDER BY t.amount DESC`,
      [accountId],
    );
    const [account] = await sql.all<{ emails: string | null }>(
      'SELECT notified_emails AS emails FROM gateway_billing_account WHERE account_id = ?',
      [accountId],
    );
    return {
      thresholds: thresholds.map(({ amount }) => BigInt(amount)),
      emails: account?.emails ? account.emails.split(',') : [],
    };
  }

  /** Replaces the settings. A balance that is below a new amount already has not crossed it. */
  async put(sql: Sql, accountId: string, { thresholds, emails }: ThresholdSettings): Promise<void> {
    const kept = await this.settings(accountId, sql);
    for (const amount of kept.thresholds)
      if (!thresholds.includes(amount))
        await sql.run(
          `DELETE FROM gateway_billing_threshold WHERE account_id = ? AND amount = ${amount}`,
          [accountId],
        );
    for (const amount of thresholds)
      if (!kept.thresholds.includes(amount))
        await sql.run(
          `INSERT INTO gateway_billing_threshold (account_id, amount, is_below)
            SELECT account_id, ${amount}, CASE WHEN balance < ${amount} THEN 1 ELSE 0 END
            FROM gateway_billing_account WHERE account_id = ?`,
          [accountId],
        );
    await sql.run('UPDATE gateway_billing_account SET notified_emails = ? WHERE account_id = ?', [
      emails.length === 0 ? null : emails.join(','),
      accountId,
    ]);
  }

  async addNotices(sql: Sql, notices: readonly Notice[]): Promise<void> {
    if (notices.length === 0) return;
    const { addNotices, notice } = this.#sql;
    await sql.run(addNotices, notice.bind(notices));
  }

  /** Locks the oldest notice, and leaves those that another process has. */
  async takeNotice(sql: Sql): Promise<Notice | undefined> {
    const { first } = this.#sql;
    const [row] = await sql.all<Omit<Notice, 'createdAt'> & { createdAt: string | number }>(
      first,
      [],
    );
    if (!row) return undefined;
    await sql.run('DELETE FROM gateway_billing_notice WHERE id = ?', [row.id]);
    return { ...row, createdAt: Number(row.createdAt) };
  }
}

/** @param rows of {@link crossedSql} */
export function crossingsOf(rows: readonly CrossingRow[]): readonly Crossing[] {
  const seen = new Set<string>();
  return rows.flatMap(({ amount, isBelow, isExhausted, ...row }) => {
    const balance = BigInt(row.balance);
    const creditLimit = BigInt(row.creditLimit);
    const of = { ...row, balance, creditLimit };
    const found: Crossing[] = [];
    if (isBelow !== null)
      found.push({ ...of, threshold: BigInt(amount), isDown: Number(isBelow) === 0 });
    const isDown = balance + creditLimit <= 0n;
    if (isDown !== (Number(isExhausted) === 1) && !seen.has(row.accountId))
      found.push({ ...of, threshold: null, isDown });
    seen.add(row.accountId);
    return found;
  });
}

/** Balances on the other side of an amount than when they were last looked at. @param accounts alias `a` */
export function crossedSql(accounts: string): string {
  return `SELECT a.account_id AS "accountId", ${text('a.balance')} AS balance,
      ${text('a.credit_limit')} AS "creditLimit", a.currency, a.notified_emails AS emails,
      a.is_exhausted AS "isExhausted", ${text('t.amount')} AS amount, t.is_below AS "isBelow"
    FROM ${accounts}
    LEFT JOIN gateway_billing_threshold t ON t.account_id = a.account_id
      AND ((t.is_below = 0 AND a.balance < t.amount) OR (t.is_below = 1 AND a.balance >= t.amount))
    WHERE a.mode <> 'off' AND (t.account_id IS NOT NULL
      OR a.is_exhausted <> CASE WHEN a.balance + a.credit_limit <= 0 THEN 1 ELSE 0 END)
    ORDER BY a.account_id, t.amount DESC`;
}

function statementsFor({ dialect }: QueueDatabase) {
  const ids = dialect.rows<string>({ v_id: ['key', (id) => id] });
  const sides = dialect.rows<Crossing>({
    v_account: ['key', ({ accountId }) => accountId],
    v_amount: ['bigint', ({ threshold }) => threshold?.toString() ?? '0'],
    v_is_down: ['int', ({ isDown }) => (isDown ? 1 : 0)],
  });
  const notice = dialect.rows<Notice>({
    v_id: ['key', ({ id }) => id],
    v_account: ['key', ({ accountId }) => accountId],
    v_event: ['text', ({ event }) => event],
    v_at: ['bigint', ({ createdAt }) => createdAt],
  });
  return {
    ids,
    sides,
    notice,
    crossed: crossedSql(`${ids.keyed} ${dialect.join} gateway_billing_account a
      ${dialect.forceIndex('PRIMARY')} ON a.account_id = v_id`),
    noteLow: dialect.updateFrom({
      table: 'gateway_billing_threshold',
      rows: sides,
      set: 'is_below = v_is_down',
      where:
        'gateway_billing_threshold.account_id = v_account AND gateway_billing_threshold.amount = v_amount',
    }),
    noteExhausted: dialect.updateFrom({
      table: 'gateway_billing_account',
      rows: sides,
      set: 'is_exhausted = v_is_down',
      where: 'gateway_billing_account.account_id = v_account',
    }),
    addNotices: `INSERT INTO gateway_billing_notice (id, account_id, event, created_at)
      SELECT ${notice.names.join(', ')} FROM ${notice.sql}`,
    first: `SELECT n.id, n.account_id AS "accountId", n.event, n.created_at AS "createdAt"
      FROM gateway_billing_notice n ORDER BY n.id LIMIT 1 ${dialect.skipLocked('n')}`,
  };
}
