import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../database/database-errors.js';
import { driverOf } from '../open-store.js';
import { PRIMARY_KEYS } from './tables.js';

class Store1790000000000 implements MigrationInterface {
  readonly name = 'Store1790000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of await driverOf(runner.dataSource).schema(runner))
      await createIfMissing(runner, statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of Object.keys(PRIMARY_KEYS))
      await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }
}

class RecipientIndex1790000000100 implements MigrationInterface {
  readonly name = 'RecipientIndex1790000000100';

  async up(runner: QueryRunner): Promise<void> {
    await createIfMissing(
      runner,
      'CREATE INDEX messaging_message_recipient ON messaging_message (recipient, batch)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const { kind } = driverOf(runner.dataSource).dialect;
    await runner.query(
      `DROP INDEX messaging_message_recipient${kind === 'mysql' ? ' ON messaging_message' : ''}`,
    );
  }
}

/** MySQL commits each DDL statement and has no `CREATE INDEX IF NOT EXISTS`. */
export async function createIfMissing(runner: QueryRunner, statement: string): Promise<void> {
  await runner.query(statement).catch((error: unknown) => {
    if (!isDuplicateIndex(error)) throw error;
  });
}

export const STORE_MIGRATIONS = [Store1790000000000];

/** Index of messages by recipient, only for apps with a frequency cap: each message pays for it. */
export const FREQUENCY_CAP_MIGRATIONS = [RecipientIndex1790000000100];
