import type { Alphabets, MessageState } from '@dundun/smpp';
import { Column, Entity, Generated, Index, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID, OfAccount, OPTIONAL_TIME, TIME } from '../accounts/accounts.tables.js';
import { columnsAdded, tablesOf } from '../config/entity-tables.js';

/** `smpp` and 8 base62 characters; SMPP allows 15. */
const SYSTEM_ID = { type: 'varchar', length: 15, name: 'system_id' } as const;

export type SmppAlphabets = Required<Alphabets>;

/** A system_id and its password, with which an account binds over SMPP and does nothing else. */
@Entity('gateway_smpp_credential')
export class SmppCredential {
  @PrimaryColumn(SYSTEM_ID) readonly systemId!: string;
  @Index('gateway_smpp_credential_account')
  @OfAccount()
  @Column(ACCOUNT_ID)
  readonly accountId!: string;
  /** As `hashPassword()` writes it. */
  @Column({ name: 'password_hash', length: 160 }) readonly passwordHash!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** `null`: never. */
  @Column({ ...OPTIONAL_TIME, name: 'last_bound_at' }) readonly lastBoundAt!: Date | null;
  /** How its submits mean `data_coding` 0 and 1. */
  @Column('varchar', { name: 'data_coding_0', length: 6, default: 'gsm7' })
  readonly dataCoding0!: SmppAlphabets['dataCoding0'];
  @Column('varchar', { name: 'data_coding_1', length: 6, default: 'auto' })
  readonly dataCoding1!: SmppAlphabets['dataCoding1'];
}

/**
 * A part of a long message that lacks other parts. The part that completes the message is never a
 * row: its transaction accepts the message and deletes the other parts.
 */
@Entity('gateway_smpp_part')
@Index('gateway_smpp_part_created', ['createdAt'])
export class SmppPart {
  @PrimaryColumn(SYSTEM_ID) readonly systemId!: string;
  /** Digest of reference, total, sender and recipient, which name the message. */
  @PrimaryColumn({ name: 'message_key', length: 32 }) readonly messageKey!: string;
  /** From 1. */
  @PrimaryColumn('smallint') readonly part!: number;
  /** Parts of a message have the ids `{messageId}-{part}`. */
  @Column('uuid', { name: 'message_id' }) readonly messageId!: string;
  @Column({ length: 21 }) readonly sender!: string;
  @Column({ length: 15 }) readonly recipient!: string;
  /** The receipts that the part asks for. */
  @Column('smallint') readonly receipts!: number;
  /** Bytes of the text in base64. */
  @Column('text') readonly body!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

const BIGINT = {
  type: 'bigint',
  transformer: { to: (value: unknown) => value, from: Number },
} as const;

/**
 * A receipt, or an inbound message, until a `deliver_sm_resp` of 0. Receipts are written in the
 * transaction that raises the status.
 *
 * ```
 * due at once ──answer 0──► deleted
 *     │ third refusal         ▲ answer 0
 *     ▼                       │
 * due later ──────────────────┘──three days old, or one of too many──► deleted
 * ```
 */
@Entity('gateway_smpp_delivery')
@Index('gateway_smpp_delivery_due', ['systemId', 'dueAt', 'position'])
@Index('gateway_smpp_delivery_created', ['createdAt'])
export class SmppDelivery {
  @Generated('increment') @PrimaryColumn(BIGINT) readonly position!: number;
  @Column(SYSTEM_ID) readonly systemId!: string;
  /** The id that the answer to the submit had; of an inbound message the provider's. */
  @Column({ name: 'message_id', length: 64 }) readonly messageId!: string;
  /** `null`: an inbound message. */
  @Column('varchar', { length: 16, nullable: true }) readonly state!: MessageState | null;
  /** `err:` of the receipt. */
  @Column({ length: 3, default: '000' }) readonly error!: string;
  /** The number of the person; empty once it was erased. */
  @Column({ length: 21 }) readonly source!: string;
  @Column({ length: 21 }) readonly destination!: string;
  /** Text of an inbound message. */
  @Column('text', { nullable: true }) readonly text!: string | null;
  @Column({ ...TIME, name: 'submitted_at' }) readonly submittedAt!: Date;
  @Column({ ...TIME, name: 'done_at' }) readonly doneAt!: Date;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** Refusals. */
  @Column('smallint', { default: 0 }) readonly attempts!: number;
  /** Epoch milliseconds; 0: at once, in order of position. */
  @Column({ ...BIGINT, name: 'due_at', default: 0 }) readonly dueAt!: number;
}

/** A delivery that is due at once. */
export type NewDelivery = Pick<
  SmppDelivery,
  'systemId' | 'messageId' | 'state' | 'source' | 'destination' | 'submittedAt' | 'doneAt'
> &
  Partial<Pick<SmppDelivery, 'error' | 'text'>>;

const created = tablesOf('Smpp1700000009000', [SmppCredential, SmppPart, SmppDelivery]);

export const SMPP_TABLES = {
  ...created,
  migrations: [
    ...created.migrations,
    columnsAdded('SmppAlphabets1790000000700', [[SmppCredential, ['dataCoding0', 'dataCoding1']]]),
  ],
};
