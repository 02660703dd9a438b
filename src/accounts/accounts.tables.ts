import type { MessageCategory } from '@dundun/messaging';
import {
  Column,
  type ColumnOptions,
  Entity,
  Index,
  type MigrationInterface,
  PrimaryColumn,
  type QueryRunner,
  Table,
  type TableColumnOptions,
  type TableForeignKeyOptions,
  type ValueTransformer,
} from 'typeorm';
import type { Scope } from './scope.js';

/** A time as BIGINT epoch milliseconds: one column type on every database, and no time zone. */
const epochMilliseconds: ValueTransformer = {
  to: (value: Date | null | undefined) => value?.getTime() ?? null,
  from: (value: string | number | null) => (value === null ? null : new Date(Number(value))),
};

/** A whole number as BIGINT, which drivers return as text. */
const wholeNumber: ValueTransformer = {
  to: (value: number | null | undefined) => value ?? null,
  from: (value: string | number | null) => (value === null ? null : Number(value)),
};

const NULLABLE_TIME: ColumnOptions = {
  type: 'bigint',
  nullable: true,
  transformer: epochMilliseconds,
};

/** A customer of the gateway. */
@Entity('gateway_account')
export class Account {
  /** `acc_` and 22 base62 characters; the `tenant` of all its messages. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  readonly id!: string;

  @Column({ type: 'varchar', length: 100 })
  readonly name!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;

  /** Requests with its credentials get 403 while this is set. */
  @Column({ name: 'suspended_at', ...NULLABLE_TIME })
  readonly suspendedAt!: Date | null;

  /** Messages per `ratePer` in each of its lanes; `null`: `RATE_LIMIT`. */
  @Column({ name: 'rate_max', type: 'bigint', nullable: true, transformer: wholeNumber })
  readonly rateMax!: number | null;

  /** Milliseconds. */
  @Column({ name: 'rate_per', type: 'bigint', nullable: true, transformer: wholeNumber })
  readonly ratePer!: number | null;

  /** The account's consent words and replies as JSON; `null`: the defaults. */
  @Column({ name: 'consent_words', type: 'simple-json', nullable: true })
  readonly consentWords!: AccountWords | null;
}

/** An account's consent words and replies. */
export interface AccountWords {
  /** Words that opt out; the defaults apply where there are none. */
  readonly stop?: readonly string[];
  /** Words that opt in; the defaults apply where there are none. */
  readonly start?: readonly string[];
  /** Reply to a message that opted its sender out. */
  readonly stopReply?: string;
  /** Reply to a message that opted its sender in. */
  readonly startReply?: string;
}

/** `api_token` authorises SMS; `api_key` authorises WhatsApp and contacts, by scope. */
export type CredentialKind = 'api_token' | 'api_key';

/** An API token or key; the secret itself is shown once and never stored. */
@Entity('gateway_credential')
export class Credential {
  /** `crd_` and 22 base62 characters. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  readonly id!: string;

  @Column({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  @Column({ type: 'varchar', length: 16 })
  readonly kind!: CredentialKind;

  /** SHA-256 of the secret, hex. */
  @Column({ type: 'varchar', length: 64 })
  readonly fingerprint!: string;

  /** The secret's last four characters, for identification. */
  @Column({ name: 'last_four', type: 'varchar', length: 4 })
  readonly lastFour!: string;

  /** Scopes of a key; empty for a token. */
  @Column({ type: 'simple-array' })
  readonly scopes!: readonly Scope[];

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;

  @Column({ name: 'revoked_at', ...NULLABLE_TIME })
  readonly revokedAt!: Date | null;

  /** Time of expiry; `null`: never. */
  @Column({ name: 'expires_at', ...NULLABLE_TIME })
  readonly expiresAt!: Date | null;

  /** Up to half a minute behind; `null`: never used. */
  @Column({ name: 'last_used_at', ...NULLABLE_TIME })
  readonly lastUsedAt!: Date | null;
}

/** A sender ID that an account may send from. */
@Entity('gateway_sender')
export class Sender {
  @PrimaryColumn({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  /** Case-sensitive, as the phone shows it. */
  @PrimaryColumn({ name: 'sender', type: 'varchar', length: 11 })
  readonly sender!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;
}

/** A WhatsApp number and the account that sends from it. */
@Entity('gateway_whatsapp_number')
@Index('gateway_whatsapp_number_account', ['accountId'])
export class WhatsAppNumber {
  /** Digits with country code. */
  @PrimaryColumn({ type: 'varchar', length: 15 })
  readonly number!: string;

  @Column({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;
}

/** States of a template at the platform; only an approved template is sent. */
export const TEMPLATE_STATUSES = ['approved', 'pending', 'rejected', 'paused'] as const;

export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

/** Categories of templates; a free text is `service`. */
export const TEMPLATE_CATEGORIES = ['utility', 'marketing', 'authentication'] as const;

export type TemplateCategory = Exclude<MessageCategory, 'service'>;

/** A WhatsApp template of an account, in one language. */
@Entity('gateway_whatsapp_template')
export class TemplateEntity {
  @PrimaryColumn({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  @PrimaryColumn({ type: 'varchar', length: 255 })
  readonly name!: string;

  @PrimaryColumn({ type: 'varchar', length: 32 })
  readonly language!: string;

  @Column({ type: 'varchar', length: 16 })
  readonly category!: TemplateCategory;

  @Column({ type: 'varchar', length: 16 })
  readonly status!: TemplateStatus;

  @Column({ name: 'params_count', type: 'int' })
  readonly paramsCount!: number;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;
}

/**
 * Creates the tables of accounts. Existing tables are skipped: a server that commits each DDL
 * statement may have stopped half-way before.
 */
class Accounts1700000001000 implements MigrationInterface {
  readonly name = 'Accounts1700000001000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tablesOf(runner)) await runner.createTable(table, true);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of tablesOf(runner).toReversed()) await runner.dropTable(name, true);
  }
}

function tablesOf(runner: QueryRunner): Table[] {
  const key = keyColumn(runner);
  return [
    new Table({
      name: 'gateway_account',
      columns: [
        key('id', 32, { isPrimary: true }),
        { name: 'name', type: 'varchar', length: '100' },
        number('created_at'),
        number('suspended_at', { isNullable: true }),
        number('rate_max', { isNullable: true }),
        number('rate_per', { isNullable: true }),
        { name: 'consent_words', type: 'text', isNullable: true },
      ],
    }),
    new Table({
      name: 'gateway_credential',
      columns: [
        key('id', 32, { isPrimary: true }),
        key('account_id', 32),
        key('kind', 16),
        key('fingerprint', 64),
        key('last_four', 4),
        { name: 'scopes', type: 'text' },
        number('created_at'),
        number('revoked_at', { isNullable: true }),
        number('expires_at', { isNullable: true }),
        number('last_used_at', { isNullable: true }),
      ],
      indices: [
        { name: 'gateway_credential_fingerprint', columnNames: ['fingerprint'], isUnique: true },
        { name: 'gateway_credential_account', columnNames: ['account_id'] },
      ],
      foreignKeys: [ofAccount('gateway_credential')],
    }),
    new Table({
      name: 'gateway_sender',
      columns: [
        key('account_id', 32, { isPrimary: true }),
        key('sender', 11, { isPrimary: true }),
        number('created_at'),
      ],
      foreignKeys: [ofAccount('gateway_sender')],
    }),
    new Table({
      name: 'gateway_whatsapp_number',
      columns: [
        key('number', 15, { isPrimary: true }),
        key('account_id', 32),
        number('created_at'),
      ],
      indices: [{ name: 'gateway_whatsapp_number_account', columnNames: ['account_id'] }],
      foreignKeys: [ofAccount('gateway_whatsapp_number')],
    }),
    new Table({
      name: 'gateway_whatsapp_template',
      columns: [
        key('account_id', 32, { isPrimary: true }),
        key('name', 255, { isPrimary: true }),
        key('language', 32, { isPrimary: true }),
        key('category', 16),
        key('status', 16),
        { name: 'params_count', type: 'int' },
        number('created_at'),
      ],
      foreignKeys: [ofAccount('gateway_whatsapp_template')],
    }),
  ];
}

/** A text column that is compared byte by byte; by default MySQL takes `acc_a` for `acc_A`. */
function keyColumn(runner: QueryRunner) {
  const { type } = runner.dataSource.options;
  const bytewise =
    type === 'mysql' || type === 'mariadb' ? { charset: 'ascii', collation: 'ascii_bin' } : {};
  return (
    name: string,
    length: number,
    more: Partial<TableColumnOptions> = {},
  ): TableColumnOptions => ({
    name,
    type: 'varchar',
    length: String(length),
    ...bytewise,
    ...more,
  });
}

function number(name: string, more: Partial<TableColumnOptions> = {}): TableColumnOptions {
  return { name, type: 'bigint', ...more };
}

/** Foreign key that deletes the rows together with their account. */
function ofAccount(table: string): TableForeignKeyOptions {
  return {
    name: `${table}_of_account`,
    columnNames: ['account_id'],
    referencedTableName: 'gateway_account',
    referencedColumnNames: ['id'],
    onDelete: 'CASCADE',
  };
}

/** Entities and migrations of accounts. */
export const ACCOUNT_TABLES = {
  entities: [Account, Credential, Sender, TemplateEntity, WhatsAppNumber],
  migrations: [Accounts1700000001000],
};
