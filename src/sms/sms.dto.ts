import type { ReportedStatus } from '@dundun/messaging';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { IsTimestamp } from '../http/is-timestamp.decorator.js';
import { PageOf } from '../http/page-query.js';
import { REPORTED } from '../http/schema.js';

/** `GET /ng/v1/sms` */
export class BatchesQuery extends PageOf(100, 20) {}

/** `GET /ng/v1/sms/{reference_id}/reports` */
export class BatchReportsQuery extends PageOf(1_000, 100) {}

/** `GET /ng/v1/deliveryreports` */
export class ReportsQuery extends BatchReportsQuery {
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => [value].flat())
  @ArrayMaxSize(100, { message: 'may be given at most 100 times' })
  @IsString({ each: true, message: 'must be reference ids' })
  readonly reference_id?: string[];

  @IsOptional()
  @Matches(/^[\x21-\x7e]{1,255}$/, { message: 'must be the Idempotency-Key a batch was sent with' })
  readonly idempotency_key?: string;

  @IsOptional()
  @Matches(/^[1-9][0-9]{6,14}$/, { message: 'must be 7 to 15 digits with country code' })
  readonly to?: string;

  @IsOptional()
  @IsIn(REPORTED, { message: `must be one of ${REPORTED.join(', ')}` })
  readonly status?: ReportedStatus;

  /** Received at or after. */
  @IsOptional()
  @IsTimestamp()
  readonly since?: string;
}

/** `PATCH /ng/v1/sms/{reference_id}` */
export class RescheduleBody {
  @IsTimestamp()
  readonly send_at!: string;
}
