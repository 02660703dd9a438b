import { type BulkStatements, bulkStatementsOf, type MessagingService } from '@dundun/messaging';
import type { DataSource, EntityManager, ObjectLiteral, Repository } from 'typeorm';

/** Statements of one transaction, written with `?`. */
export interface Sql {
  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]>;
  /** Resolves with the number of rows changed. */
  run(sql: string, params?: readonly unknown[]): Promise<number>;
}

/** The part of `MessagingService` that takes turns with the store where the database needs it. */
export type Transactions = Pick<MessagingService, 'transaction'>;

/** The webhooks' way to the gateway's database: reads at once, every write through the store's turns. */
export class WebhookDatabase {
  readonly dialect: BulkStatements;

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
  ) {
    this.dialect = bulkStatementsOf(dataSource);
  }

  /** Reads outside a transaction. */
  async all<T>(sql: string, params: readonly unknown[] = []): Promise<T[]> {
    return this.dataSource.query(this.dialect.placeholders(sql), [...params]);
  }

  /** For reads outside a transaction. */
  repository<T extends ObjectLiteral>(entity: new () => T): Repository<T> {
    return this.dataSource.getRepository(entity);
  }

  transaction<T>(work: (sql: Sql, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.transactions.transaction((manager) => work(this.on(manager), manager));
  }

  /** Statements of a transaction somebody else has begun. */
  on(manager: EntityManager): Sql {
    const { dialect } = this;
    const query = async (sql: string, params: readonly unknown[]) => {
      if (!manager.queryRunner) throw new TypeError('manager: is not in a transaction');
      return manager.queryRunner.query(dialect.placeholders(sql), [...params], true);
    };
    return {
      all: async <T>(sql: string, params: readonly unknown[] = []) =>
        (await query(sql, params)).records as T[],
      run: async (sql, params = []) => {
        const { affected, raw } = await query(sql, params);
        return affected ?? (raw as { affectedRows?: number } | undefined)?.affectedRows ?? 0;
      },
    };
  }
}

/** Another transaction inserted the same key first. */
export function isUniqueViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (code === '23505' || code === 'ER_DUP_ENTRY' || code === 'SQLITE_CONSTRAINT_UNIQUE')
    return true;
  return driverError !== undefined && driverError !== error && isUniqueViolation(driverError);
}
