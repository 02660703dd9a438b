import type { MessageCategory } from '@dundun/messaging';
import type { GuardRules } from '@dundun/messaging/ports';
import {
  Column,
  type ColumnOptions,
  Entity,
  ForeignKey,
  Index,
  PrimaryColumn,
  Unique,
} from 'typeorm';
import type { Scope } from '../channel.js';
import { columnsAdded, tablesOf } from '../config/entity-tables.js';

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
  /** Whether its members sign in to the portal with a second factor only; `null`: no. */
  @Column('varchar', { name: 'second_factor', length: 16, nullable: true })
  readonly secondFactor!: 'required' | null;
  /** Limits of what it sends, against abuse of its credentials; `null`: none. */
  @Column('simple-json', { nullable: true }) readonly guard!: GuardRules | null;
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
  /** What it may do; empty for a token that may do all that tokens may. */
  @Column('simple-array') readonly scopes!: readonly Scope[];
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  @Column({ ...OPTIONAL_TIME, name: 'revoked_at' }) readonly revokedAt!: Date | null;
  /** Time of its own expiry, which a rotation passes on; `null`: never. */
  @Column({ ...OPTIONAL_TIME, name: 'expires_at' }) readonly expiresAt!: Date | null;
  /** End of the overlap of the rotation that has replaced the token; `null`: it is not replaced. */
  @Column({ ...OPTIONAL_TIME, name: 'replaced_until' }) readonly replacedUntil!: Date | null;
  /** Of a token that was made by name; `null`: a key, or the token that the account was made with. */
  @Column('varchar', { length: 100, nullable: true }) readonly name!: string | null;
  /**
   * Of a named token that was rotated: the id of the first one, under which it goes on to spend. `null`:
   * its own id.
   */
  @Column('varchar', { length: 32, nullable: true }) readonly spender!: string | null;
  /** Exact to a minute; `null`: never used. */
  @Column({ ...OPTIONAL_TIME, name: 'last_used_at' }) readonly lastUsedAt!: Date | null;
}

/** Only an approved sender is sent from. */
export type SenderState = 'approved' | 'pending';

/** What an account sends from: a sender ID, a caller id or a WhatsApp number. */
@Entity('gateway_account_sender')
@Unique('gateway_account_sender_exclusive', ['channel', 'exclusive'])
export class Sender {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  @PrimaryColumn('varchar', { length: 16 }) readonly channel!: string;
  /** Case-sensitive, as the phone shows it; numbers are digits with country code. */
  @PrimaryColumn({ length: 64 }) readonly sender!: string;
  @Column('varchar', { length: 16 }) readonly state!: SenderState;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** The sender again where one account alone may have it; `null` where several may. */
  @Column('varchar', { name: 'exclusive_sender', length: 64, nullable: true })
  readonly exclusive!: string | null;
  /** Meta's id of a WhatsApp number; `null`: the number is not bound to Meta. */
  @Column('varchar', { name: 'phone_number_id', length: 32, nullable: true, unique: true })
  readonly phoneNumberId!: string | null;
  /** Meta's id of its business account. */
  @Index('gateway_account_sender_waba')
  @Column('varchar', { length: 32, nullable: true })
  readonly waba!: string | null;
  /** When the templates of the business account are read next. */
  @Index('gateway_account_sender_templates')
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
  /** Characters of its body without the variables; `null`: not known. */
  @Column('int', { name: 'fixed_length', nullable: true }) readonly fixedLength!: number | null;
  /** Text of its body, with `{{1}}` or `{{name}}` in the place of values; `null`: not known. */
  @Column('text', { nullable: true }) readonly body!: string | null;
  /** Business account at Meta that listed it; `null`: an operator added it. */
  @Index('gateway_whatsapp_template_waba')
  @Column('varchar', { length: 32, nullable: true })
  readonly waba!: string | null;
}

/** Columns of a template that an operator adds. */
export const BY_HAND = { paramNames: null, fixedLength: null, waba: null } as const;

const created = tablesOf('Accounts1700000001000', [Account, Credential, TemplateEntity]);
const senders = tablesOf('Senders1790000001500', [Sender]);

export const ACCOUNT_TABLES = {
  entities: [...created.entities, ...senders.entities],
  migrations: [
    ...created.migrations,
    ...senders.migrations,
    // Lengths of present templates are known after the next list of Meta.
    columnsAdded('TemplateLengths1790000001100', [[TemplateEntity, ['fixedLength']]]),
    columnsAdded('AccountSecondFactor1790000001200', [[Account, ['secondFactor']]]),
    columnsAdded('AccountGuard1790000002345', [[Account, ['guard']]]),
    columnsAdded('CredentialNames1790000002332', [[Credential, ['name']]]),
    columnsAdded('TokenSpenders1790000002370', [[Credential, ['spender']]]),
    columnsAdded('CredentialReplacedUntil1790000002415', [[Credential, ['replacedUntil']]]),
    // Texts of present templates are known after the next list of Meta.
    columnsAdded('TemplateBodies1790000002356', [[TemplateEntity, ['body']]]),
  ],
};
