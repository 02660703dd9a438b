import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID, OfAccount, OPTIONAL_TIME, TIME } from '../accounts/accounts.tables.js';
import { tablesOf } from '../config/entity-tables.js';
import type { SecretColumn } from '../secrets/secret-keys.js';

const OPTIONAL_ACCOUNT = { ...ACCOUNT_ID, nullable: true } as const;

/** Widths of the columns. */
export const LONGEST_SUBJECT = 200;
export const LONGEST_DETAIL = 500;
export const LONGEST_PAGE = 500;

/** Numbers and names that an alert was raised by; never an address, a text or a secret. */
export type AlertFigures = Readonly<Record<string, number | string | null>>;

/** What an alert was raised by, as it was seen last. */
export interface SeenByAlert {
  readonly figures: AlertFigures;
  /** The time that the figures are of, RFC 3339; `null`: a state, not a time. */
  readonly window: { readonly since: string; readonly until: string } | null;
  /** Type of the event that tells the account of the same; absent: none. */
  readonly toldBy?: string | undefined;
}

/**
 * ```
 * raised ──its rule finds it no more, or resolve()──► resolved
 * ```
 */
@Entity('gateway_alert')
@Index('gateway_alert_account', ['accountId', 'id'])
@Index('gateway_alert_notified', ['key', 'notifiedAt'])
@Index('gateway_alert_resolved', ['resolvedAt', 'rule'])
export class AlertEntity {
  /** UUIDv7. */
  @PrimaryColumn('uuid') readonly id!: string;
  /** Id of its rule. */
  @Column({ length: 40 }) readonly rule!: string;
  @Column({ length: 32 }) readonly kind!: string;
  @OfAccount() @Column(OPTIONAL_ACCOUNT) readonly accountId!: string | null;
  @Column({ length: LONGEST_SUBJECT }) readonly subject!: string;
  /** Digest of rule, account and subject. */
  @Column({ name: 'alert_key', length: 64 }) readonly key!: string;
  /** The key while it is raised, so that one of a key is raised at a time; `null`: resolved. */
  @Column('varchar', { name: 'raised_key', length: 64, nullable: true, unique: true })
  readonly raisedKey!: string | null;
  /** What was seen, in one sentence. */
  @Column({ length: LONGEST_DETAIL }) readonly detail!: string;
  @Column('simple-json') readonly seen!: SeenByAlert;
  /** Address of the page that shows it, below the portal or the account in it. */
  @Column({ length: LONGEST_PAGE }) readonly page!: string;
  @Column({ ...TIME, name: 'raised_at' }) readonly raisedAt!: Date;
  @Column({ ...TIME, name: 'seen_at' }) readonly seenAt!: Date;
  @Column({ ...OPTIONAL_TIME, name: 'resolved_at' }) readonly resolvedAt!: Date | null;
  /** When it was notified; `null`: not, because one of the key was notified less than a pause ago. */
  @Column({ ...OPTIONAL_TIME, name: 'notified_at' }) readonly notifiedAt!: Date | null;
}

/** A rule of an operator, or what an operator has changed of a rule that is there by default. */
@Entity('gateway_alert_rule')
export class AlertRuleEntity {
  /** `rul_` and 22 base62 characters; the kind, where it changes the rule that is there by default. */
  @PrimaryColumn({ length: 40 }) readonly id!: string;
  @Column({ length: 32 }) readonly kind!: string;
  /** Of one account; `null`: of all. */
  @OfAccount() @Column(OPTIONAL_ACCOUNT) readonly accountId!: string | null;
  /** As written, by name; a setting that is not there has its default. */
  @Column('simple-json') readonly settings!: Readonly<Record<string, string>>;
  /** Milliseconds without a second notice of the same alert. */
  @Column('int') readonly pause!: number;
  /** Ids of channels; `null`: those that the kind tells. */
  @Column('simple-json', { nullable: true }) readonly channels!: readonly string[] | null;
  @Column('smallint') readonly enabled!: number;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

export const CHANNEL_KINDS = ['email', 'webhook', 'slack'] as const;

export type AlertChannelKind = (typeof CHANNEL_KINDS)[number];

/** Where operators are notified. */
@Entity('gateway_alert_channel')
export class AlertChannelEntity {
  /** UUIDv7. */
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('varchar', { length: 16 }) readonly kind!: AlertChannelKind;
  /** Address of e-mail, or URL, which may have a secret, as `Secrets` stores it. */
  @Column('text') readonly target!: string;
  /** `whsec_…` with which its requests are signed, as `Secrets` stores it. */
  @Column({ length: 255 }) readonly secret!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

/** A notice to a channel, written in the transaction of its alert. */
@Entity('gateway_alert_notice')
@Index('gateway_alert_notice_due', ['channelId', 'dueAt'])
export class AlertNoticeEntity {
  /** UUIDv7; its order is that of the changes of an alert. */
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid', { name: 'channel_id' }) readonly channelId!: string;
  /** `null`: a test of the channel. */
  @Index('gateway_alert_notice_alert')
  @Column('uuid', { name: 'alert_id', nullable: true })
  readonly alertId!: string | null;
  @Column('varchar', { length: 16 }) readonly state!: 'raised' | 'resolved' | 'test';
  /** `null`: delivered, or given up. */
  @Column({ ...OPTIONAL_TIME, name: 'due_at' }) readonly dueAt!: Date | null;
  @Column('smallint') readonly attempts!: number;
  @Column({ ...OPTIONAL_TIME, name: 'delivered_at' }) readonly deliveredAt!: Date | null;
  /** Of the last attempt; `null`: none, or delivered. */
  @Column('varchar', { length: 64, nullable: true }) readonly error!: string | null;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

/** When the rules were evaluated last. One row, with the id 1. */
@Entity('gateway_alert_evaluation')
export class AlertEvaluationEntity {
  @PrimaryColumn('smallint') readonly id!: number;
  @Column({ ...TIME, name: 'evaluated_at' }) readonly evaluatedAt!: Date;
  /** Until then nothing is raised, because no process has evaluated for some time before. */
  @Column({ ...TIME, name: 'quiet_until' }) readonly quietUntil!: Date;
}

const CHANNEL = { table: 'gateway_alert_channel', key: 'id' } as const;

export const ALERT_SECRETS = {
  target: { ...CHANNEL, column: 'target' },
  secret: { ...CHANNEL, column: 'secret' },
} as const satisfies Readonly<Record<string, SecretColumn>>;

export const ALERT_TABLES = tablesOf('Alerts1790000002330', [
  AlertEntity,
  AlertRuleEntity,
  AlertChannelEntity,
  AlertNoticeEntity,
  AlertEvaluationEntity,
]);
