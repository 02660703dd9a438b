import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { tablesOf } from '../config/entity-tables.js';
import { ACCOUNT_ID } from './accounts.tables.js';

/**
 * A request with a credential of an account, without its body, address and query. There are no foreign keys: a
 * row is written after its request, and outlives the credential.
 */
@Entity('gateway_request_log')
@Index('gateway_request_log_account', ['accountId', 'id'])
@Index('gateway_request_log_credential', ['credentialId', 'id'])
export class RequestLogEntity {
  /** UUIDv7 of the end of the request. */
  @PrimaryColumn('uuid') readonly id!: string;
  @Column(ACCOUNT_ID) readonly accountId!: string;
  @Column('varchar', { name: 'credential_id', length: 32 }) readonly credentialId!: string;
  @Column('varchar', { length: 8 }) readonly method!: string;
  /** Pattern of the path. */
  @Column({ length: 255 }) readonly route!: string;
  @Column('smallint') readonly status!: number;
  /** Code of the error that the request was answered with. */
  @Column('varchar', { name: 'error_code', length: 64, nullable: true })
  readonly errorCode!: string | null;
  /** Milliseconds from the request to the end of its answer. */
  @Column('int') readonly latency!: number;
  /** The `x-request-id` of the answer. */
  @Column('varchar', { name: 'request_id', length: 32 }) readonly requestId!: string;
  /** Requests that the row stands for: 1, or more where the credential is busy. */
  @Column('int') readonly weight!: number;
}

export const REQUEST_LOG_TABLES = tablesOf('RequestLog1790000002301', [RequestLogEntity]);
