import type { ReportedStatus } from '@dundun/messaging';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsTimestamp } from './is-timestamp.decorator.js';

export const REPORTED: readonly ReportedStatus[] = [
  'sent',
  'expired',
  'undelivered',
  'failed',
  'rejected',
  'delivered',
  'read',
];

/** Query of every list. */
class PageQuery {
  /** `next_cursor` of the page before. */
  @IsOptional()
  @IsString({ message: 'must be the next_cursor of the page before' })
  @MaxLength(500, { message: 'must be the next_cursor of the page before' })
  readonly cursor?: string;
}

/** `GET /ng/v1/sms` */
export class BatchesQuery extends PageQuery {
  @Type(() => Number)
  @IsInt({ message: 'must be a whole number from 1 to 100' })
  @Min(1, { message: 'must be a whole number from 1 to 100' })
  @Max(100, { message: 'must be a whole number from 1 to 100' })
  readonly limit: number = 20;
}

/** `GET /ng/v1/sms/{reference_id}/reports` */
export class BatchReportsQuery extends PageQuery {
  @Type(() => Number)
  @IsInt({ message: 'must be a whole number from 1 to 1000' })
  @Min(1, { message: 'must be a whole number from 1 to 1000' })
  @Max(1000, { message: 'must be a whole number from 1 to 1000' })
  readonly limit: number = 100;
}

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
