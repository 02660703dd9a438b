import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../database-errors.js';
import { dialectOf } from '../dialect.js';

/**
 * The lanes somebody holds, found without reading those nobody does. Nothing a renewal writes is in
 * it, so that renewing a lease changes no index.
 */
export class HeldLanes1700000000310 implements MigrationInterface {
  readonly name = 'HeldLanes1700000000310';

  async up(runner: QueryRunner): Promise<void> {
    const statement =
      dialectOf(runner.dataSource).kind === 'mysql'
        ? 'CREATE INDEX messaging_lane_held ON messaging_lane (owner)'
        : 'CREATE INDEX IF NOT EXISTS messaging_lane_held ON messaging_lane (lane_key) WHERE owner IS NOT NULL';
    await runner.query(statement).catch((error: unknown) => {
      if (!isDuplicateIndex(error)) throw error;
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    const { kind } = dialectOf(runner.dataSource);
    await runner.query(
      `DROP INDEX messaging_lane_held${kind === 'mysql' ? ' ON messaging_lane' : ''}`,
    );
  }
}
