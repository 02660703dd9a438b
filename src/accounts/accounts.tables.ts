import type { MessageCategory } from '@dundun/messaging';
import { Column, type ColumnOptions, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { tablesOf } from '../config/entity-tables.js';

/** A time as BIGINT epoch milliseconds: one column type on every database, and no time zone. */
export const TIME: ColumnOptions = {
  type: 'bigint',
  transformer: {
    to: (value: Date | null | undefined) => value?.getTime() ?? null,
    from: (value: string | number | null) => (value === null ? null : new Date(Number(value))),
  },
};

export const OPTIONAL_TIME: ColumnOptions = { ...TIME, nullable: true };

export const ACCOUNT_ID = { type: 'varchar', length: 32, name: 'account_id' } as const;

export const OfAccount = (): PropertyDecorator =>
  ForeignKey(() => Account, { onDelete: 'CASCADE' });

@Entity('gateway_account')
export class Account {
  /** `acc_` and 22 base62 characters; the `tenant` of all its messages. */
  @PrimaryColumn({ length: 32 }) readonly id!: string;
  @Column({ length: 100 }) readonly name!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** Requests with its credentials get 403 while this is set. */
  @Column({ ...OPTIONAL_TIME, name: 'suspended_at' }) readonly suspendedAt!: Date | null;
  /** Messages per time in each of its lanes, such as `50/s`; `null`: `RATE_LIMIT`. */
  @Column('text', { nullable: true }) readonly rate!: string | null;
  /** The account's consent words and replies; `null`: the defaults. */
  @Column('simple-json', { name: 'consent_words', nullable: true })
  readonly consentWords!: AccountWords | null;
}

/** Words that opt out (`stop`) and in, instead of the defaults, and the replies to both. */
export interface AccountWords {
  readonly stop?: readonly string[];
  readonly start?: readonly string[];
  readonly stopReply?: string;
  readonly startReply?: string;
}

/** `api_token` authorises SMS; `api_key` authorises WhatsApp, email and contacts, by scope. */
export type CredentialKind = 'api_token' | 'api_key';

/** Exactly those that routes require; the key that is created with an account has all of them. */
export const SCOPES = [
  'whatsapp:send',
  'whatsapp:read',
  'contacts:read',
  'contacts:write',
  'email:read',
  'email:send',
  'email:webhooks',
  'domains:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value);
}

/** An API token or key; the secret itself is shown once and never stored. */
@Entity('gateway_credential')
export class Credential {
  /** `crd_` and 22 base62 characters. */
  @PrimaryColumn({ length: 32 }) readonly id!: string;
  @Index('gateway_credential_account')
  @OfAccount()
  @Column(ACCOUNT_ID)
  readonly accountId!: string;
  @Column('varchar', { length: 16 }) readonly kind!: CredentialKind;
  /** SHA-256 of the secret, hex. */
  @Column({ length: 64, unique: true }) readonly fingerprint!: string;
  @Column({ name: 'last_four', length: 4 }) readonly lastFour!: string;
  /** Scopes of a key; empty for a token. */
  @Column('simple-array') readonly scopes!: readonly Scope[];
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  @Column({ ...OPTIONAL_TIME, name: 'revoked_at' }) readonly revokedAt!: Date | null;
  /** Time of expiry; `null`: never. */
  @Column({ ...OPTIONAL_TIME, name: 'expires_at' }) readonly expiresAt!: Date | null;
  /** Exact to half a minute; `null`: never used. */
  @Column({ ...OPTIONAL_TIME, name: 'last_used_at' }) readonly lastUsedAt!: Date | null;
}

/** Only an approved sender ID is sent from. */
export type SenderState = 'approved' | 'pending';

@Entity('gateway_sender')
export class Sender {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  /** Case-sensitive, as the phone shows it. */
  @PrimaryColumn({ length: 11 }) readonly sender!: string;
  @Column('varchar', { length: 16, default: 'approved' }) readonly state!: SenderState;
}

@Entity('gateway_whatsapp_number')
export class WhatsAppNumber {
  /** Digits with country code. */
  @PrimaryColumn({ length: 15 }) readonly number!: string;
  @Index('gateway_whatsapp_number_account')
  @OfAccount()
  @Column(ACCOUNT_ID)
  readonly accountId!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** Meta's id of the number; `null`: the number is not bound to Meta. */
  @Column('varchar', { name: 'phone_number_id', length: 32, nullable: true, unique: true })
  readonly phoneNumberId!: string | null;
  /** Meta's id of its business account. */
  @Index('gateway_whatsapp_number_waba')
  @Column('varchar', { length: 32, nullable: true })
  readonly waba!: string | null;
  /** When the templates of the business account are read next. */
  @Index('gateway_whatsapp_number_templates')
  @Column({ ...OPTIONAL_TIME, name: 'templates_due_at' })
  readonly templatesDueAt!: Date | null;
}

/** States of a template at the platform; only an approved template is sent. */
export const TEMPLATE_STATUSES = ['approved', 'pending', 'rejected', 'paused'] as const;

export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

/** Categories of templates; a free text is `service`. */
export const TEMPLATE_CATEGORIES = ['utility', 'marketing', 'authentication'] as const;

export type TemplateCategory = Exclude<MessageCategory, 'service'>;

@Entity('gateway_whatsapp_template')
export class TemplateEntity {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  @PrimaryColumn() readonly name!: string;
  @PrimaryColumn({ length: 32 }) readonly language!: string;
  @Column('varchar', { length: 16 }) readonly category!: TemplateCategory;
  @Column('varchar', { length: 16 }) readonly status!: TemplateStatus;
  @Column('int') readonly params_count!: number;
  /** Names of its params at the platform; `null`: they have none. */
  @Column('simple-json', { name: 'param_names', nullable: true })
  readonly paramNames!: readonly string[] | null;
  /** Business account at Meta that listed it; `null`: an operator added it. */
  @Index('gateway_whatsapp_template_waba')
  @Column('varchar', { length: 32, nullable: true })
  readonly waba!: string | null;
}

/** Columns of a template that an operator adds. */
export const BY_HAND = { paramNames: null, waba: null } as const;

export const ACCOUNT_TABLES = tablesOf('Accounts1700000001000', [
  Account,
  Credential,
  Sender,
  TemplateEntity,
  WhatsAppNumber,
]);
