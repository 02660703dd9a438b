import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { WebhookAttemptEntity, WebhookDeliveryEntity } from './webhook-delivery.entities.js';
import { WebhookEndpointEntity } from './webhook-endpoint.entity.js';

const TYPES = {
  sqlite: {
    uuid: 'TEXT',
    varchar: () => 'TEXT',
    text: 'TEXT',
    big: 'INTEGER',
    int: 'INTEGER',
    small: 'INTEGER',
    serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  },
  postgres: {
    uuid: 'uuid',
    varchar: (length: number) => `varchar(${length})`,
    text: 'text',
    big: 'bigint',
    int: 'integer',
    small: 'smallint',
    serial: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  },
  mysql: {
    uuid: 'CHAR(36)',
    varchar: (length: number) => `VARCHAR(${length})`,
    text: 'TEXT',
    big: 'BIGINT',
    int: 'INT',
    small: 'SMALLINT',
    serial: 'BIGINT AUTO_INCREMENT PRIMARY KEY',
  },
} as const;

/**
 * Webhook endpoints, their deliveries and attempts. Times are epoch milliseconds. Every statement has `IF NOT EXISTS`:
 * MySQL commits each one, and a migration that was interrupted is completed by the next run.
 *
 * No foreign keys: they would lock the endpoint's row in every status transaction.
 */
export class Webhooks1700000002000 implements MigrationInterface {
  readonly name = 'Webhooks1700000002000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of statements(familyOf(runner.dataSource))) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['attempt', 'delivery', 'endpoint'])
      await runner.query(`DROP TABLE IF EXISTS gateway_webhook_${table}`);
  }
}

function familyOf({ options }: DataSource): 'postgres' | 'mysql' | 'sqlite' {
  switch (options.type) {
    case 'postgres':
      return 'postgres';
    case 'mysql':
    case 'mariadb':
      return 'mysql';
    default:
      return 'sqlite';
  }
}

interface Index {
  readonly name: string;
  readonly columns: string;
  readonly unique?: true;
  /** Condition of a partial index, where the server has them. */
  readonly where?: string;
}

function statements(kind: keyof typeof TYPES): string[] {
  const t = TYPES[kind];
  const table = (name: string, columns: readonly string[], indexes: readonly Index[]): string[] => {
    const full = `gateway_webhook_${name}`;
    if (kind === 'mysql') {
      // Inside CREATE TABLE, because MySQL has no CREATE INDEX IF NOT EXISTS.
      const keys = indexes.map(
        (index) =>
          `${index.unique ? 'UNIQUE ' : ''}KEY gateway_webhook_${index.name} (${index.columns})`,
      );
      const body = [...columns, ...keys].join(', ');
      return [
        `CREATE TABLE IF NOT EXISTS ${full} (${body}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
      ];
    }
    return [
      `CREATE TABLE IF NOT EXISTS ${full} (${columns.join(', ')})`,
      ...indexes.map(
        (index) =>
          `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS gateway_webhook_${index.name} ON ${full} (${index.columns})${index.where ? ` WHERE ${index.where}` : ''}`,
      ),
    ];
  };
  return [
    ...table(
      'endpoint',
      [
        `id ${t.uuid} NOT NULL PRIMARY KEY`,
        `account_id ${t.varchar(64)} NOT NULL`,
        `slot ${t.small} NOT NULL`,
        `url ${t.varchar(2048)} NOT NULL`,
        `secret ${t.varchar(96)} NOT NULL`,
        `previous_secret ${t.varchar(96)}`,
        `previous_until ${t.big}`,
        `disabled_at ${t.big}`,
        `disabled_reason ${t.varchar(16)}`,
        `failing_since ${t.big}`,
        `created_at ${t.big} NOT NULL`,
      ],
      [{ name: 'endpoint_slot', columns: 'account_id, slot', unique: true }],
    ),
    ...table(
      'delivery',
      [
        `position ${t.serial}`,
        `id ${t.uuid} NOT NULL`,
        `endpoint_id ${t.uuid} NOT NULL`,
        `message_id ${t.varchar(64)} NOT NULL`,
        `sequence ${t.int} NOT NULL`,
        `payload ${t.text} NOT NULL`,
        `created_at ${t.big} NOT NULL`,
        `attempts ${t.small} NOT NULL DEFAULT 0`,
        `due_at ${t.big}`,
        `delivered_at ${t.big}`,
      ],
      [
        { name: 'delivery_id', columns: 'endpoint_id, id', unique: true },
        {
          name: 'delivery_due',
          columns: 'endpoint_id, due_at, position',
          where: 'due_at IS NOT NULL',
        },
      ],
    ),
    ...table(
      'attempt',
      [
        `position ${t.serial}`,
        `endpoint_id ${t.uuid} NOT NULL`,
        `delivery_id ${t.uuid} NOT NULL`,
        `message_id ${t.varchar(64)} NOT NULL`,
        `attempt ${t.small} NOT NULL`,
        `started_at ${t.big} NOT NULL`,
        `duration ${t.int} NOT NULL`,
        `status ${t.small}`,
        `error ${t.varchar(32)}`,
        `response ${t.varchar(1024)}`,
      ],
      [{ name: 'attempt_endpoint', columns: 'endpoint_id, position' }],
    ),
  ];
}

/** The folder's tables. */
export const WEBHOOK_TABLES = {
  entities: [WebhookEndpointEntity, WebhookDeliveryEntity, WebhookAttemptEntity],
  migrations: [Webhooks1700000002000],
};
