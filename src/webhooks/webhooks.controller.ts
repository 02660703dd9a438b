import { Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { AccountId, Auth } from '../accounts/auth.decorators.js';
import { Documented } from '../http/documented.decorator.js';
import { JsonBody, OptionalJsonBody } from '../http/json-body.decorator.js';
import { type PageAnswer, pageAnswer } from '../http/page-answer.js';
import { CURSOR, limit as limitUpTo } from '../http/schema.js';
import { parseTimestamp } from '../http/rfc3339.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { validated } from '../http/validated.js';
import {
  AttemptsQuery,
  CreateWebhookBody,
  RedeliverBody,
  UpdateWebhookBody,
} from './webhook.dto.js';
import {
  type WebhookAnswer,
  webhookAnswer,
  type WebhookAttemptAnswer,
  webhookAttemptAnswer,
  type WebhookSecretAnswer,
  webhookSecretAnswer,
} from './webhook.view.js';
import { WEBHOOK_EXAMPLES } from './webhook.examples.js';
import { WebhookAttemptsRepository } from './webhook-attempts.repository.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookRedeliveryService } from './webhook-redelivery.service.js';
import { WebhookSender } from './webhook-sender.js';

const readCreate = (body: object): CreateWebhookBody => validated(CreateWebhookBody, body);
const readUpdate = (body: object): UpdateWebhookBody => validated(UpdateWebhookBody, body);
const readRedeliver = (body: object): RedeliverBody => validated(RedeliverBody, body);

/** `{id}` of the path; ids are compared in lower case. */
function WebhookId(): ParameterDecorator {
  return Param('id', { transform: (value: string): string => value.toLowerCase() });
}

/** An account's webhooks: where its delivery reports are called back. */
@Controller('ng/v1/webhooks')
export class WebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly attempts: WebhookAttemptsRepository,
    private readonly redelivery: WebhookRedeliveryService,
    private readonly sender: WebhookSender,
  ) {}

  /** All of them: an account has few. */
  @Get()
  @Auth('api_token')
  @Documented({
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    tag: 'Webhooks',
    answer: {
      status: 200,
      description: 'All of them: an account has few.',
      schema: 'WebhookPage',
      example: WEBHOOK_EXAMPLES.webhooks,
    },
  })
  async list(@AccountId() account: string): Promise<PageAnswer<WebhookAnswer>> {
    const endpoints = await this.endpoints.list(account);
    return { data: endpoints.map(webhookAnswer), next_cursor: null };
  }

  /** The secret is in the answer. */
  @Post()
  @Auth('api_token')
  @Documented({
    operationId: 'createWebhook',
    summary: 'Add a webhook',
    tag: 'Webhooks',
    body: { schema: 'CreateWebhook', examples: WEBHOOK_EXAMPLES.create },
    answer: {
      status: 201,
      description: 'The webhook and its signing secret.',
      schema: 'WebhookWithSecret',
      example: WEBHOOK_EXAMPLES.withSecret,
    },
  })
  async create(
    @AccountId() account: string,
    @JsonBody(readCreate) { url }: CreateWebhookBody,
  ): Promise<WebhookSecretAnswer> {
    return webhookSecretAnswer(await this.endpoints.add(account, url));
  }

  @Get(':id')
  @Auth('api_token')
  @Documented({
    operationId: 'readWebhook',
    summary: 'Read a webhook',
    tag: 'Webhooks',
    answer: {
      status: 200,
      description: 'The webhook.',
      schema: 'Webhook',
      example: WEBHOOK_EXAMPLES.webhook,
    },
  })
  async read(@AccountId() account: string, @WebhookId() id: string): Promise<WebhookAnswer> {
    return webhookAnswer(await this.endpoints.get(account, id));
  }

  /** Moves, disables or enables it; once enabled, what was due in the meantime is sent. */
  @Patch(':id')
  @Auth('api_token')
  @Documented({
    operationId: 'updateWebhook',
    summary: 'Move, disable or enable a webhook',
    tag: 'Webhooks',
    description: 'Once enabled, what was due in the meantime is sent.',
    body: { schema: 'UpdateWebhook', examples: WEBHOOK_EXAMPLES.update },
    answer: {
      status: 200,
      description: 'The webhook as it is now.',
      schema: 'Webhook',
      example: WEBHOOK_EXAMPLES.webhook,
    },
  })
  async update(
    @AccountId() account: string,
    @WebhookId() id: string,
    @JsonBody(readUpdate) change: UpdateWebhookBody,
  ): Promise<WebhookAnswer> {
    const endpoint = await this.endpoints.update(account, id, change);
    if (endpoint.disabledAt === null) this.sender.wake(endpoint.id);
    return webhookAnswer(endpoint);
  }

  @Delete(':id')
  @HttpCode(204)
  @Auth('api_token')
  @Documented({
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    tag: 'Webhooks',
    answer: { status: 204, description: 'It is gone, its deliveries too.' },
  })
  async remove(@AccountId() account: string, @WebhookId() id: string): Promise<void> {
    await this.endpoints.remove(account, id);
  }

  /** A new secret; for 24 hours callbacks are signed with the old one too. */
  @Post(':id/rotate-secret')
  @HttpCode(200)
  @Auth('api_token')
  @Documented({
    operationId: 'rotateWebhookSecret',
    summary: 'Make a new signing secret',
    tag: 'Webhooks',
    description: 'For 24 hours callbacks are signed with the old one too.',
    answer: {
      status: 200,
      description: 'The webhook and its new secret.',
      schema: 'WebhookWithSecret',
      example: WEBHOOK_EXAMPLES.withSecret,
    },
  })
  async rotateSecret(
    @AccountId() account: string,
    @WebhookId() id: string,
  ): Promise<WebhookSecretAnswer> {
    return webhookSecretAnswer(await this.endpoints.rotateSecret(account, id));
  }

  /** Newest first. */
  @Get(':id/attempts')
  @Auth('api_token')
  @Documented({
    operationId: 'listWebhookAttempts',
    summary: 'Every try, newest first',
    tag: 'Webhooks',
    query: { cursor: CURSOR, limit: limitUpTo(1_000, 100) },
    answer: {
      status: 200,
      description: 'A page of attempts.',
      schema: 'WebhookAttemptPage',
      example: WEBHOOK_EXAMPLES.attempts,
    },
  })
  async listAttempts(
    @AccountId() account: string,
    @WebhookId() id: string,
    @ValidQuery(AttemptsQuery) query: AttemptsQuery,
  ): Promise<PageAnswer<WebhookAttemptAnswer>> {
    const endpoint = await this.endpoints.get(account, id);
    return pageAnswer(await this.attempts.page(endpoint.id, query), webhookAttemptAnswer);
  }

  /** One delivery, everything since a time, or without either whatever was never delivered. */
  @Post(':id/redeliver')
  @HttpCode(202)
  @Auth('api_token')
  @Documented({
    operationId: 'redeliverWebhook',
    summary: 'Send callbacks again',
    tag: 'Webhooks',
    description:
      'One delivery, everything since a time, or without either whatever was never delivered.',
    body: { schema: 'RedeliverWebhook', optional: true, examples: WEBHOOK_EXAMPLES.redeliver },
    answer: {
      status: 202,
      description: 'How many are due again.',
      schema: 'Redelivered',
      example: WEBHOOK_EXAMPLES.redelivered,
    },
  })
  async redeliver(
    @AccountId() account: string,
    @WebhookId() id: string,
    @OptionalJsonBody(readRedeliver) { since, delivery_id: deliveryId }: RedeliverBody,
  ): Promise<{ readonly redelivered: number }> {
    const redelivered = await this.redelivery.redeliver(account, id, {
      deliveryId,
      since: parseTimestamp(since),
    });
    if (redelivered > 0) this.sender.wake(id);
    return { redelivered };
  }
}
