import { IsBoolean, IsOptional, IsRFC3339, IsString, IsUUID } from 'class-validator';
import { PageOf } from '../http/page-query.js';

const URL_RULE = 'must be an address such as https://example.com/sms-reports';

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
export class AttemptsQuery extends PageOf(1_000, 100) {}
