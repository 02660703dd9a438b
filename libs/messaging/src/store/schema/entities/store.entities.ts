import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Up to 1,000 recipients of a batch as one JSON array; immutable. */
@Entity('messaging_batch_chunk')
export class BatchChunkEntity {
  @PrimaryColumn('varchar', { length: 36 }) batch!: string;
  @PrimaryColumn('int') n!: number;
  @Column('text') recipients!: string;
}

/** One request to the provider; `{batch}-s{n}` is its idempotency key. Times are epoch microseconds. */
@Entity('messaging_submission')
export class SubmissionEntity {
  @PrimaryColumn('varchar', { length: 36 }) batch!: string;
  @PrimaryColumn('int') n!: number;
  @Column('int', { name: 'first_position' }) firstPosition!: number;
  @Column('int', { name: 'last_position' }) lastPosition!: number;
  @Column('smallint') attempt!: number;
  @Column('bigint') fence!: string;
  @Column('varchar', { length: 32 }) provider!: string;
  @Column('bigint', { name: 'first_sent_at' }) firstSentAt!: string;
  /** See `SUBMISSION_OUTCOME`; `null` while it is open. */
  @Column('smallint', { nullable: true }) outcome!: number | null;
  @Column('varchar', { nullable: true }) reference!: string | null;
  @Column('varchar', { name: 'error_code', nullable: true }) errorCode!: string | null;
  /** JSON of further fields of the submit response. */
  @Column('text', { nullable: true }) details!: string | null;
  @Column('bigint', { name: 'finished_at', nullable: true }) finishedAt!: string | null;
  /** JSON of the content that policy substituted for the batch's. */
  @Column('text', { nullable: true }) content!: string | null;
}

/** One recipient's message. Rows are always a prefix of the batch; `status` is the rank. */
@Entity('messaging_message')
export class MessageEntity {
  @PrimaryColumn('varchar', { length: 36 }) batch!: string;
  @PrimaryColumn('int') position!: number;
  @Column('int', { nullable: true }) submission!: number | null;
  /** See `STATUS_RANK`. */
  @Column('smallint') status!: number;
  @Column('smallint') attempt!: number;
  @Column('smallint') sequence!: number;
  @Column('varchar', { length: 320 }) recipient!: string;
  @Column('varchar', { nullable: true }) reference!: string | null;
  @Column('varchar', { name: 'error_code', length: 64, nullable: true }) errorCode!: string | null;
  /** Earliest start of a deferred message. */
  @Column('bigint', { name: 'due_at', nullable: true }) dueAt!: string | null;
}

/** Append-only log of reports; `batch` is null until the report matches. */
@Entity('messaging_report')
export class ReportEntity {
  @PrimaryColumn('bigint') id!: string;
  /** Identifies the report; null for a submit's outcome, which is written once. */
  @Column('varchar', { length: 36, nullable: true }) hash!: string | null;
  @Column('varchar') tenant!: string;
  @Column('varchar', { length: 36, nullable: true }) batch!: string | null;
  @Column('int', { nullable: true }) position!: number | null;
  @Column('varchar', { length: 32 }) provider!: string;
  @Column('varchar', { nullable: true }) reference!: string | null;
  @Column('varchar', { name: 'message_id', nullable: true }) messageId!: string | null;
  @Column('varchar', { length: 320, nullable: true }) recipient!: string | null;
  @Column('smallint', { nullable: true }) status!: number | null;
  @Column('varchar', { name: 'raw_status' }) rawStatus!: string;
  @Column('varchar', { name: 'error_code', length: 64, nullable: true }) errorCode!: string | null;
  @Column('bigint', { name: 'provider_time', nullable: true }) providerTime!: string | null;
  @Column('bigint', { name: 'received_at' }) receivedAt!: string;
  @Column('smallint', { nullable: true }) sequence!: number | null;
}

/** A lane's lease, rate state and pause. */
@Entity('messaging_lane')
export class LaneEntity {
  @PrimaryColumn('varchar', { name: 'lane_key' }) key!: string;
  @Column('varchar', { nullable: true }) owner!: string | null;
  @Column('bigint') fence!: string;
  @Column('bigint', { name: 'lease_until' }) leaseUntil!: string;
  @Column('text', { name: 'rate_state', nullable: true }) rateState!: string | null;
  @Column('bigint', { name: 'paused_until' }) pausedUntil!: string;
  @Column('varchar', { name: 'pause_reason', nullable: true }) pauseReason!: string | null;
}
