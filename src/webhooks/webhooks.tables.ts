import {
  Column,
  type DataSource,
  Entity,
  Index,
  type MigrationInterface,
  PrimaryColumn,
  type QueryRunner,
} from 'typeorm';

/** Column options: a BIGINT that drivers answer as text, a number in code. */
const epochMilliseconds = {
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value === null || value === undefined ? null : Number(value)),
  },
};

/** Why an endpoint is disabled: it answered 410, it had no success for days, or its account disabled it. */
export type DisabledReason = 'gone' | 'failing' | 'account';

/**
 * The address of an account's callbacks. Times are epoch milliseconds.
 *
 * ```
 * enabled ──410──► disabled (gone)
 *    │ ──no success for five days──► disabled (failing)
 *    │ ──by its account──► disabled (account)
 *    ◄──by its account, from any of them: deliveries that are still due are sent
 * ```
 */
@Entity('gateway_webhook_endpoint')
@Index('gateway_webhook_endpoint_slot', ['accountId', 'slot'], { unique: true })
export class WebhookEndpointEntity {
  /** UUIDv7: the `webhook_id`. */
  @PrimaryColumn('varchar', { length: 36 }) id!: string;
  @Column('varchar', { name: 'account_id', length: 64 }) accountId!: string;
  /** The endpoint's place in its account; the account's settings set the one in place 0. */
  @Column('smallint') slot!: number;
  @Column('varchar', { length: 2048 }) url!: string;
  /** `whsec_…`; kept readable, because every callback is signed with it. */
  @Column('varchar', { length: 96 }) secret!: string;
  /** Signs as well until `previousUntil`: one secret, or two after two rotations in that time. */
  @Column('varchar', { name: 'previous_secret', length: 96, nullable: true })
  previousSecret!: string | null;
  @Column('bigint', { name: 'previous_until', nullable: true, ...epochMilliseconds })
  previousUntil!: number | null;
  @Column('bigint', { name: 'disabled_at', nullable: true, ...epochMilliseconds })
  disabledAt!: number | null;
  @Column('varchar', { name: 'disabled_reason', length: 16, nullable: true })
  disabledReason!: DisabledReason | null;
  /** First failure since the last success. */
  @Column('bigint', { name: 'failing_since', nullable: true, ...epochMilliseconds })
  failingSince!: number | null;
  @Column('bigint', { name: 'created_at', ...epochMilliseconds }) createdAt!: number;
}

/**
 * One event for one endpoint, written in the transaction that raises the status. Times are epoch milliseconds.
 *
 * ```
 * due at once ──2xx──► delivered
 *     │ failure            ▲ 2xx
 *     ▼                    │
 * due later ───────────────┘──schedule used up──► exhausted
 * ```
 * Due: `due_at` is set. Delivered: `delivered_at` is set. Exhausted: neither. A redelivery sets `due_at` and clears
 * the others; a delivery without an attempt keeps its place.
 */
@Entity('gateway_webhook_delivery')
@Index('gateway_webhook_delivery_id', ['endpointId', 'id'], { unique: true })
@Index('gateway_webhook_delivery_due', ['endpointId', 'dueAt', 'position'])
export class WebhookDeliveryEntity {
  /**
   * Given by the database on insert. A message's next change is written after its last one committed, so that
   * positions order a message's events, whichever process writes them.
   */
  @PrimaryColumn('bigint') position!: string;
  /** UUIDv7: the `webhook-id`, the same on every attempt. */
  @Column('varchar', { length: 36 }) id!: string;
  @Column('varchar', { name: 'endpoint_id', length: 36 }) endpointId!: string;
  @Column('varchar', { name: 'message_id', length: 64 }) messageId!: string;
  /** The number of the message's change. */
  @Column('int') sequence!: number;
  /** The body, byte for byte; it never holds the message's text. */
  @Column('text') payload!: string;
  @Column('bigint', { name: 'created_at', ...epochMilliseconds }) createdAt!: number;
  /** Attempts of the present schedule. */
  @Column('smallint', { default: 0 }) attempts!: number;
  /** 0, or -1 after a redelivery request: at once, in order of position. */
  @Column('bigint', { name: 'due_at', nullable: true, ...epochMilliseconds }) dueAt!: number | null;
  @Column('bigint', { name: 'delivered_at', nullable: true, ...epochMilliseconds })
  deliveredAt!: number | null;
}

/** One request to an endpoint and its result. Times are epoch milliseconds. */
@Entity('gateway_webhook_attempt')
@Index('gateway_webhook_attempt_endpoint', ['endpointId', 'position'])
export class WebhookAttemptEntity {
  @PrimaryColumn('bigint') position!: string;
  @Column('varchar', { name: 'endpoint_id', length: 36 }) endpointId!: string;
  /** The `webhook-id`. */
  @Column('varchar', { name: 'delivery_id', length: 36 }) deliveryId!: string;
  @Column('varchar', { name: 'message_id', length: 64 }) messageId!: string;
  /** 1 for the first of a schedule. */
  @Column('smallint') attempt!: number;
  @Column('bigint', { name: 'started_at', ...epochMilliseconds }) startedAt!: number;
  /** Milliseconds. */
  @Column('int') duration!: number;
  /** HTTP status; `null`: the receiver did not answer. */
  @Column('smallint', { nullable: true }) status!: number | null;
  /** See `AttemptError`; `null`: success. */
  @Column('varchar', { length: 32, nullable: true }) error!: string | null;
  /** The first bytes of the answer's body, at most 1 kB. */
  @Column('varchar', { length: 1024, nullable: true }) response!: string | null;
}

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
class Webhooks1700000002000 implements MigrationInterface {
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
