import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../database/database-errors.js';
import { driverOf } from '../open-store.js';
import { BATCH_COUNT_COLUMNS, BATCH_COUNT_KEYS } from './batch-count.js';
import { columnsSql, type TableColumns } from './columns.js';
import {
  FIRST_OUTCOME_COLUMNS,
  FIRST_OUTCOME_KEYS,
  OutcomeMoney1790000002350,
} from './outcome-money.migration.js';
import { intoTotals, OUTCOME_COLUMNS, OUTCOME_PRIMARY_KEYS } from './outcomes.js';
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

/** Adds to the first version: ends and notes of holds, and messages sent again. */
class Operations1790000000040 implements MigrationInterface {
  readonly name = 'Operations1790000000040';

  async up(runner: QueryRunner): Promise<void> {
    const driver = driverOf(runner.dataSource);
    for (const [column, type] of Object.entries({
      until_at: driver.dialect.types.big,
      note: driver.dialect.types.key,
    }))
      if (!(await runner.hasColumn('messaging_hold', column)))
        await runner.query(`ALTER TABLE messaging_hold ADD COLUMN ${column} ${type}`);
    for (const statement of await driver.schema(runner)) await createIfMissing(runner, statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS messaging_resend');
    for (const column of ['until_at', 'note'])
      await runner.query(`ALTER TABLE messaging_hold DROP COLUMN ${column}`);
  }
}

/** Provider and reason of a pause, which former versions kept as `provider code: text`. */
const PARTS_OF_PAUSE = {
  postgres: [
    `split_part(pause_reason, ' ', 1)`,
    `substr(pause_reason, position(' ' in pause_reason) + 1)`,
  ],
  mysql: [
    `substring_index(pause_reason, ' ', 1)`,
    `substring(pause_reason, locate(' ', pause_reason) + 1)`,
  ],
  sqlite: [
    `substr(pause_reason, 1, instr(pause_reason, ' ') - 1)`,
    `substr(pause_reason, instr(pause_reason, ' ') + 1)`,
  ],
} as const;

/** Adds to the lanes a column for the provider that pauses. */
class PausedProviders1790000001602 implements MigrationInterface {
  readonly name = 'PausedProviders1790000001602';

  async up(runner: QueryRunner): Promise<void> {
    const { types, kind } = driverOf(runner.dataSource).dialect;
    if (!(await runner.hasColumn('messaging_lane', 'pause_provider')))
      await runner.query(`ALTER TABLE messaging_lane ADD COLUMN pause_provider ${types.short(32)}`);
    const [provider, reason] = PARTS_OF_PAUSE[kind];
    // MySQL assigns from left to right.
    await runner.query(
      `UPDATE messaging_lane SET pause_provider = ${provider}, pause_reason = ${reason}
       WHERE pause_reason IS NOT NULL AND pause_provider IS NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('UPDATE messaging_lane SET paused_until = 0, pause_reason = NULL');
    await runner.query('ALTER TABLE messaging_lane DROP COLUMN pause_provider');
  }
}

/** Marks the batches that the app's spend guard accepted. */
class GuardedBatches1790000002000 implements MigrationInterface {
  readonly name = 'GuardedBatches1790000002000';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('messaging_batch', 'guarded')) return;
    const { small } = driverOf(runner.dataSource).dialect.types;
    await runner.query(
      `ALTER TABLE messaging_batch ADD COLUMN guarded ${small} NOT NULL DEFAULT 0`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messaging_batch DROP COLUMN guarded');
  }
}

/** Adds why a route chose the provider of a submission. */
class RouteReasons1790000002340 implements MigrationInterface {
  readonly name = 'RouteReasons1790000002340';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('messaging_submission', 'reason')) return;
    const { text } = driverOf(runner.dataSource).dialect.types;
    await runner.query(`ALTER TABLE messaging_submission ADD COLUMN reason ${text}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messaging_submission DROP COLUMN reason');
  }
}

/** @param name ends with the timestamp @param on table and columns */
function indexMigration(
  name: string,
  index: string,
  on: `${string} (${string})`,
): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      await createIndex(runner, 'INDEX', index, on);
    }

    async down(runner: QueryRunner): Promise<void> {
      const { kind } = driverOf(runner.dataSource).dialect;
      const [table] = on.split(' ');
      await runner.query(`DROP INDEX ${index}${kind === 'mysql' ? ` ON ${table}` : ''}`);
    }
  };
}

/** For the list of a tenant. */
const NotificationList = indexMigration(
  'NotificationList1790000001900',
  'messaging_notification_tenant',
  'messaging_notification (tenant, id)',
);

/** For the list of a tenant's batches of one channel. */
const BatchChannelList = indexMigration(
  'BatchChannelList1790000002100',
  'messaging_batch_channel',
  'messaging_batch (tenant, channel, id)',
);

const RecipientIndex = indexMigration(
  'RecipientIndex1790000000100',
  'messaging_message_recipient',
  'messaging_message (recipient, batch)',
);

/** A migration that creates tables with their indexes; `name` ends with its timestamp. */
export function tablesMigration<T extends string>(
  name: string,
  tables: Readonly<Record<T, TableColumns>>,
  primaryKeys: Readonly<Record<T, string>>,
  indexes: readonly (readonly [kind: IndexKind, name: string, on: string])[],
): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      const driver = driverOf(runner.dataSource);
      const { types } = driver.dialect;
      const options = await driver.tableOptions(runner);
      for (const [table, columns] of Object.entries<TableColumns>(tables)) {
        const all = columnsSql(columns, types).join(', ');
        const key = primaryKeys[table as T];
        await runner.query(
          `CREATE TABLE IF NOT EXISTS messaging_${table} (${all}, PRIMARY KEY (${key}))${options}`,
        );
      }
      for (const [what, index, on] of indexes)
        await createIndex(runner, what, `messaging_${index}`, `messaging_${on}`);
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const table of Object.keys(tables))
        await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
    }
  };
}

type IndexKind = 'INDEX' | 'UNIQUE INDEX';

/** Makes an index where it is missing: the tables may be made by another data source, too. */
export async function createIndex(
  runner: QueryRunner,
  what: IndexKind,
  name: string,
  on: string,
): Promise<void> {
  const { kind } = driverOf(runner.dataSource).dialect;
  const ifNew = kind === 'mysql' ? '' : 'IF NOT EXISTS ';
  await createIfMissing(runner, `CREATE ${what} ${ifNew}${name} ON ${on}`);
}

/** MySQL commits each DDL statement and has no `CREATE INDEX IF NOT EXISTS`. */
async function createIfMissing(runner: QueryRunner, statement: string): Promise<void> {
  await runner.query(statement).catch((error: unknown) => {
    if (!isDuplicateIndex(error)) throw error;
  });
}

const OutcomeTables = tablesMigration(
  'Outcomes1790000002200',
  FIRST_OUTCOME_COLUMNS,
  FIRST_OUTCOME_KEYS,
  [['INDEX', 'outcome_hour_tenant', 'outcome_hour (tenant, start)']],
);

class Outcomes1790000002200 extends OutcomeTables {
  override async up(runner: QueryRunner): Promise<void> {
    await super.up(runner);
    const { dialect } = driverOf(runner.dataSource);
    // A row that is there says what retention has erased, which no other table tells.
    await runner.query(
      `INSERT INTO messaging_outcome_state (id, purged_until) VALUES (0, 0)
       ${dialect.ignoreConflict('messaging_outcome_state', 'id')}`,
    );
  }
}

const TotalTables = tablesMigration(
  'OutcomeTotals1790000002351',
  { outcome_total: OUTCOME_COLUMNS.outcome_total },
  { outcome_total: OUTCOME_PRIMARY_KEYS.outcome_total },
  [],
);

class OutcomeTotals1790000002351 extends TotalTables {
  override async up(runner: QueryRunner): Promise<void> {
    await super.up(runner);
    // Of a migration that was interrupted on MySQL.
    await runner.query('DELETE FROM messaging_outcome_total');
    await runner.query(intoTotals());
  }
}

export const STORE_MIGRATIONS = [
  Store1790000000000,
  Operations1790000000040,
  tablesMigration('BatchCounts1790000000710', BATCH_COUNT_COLUMNS, BATCH_COUNT_KEYS, []),
  PausedProviders1790000001602,
  NotificationList,
  GuardedBatches1790000002000,
  BatchChannelList,
  Outcomes1790000002200,
  RouteReasons1790000002340,
  OutcomeMoney1790000002350,
  OutcomeTotals1790000002351,
];

/** Index of messages by recipient, only for apps with a frequency cap: each message pays for it. */
export const FREQUENCY_CAP_MIGRATIONS = [RecipientIndex];
