import type { Logger } from 'typeorm';

/** Counts the statements TypeORM sends, transaction control included. */
export class StatementCounter implements Logger {
  #count = 0;

  /** Statements since the last call. */
  take(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }

  logQuery(): void {
    this.#count++;
  }

  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
