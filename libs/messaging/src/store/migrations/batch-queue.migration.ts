import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex, isMissingIndex } from '../database-errors.js';
import { dialectOf } from '../dialect.js';

/**
 * Waiting batches, those that were put aside apart and by when they come back. It takes the place of
 * an index in which they stood in the way of the others.
 */
export class BatchQueue1700000000340 implements MigrationInterface {
  readonly name = 'BatchQueue1700000000340';

  up(runner: QueryRunner): Promise<void> {
    return this.#replace(runner, 'due', 'queue', 'lane, class, parked_until, available_at, id');
  }

  down(runner: QueryRunner): Promise<void> {
    return this.#replace(runner, 'queue', 'due', 'lane, class, available_at, id');
  }

  /** The new one first: servers that commit each statement may stop in between. */
  async #replace(runner: QueryRunner, old: string, name: string, columns: string): Promise<void> {
    const { kind } = dialectOf(runner.dataSource);
    const index = `messaging_batch_${name} ON messaging_batch`;
    await runner
      .query(
        kind === 'mysql'
          ? `CREATE INDEX ${index} (pending, ${columns})`
          : `CREATE INDEX IF NOT EXISTS ${index} (${columns}) WHERE pending = 1`,
      )
      .catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error;
      });
    await runner
      .query(
        kind === 'mysql'
          ? `DROP INDEX messaging_batch_${old} ON messaging_batch`
          : `DROP INDEX IF EXISTS messaging_batch_${old}`,
      )
      .catch((error: unknown) => {
        if (!isMissingIndex(error)) throw error;
      });
  }
}
