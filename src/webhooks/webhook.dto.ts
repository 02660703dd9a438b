import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsInt,
  IsOptional,
  IsRFC3339,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
} from 'class-validator';

const URL_RULE = 'must be an address such as https://example.com/sms-reports';
const LIMIT_RULE = 'must be a whole number from 1 to 1000';

/** `POST /ng/v1/webhooks` */
export class CreateWebhookBody {
  @IsString({ message: URL_RULE })
  readonly url!: string;
}

/** `PATCH /ng/v1/webhooks/{id}` */
export class UpdateWebhookBody {
  @IsOptional()
  @IsString({ message: URL_RULE })
  readonly url?: string;

  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  readonly enabled?: boolean;
}

/** `POST /ng/v1/webhooks/{id}/redeliver` */
export class RedeliverBody {
  @IsOptional()
  @IsRFC3339({
    message: 'must be an RFC 3339 time with an offset or Z, such as 2026-01-31T09:00:00+01:00',
  })
  readonly since?: string;

  @IsOptional()
  @IsUUID('all', { message: 'must be the webhook-id of a delivery' })
  readonly delivery_id?: string;
}

/** `GET /ng/v1/webhooks/{id}/attempts` */
export class AttemptsQuery {
  /** `next_cursor` of the page before. */
  @IsOptional()
  @IsString({ message: 'must be the next_cursor of the page before' })
  @MaxLength(500, { message: 'must be the next_cursor of the page before' })
  readonly cursor?: string;

  @Type(() => Number)
  @IsInt({ message: LIMIT_RULE })
  @Min(1, { message: LIMIT_RULE })
  @Max(1000, { message: LIMIT_RULE })
  readonly limit: number = 100;
}
