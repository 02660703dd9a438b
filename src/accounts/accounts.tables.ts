import type { MessageCategory } from '@dundun/messaging';
import {
  Column,
  type ColumnOptions,
  Entity,
  type MigrationInterface,
  PrimaryColumn,
  type QueryRunner,
} from 'typeorm';
import type { Scope } from './scope.js';

/** A time as BIGINT epoch milliseconds: one column type on every database, and no time zone. */
const TIME: ColumnOptions = {
  type: 'bigint',
  transformer: {
    to: (value: Date | null | undefined) => value?.getTime() ?? null,
    from: (value: string | number | null) => (value === null ? null : new Date(Number(value))),
  },
};

@Entity('gateway_account')
export class Account {
  /** `acc_` and 22 base62 characters; the `tenant` of all its messages. */
  @PrimaryColumn()
  readonly id!: string;

  @Column()
  readonly name!: string;

  @Column({ name: 'created_at', ...TIME })
  readonly createdAt!: Date;

  /** Requests with its credentials get 403 while this is set. */
  @Column({ name: 'suspended_at', ...TIME })
  readonly suspendedAt!: Date | null;

  /** Messages per time in each of its lanes, such as `50/s`; `null`: `RATE_LIMIT`. */
  @Column({ type: 'text' })
  readonly rate!: string | null;

  /** The account's consent words and replies; `null`: the defaults. */
  @Column({ name: 'consent_words', type: 'simple-json' })
  readonly consentWords!: AccountWords | null;
}

/** Words that opt out (`stop`) and in, instead of the defaults, and the replies to both. */
export interface AccountWords {
  readonly stop?: readonly string[];
  readonly start?: readonly string[];
  readonly stopReply?: string;
  readonly startReply?: string;
}

/** `api_token` authorises SMS; `api_key` authorises WhatsApp and contacts, by scope. */
export type CredentialKind = 'api_token' | 'api_key';

/** An API token or key; the secret itself is shown once and never stored. */
@Entity('gateway_credential')
export class Credential {
  /** `crd_` and 22 base62 characters. */
  @PrimaryColumn()
  readonly id!: string;

  @Column({ name: 'account_id' })
  readonly accountId!: string;

  @Column('varchar')
  readonly kind!: CredentialKind;

  /** SHA-256 of the secret, hex. */
  @Column()
  readonly fingerprint!: string;

  @Column({ name: 'last_four' })
  readonly lastFour!: string;

  /** Scopes of a key; empty for a token. */
  @Column('simple-array')
  readonly scopes!: readonly Scope[];

  @Column({ name: 'created_at', ...TIME })
  readonly createdAt!: Date;

  @Column({ name: 'revoked_at', ...TIME })
  readonly revokedAt!: Date | null;

  /** Time of expiry; `null`: never. */
  @Column({ name: 'expires_at', ...TIME })
  readonly expiresAt!: Date | null;

  /** Exact to half a minute; `null`: never used. */
  @Column({ name: 'last_used_at', ...TIME })
  readonly lastUsedAt!: Date | null;
}

@Entity('gateway_sender')
export class Sender {
  @PrimaryColumn({ name: 'account_id' })
  readonly accountId!: string;

  /** Case-sensitive, as the phone shows it. */
  @PrimaryColumn()
  readonly sender!: string;
}

@Entity('gateway_whatsapp_number')
export class WhatsAppNumber {
  /** Digits with country code. */
  @PrimaryColumn()
  readonly number!: string;

  @Column({ name: 'account_id' })
  readonly accountId!: string;

  @Column({ name: 'created_at', ...TIME })
  readonly createdAt!: Date;
}

/** States of a template at the platform; only an approved template is sent. */
export const TEMPLATE_STATUSES = ['approved', 'pending', 'rejected', 'paused'] as const;

export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

/** Categories of templates; a free text is `service`. */
export const TEMPLATE_CATEGORIES = ['utility', 'marketing', 'authentication'] as const;

export type TemplateCategory = Exclude<MessageCategory, 'service'>;

@Entity('gateway_whatsapp_template')
export class TemplateEntity {
  @PrimaryColumn({ name: 'account_id' })
  readonly accountId!: string;

  @PrimaryColumn()
  readonly name!: string;

  @PrimaryColumn()
  readonly language!: string;

  @Column('varchar')
  readonly category!: TemplateCategory;

  @Column('varchar')
  readonly status!: TemplateStatus;

  @Column('int')
  readonly params_count!: number;
}

/** Skips existing tables: a server that commits each DDL statement may have stopped half-way. */
class Accounts1700000001000 implements MigrationInterface {
  readonly name = 'Accounts1700000001000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of schemaFor(runner)) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['whatsapp_template', 'whatsapp_number', 'sender', 'credential', 'account'])
      await runner.query(`DROP TABLE IF EXISTS gateway_${table}`);
  }
}

function schemaFor({ dataSource }: QueryRunner): readonly string[] {
  const isMySql = ['mysql', 'mariadb'].includes(dataSource.options.type);
  // By default MySQL ignores case, and takes `acc_a` for `acc_A`.
  const bytewise = isMySql ? 'CHARACTER SET ascii COLLATE ascii_bin NOT NULL' : 'NOT NULL';
  const ofAccount = 'FOREIGN KEY (account_id) REFERENCES gateway_account (id) ON DELETE CASCADE';
  const index = (table: string) =>
    `CREATE INDEX IF NOT EXISTS ${table}_account ON ${table} (account_id)`;
  return [
    `CREATE TABLE IF NOT EXISTS gateway_account (
      id VARCHAR(32) ${bytewise} PRIMARY KEY,
      name VARCHAR(100) NOT NULL,
      created_at BIGINT NOT NULL,
      suspended_at BIGINT,
      rate TEXT,
      consent_words TEXT
    )`,
    `CREATE TABLE IF NOT EXISTS gateway_credential (
      id VARCHAR(32) ${bytewise} PRIMARY KEY,
      account_id VARCHAR(32) ${bytewise},
      kind VARCHAR(16) NOT NULL,
      fingerprint VARCHAR(64) ${bytewise} UNIQUE,
      last_four VARCHAR(4) NOT NULL,
      scopes TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      revoked_at BIGINT,
      expires_at BIGINT,
      last_used_at BIGINT,
      ${ofAccount}
    )`,
    `CREATE TABLE IF NOT EXISTS gateway_sender (
      account_id VARCHAR(32) ${bytewise},
      sender VARCHAR(11) ${bytewise},
      PRIMARY KEY (account_id, sender),
      ${ofAccount}
    )`,
    `CREATE TABLE IF NOT EXISTS gateway_whatsapp_number (
      number VARCHAR(15) ${bytewise} PRIMARY KEY,
      account_id VARCHAR(32) ${bytewise},
      created_at BIGINT NOT NULL,
      ${ofAccount}
    )`,
    `CREATE TABLE IF NOT EXISTS gateway_whatsapp_template (
      account_id VARCHAR(32) ${bytewise},
      name VARCHAR(255) ${bytewise},
      language VARCHAR(32) ${bytewise},
      category VARCHAR(16) NOT NULL,
      status VARCHAR(16) NOT NULL,
      params_count INT NOT NULL,
      PRIMARY KEY (account_id, name, language),
      ${ofAccount}
    )`,
    // MySQL indexes foreign keys by itself.
    ...(isMySql ? [] : [index('gateway_credential'), index('gateway_whatsapp_number')]),
  ];
}

export const ACCOUNT_TABLES = {
  entities: [Account, Credential, Sender, TemplateEntity, WhatsAppNumber],
  migrations: [Accounts1700000001000],
};
