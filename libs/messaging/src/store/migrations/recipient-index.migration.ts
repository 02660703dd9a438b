import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../database-errors.js';
import { dialectOf } from '../dialect.js';

/**
 * Messages by recipient, for the frequency cap. Every message pays for it, so only an app that caps runs
 * it.
 */
export class RecipientIndex1700000000330 implements MigrationInterface {
  readonly name = 'RecipientIndex1700000000330';

  async up(runner: QueryRunner): Promise<void> {
    const { kind } = dialectOf(runner.dataSource);
    await runner
      .query(
        `CREATE INDEX ${kind === 'mysql' ? '' : 'IF NOT EXISTS '}messaging_message_recipient
         ON messaging_message (recipient, batch)`,
      )
      .catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error;
      });
  }

  async down(runner: QueryRunner): Promise<void> {
    const { kind } = dialectOf(runner.dataSource);
    await runner.query(
      `DROP INDEX messaging_message_recipient${kind === 'mysql' ? ' ON messaging_message' : ''}`,
    );
  }
}
