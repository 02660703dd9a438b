import { IsBoolean, IsString, IsUUID } from 'class-validator';
import { IsTimestamp } from '../http/is-timestamp.decorator.js';
import { MayBeLeftOut } from '../http/may-be-left-out.decorator.js';
import { PageOf } from '../http/page-query.js';

const URL_RULE = 'must be an address such as https://example.com/sms-reports';

/** `POST /ng/v1/webhooks` */
export class CreateWebhookBody {
  @IsString({ message: URL_RULE })
  readonly url!: string;
}

/** `PATCH /ng/v1/webhooks/{id}` */
export class UpdateWebhookBody {
  @MayBeLeftOut()
  @IsString({ message: URL_RULE })
  readonly url?: string;

  @MayBeLeftOut()
  @IsBoolean({ message: 'must be true or false' })
  readonly enabled?: boolean;
}

/** `POST /ng/v1/webhooks/{id}/redeliver` */
export class RedeliverBody {
  @MayBeLeftOut()
  @IsTimestamp()
  readonly since?: string;

  @MayBeLeftOut()
  @IsUUID('all', { message: 'must be the webhook-id of a delivery' })
  readonly delivery_id?: string;
}

/** `GET /ng/v1/webhooks/{id}/attempts` */
export class AttemptsQuery extends PageOf(1_000, 100) {}
