import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateColumn } from '../database-errors.js';
import { dialectOf } from '../dialect.js';
import { TYPES } from './store.migration.js';

/** What the store keeps of policy: recipients denied at acceptance, messages deferred, content replaced. */
export class Policy1700000000100 implements MigrationInterface {
  readonly name = 'Policy1700000000100';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, column] of this.#columns(runner))
      await runner
        .query(`ALTER TABLE messaging_${table} ADD COLUMN ${column}`)
        .catch((error: unknown) => {
          if (!isDuplicateColumn(error)) throw error;
        });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, column] of this.#columns(runner))
      await runner.query(`ALTER TABLE messaging_${table} DROP COLUMN ${column.split(' ')[0]}`);
  }

  #columns(runner: QueryRunner): [table: string, column: string][] {
    const t = TYPES[dialectOf(runner.dataSource).kind];
    return [
      ['batch', `denied ${t.int} NOT NULL DEFAULT 0`],
      ['batch', `deferred ${t.small} NOT NULL DEFAULT 0`],
      ['message', `due_at ${t.big}`],
      ['submission', `content ${t.text}`],
    ];
  }
}
