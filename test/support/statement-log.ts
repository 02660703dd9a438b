import type { Logger, QueryRunner } from 'typeorm';

const BEGINS = /^\s*(START TRANSACTION|BEGIN)\b/i;
const WRITES = /\b(INSERT INTO|UPDATE messaging_\w+|DELETE FROM)\b/;

/** Records the statements of a data source whose `logger` it is. */
export class StatementLog implements Logger {
  #statements: string[] = [];
  #transactions = 0;

  /** Transactions that were begun; a writing statement outside of any is one, too. */
  get transactions(): number {
    return this.#transactions;
  }

  matching(text: RegExp): readonly string[] {
    return this.#statements.filter((sql) => text.test(sql));
  }

  clear(): void {
    this.#statements = [];
    this.#transactions = 0;
  }

  logQuery(sql: string, _params?: unknown[], runner?: QueryRunner): void {
    this.#statements.push(sql);
    if (BEGINS.test(sql) || (!runner?.isTransactionActive && WRITES.test(sql)))
      this.#transactions++;
  }

  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
