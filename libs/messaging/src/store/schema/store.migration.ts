import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../database/database-errors.js';
import { driverOf } from '../open-store.js';
import { PRIMARY_KEYS } from './tables.js';

/** The store's tables, as the driver of the data source has them. */
export class Store1790000000000 implements MigrationInterface {
  readonly name = 'Store1790000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of await driverOf(runner.dataSource).schema(runner))
      // MySQL has no `CREATE INDEX IF NOT EXISTS`, and commits each statement by itself.
      await runner.query(statement).catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error;
      });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['report', ...Object.keys(PRIMARY_KEYS).toReversed()])
      await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }
}

/** Messages by recipient, for the frequency cap. Every message pays for it, so only an app that caps runs it. */
export class RecipientIndex1790000000100 implements MigrationInterface {
  readonly name = 'RecipientIndex1790000000100';

  async up(runner: QueryRunner): Promise<void> {
    const { kind } = driverOf(runner.dataSource).dialect;
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
    const { kind } = driverOf(runner.dataSource).dialect;
    await runner.query(
      `DROP INDEX messaging_message_recipient${kind === 'mysql' ? ' ON messaging_message' : ''}`,
    );
  }
}
