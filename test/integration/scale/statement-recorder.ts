import type { Logger } from 'typeorm';

export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** Keeps every statement on the store that TypeORM sends: of each text the one that says the most. */
export class StatementRecorder implements Logger {
  readonly #statements = new Map<string, Statement>();

  get statements(): readonly Statement[] {
    return [...this.#statements.values()];
  }

  forget(): void {
    this.#statements.clear();
  }

  logQuery(sql: string, params: readonly unknown[] = []): void {
    if (!/\bmessaging_/.test(sql) || !/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(sql)) return;
    const before = this.#statements.get(sql);
    if (!before || lengthOf(params) > lengthOf(before.params))
      this.#statements.set(sql, { sql, params });
  }

  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

function lengthOf(params: readonly unknown[]): number {
  return params.join().length;
}
