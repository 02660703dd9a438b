import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../../store/database-errors.js';
import { driverOf } from '../../store/open-store.js';

/** Which inbound messages were taken, so that each counts once. Times are epoch microseconds. */
export class InboundMessages1700000000320 implements MigrationInterface {
  readonly name = 'InboundMessages1700000000320';

  async up(runner: QueryRunner): Promise<void> {
    const { kind, types } = driverOf(runner.dataSource).dialect;
    const { uuid, big } = types;
    const suffix = {
      sqlite: ' WITHOUT ROWID',
      postgres: '',
      mysql: ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    }[kind];
    await runner.query(
      `CREATE TABLE IF NOT EXISTS messaging_inbound_message (id ${uuid} NOT NULL,
         token ${uuid} NOT NULL, received_at ${big} NOT NULL, PRIMARY KEY (id))${suffix}`,
    );
    await runner
      .query(
        `CREATE INDEX ${kind === 'mysql' ? '' : 'IF NOT EXISTS '}messaging_inbound_received
         ON messaging_inbound_message (received_at)`,
      )
      .catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error;
      });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS messaging_inbound_message');
  }
}
