import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth } from '../accounts/auth.guard.js';
import { Operation } from '../http/operation.decorator.js';
import { ListQuery, pageOf } from '../http/page.dto.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { parseTimestamp } from '../http/rfc3339.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { type CallerKinds, WebhookKinds } from './webhook-kinds.js';
import { WebhookSender } from './webhook-sender.js';
import {
  CreateWebhook,
  Redelivered,
  RedeliverWebhook,
  UpdateWebhook,
  Webhook,
  WebhookAttemptPage,
  webhookAttemptOf,
  webhookOf,
  WebhookPage,
  WebhookWithSecret,
  webhookWithSecretOf,
} from './webhooks.dto.js';

/** `{id}` of the path, in lower case for the comparison. */
function WebhookId(): ParameterDecorator {
  return Param('id', { transform: (value: string): string => value.toLowerCase() });
}

/** `caller` is that of a token; a controller for other credentials gives its own. */
@Controller('ng/v1/webhooks')
@Auth('api_token')
@ApiTags('Webhooks')
export class WebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly sender: WebhookSender,
    private readonly kinds: WebhookKinds,
  ) {}

  @Get()
  @Operation('List webhooks', {
    answer: WebhookPage,
    success: 'All webhooks of the account whose kinds the token may have, on one page.',
  })
  async listWebhooks(
    @AccountId() account: string,
    caller: CallerKinds = 'token',
  ): Promise<WebhookPage> {
    const endpoints = await this.endpoints.list(account, caller);
    return { data: endpoints.map(webhookOf), next_cursor: null };
  }

  @Post()
  @Operation('Add a webhook', {
    status: 201,
    answer: WebhookWithSecret,
    success: 'The webhook and its signing secret.',
  })
  async createWebhook(
    @AccountId() account: string,
    @JsonBody(CreateWebhook) { url, events }: CreateWebhook,
    caller: CallerKinds = 'token',
  ): Promise<WebhookWithSecret> {
    this.kinds.check(events, caller);
    return webhookWithSecretOf(await this.endpoints.add(account, url, events, undefined, caller));
  }

  @Get(':id')
  @Operation('Read a webhook', { answer: Webhook, success: 'The webhook.' })
  async readWebhook(
    @AccountId() account: string,
    @WebhookId() id: string,
    caller: CallerKinds = 'token',
  ): Promise<Webhook> {
    return webhookOf(await this.endpoints.get(account, id, caller));
  }

  @Patch(':id')
  @Operation('Move, disable or enable a webhook', {
    description: 'An enabled webhook gets the callbacks that became due while it was disabled.',
    answer: Webhook,
    success: 'The webhook as it is now.',
  })
  async updateWebhook(
    @AccountId() account: string,
    @WebhookId() id: string,
    @JsonBody(UpdateWebhook) change: UpdateWebhook,
    caller: CallerKinds = 'token',
  ): Promise<Webhook> {
    this.kinds.check(change.events, caller);
    const endpoint = await this.endpoints.update(account, id, change, undefined, caller);
    if (endpoint.disabledAt === null) this.sender.wake(endpoint.id);
    return webhookOf(endpoint);
  }

  @Delete(':id')
  @Operation('Delete a webhook', {
    status: 204,
    success: 'The webhook and its deliveries are deleted.',
  })
  async deleteWebhook(
    @AccountId() account: string,
    @WebhookId() id: string,
    caller: CallerKinds = 'token',
  ): Promise<void> {
    await this.endpoints.remove(account, id, undefined, caller);
  }

  @Post(':id/rotate-secret')
  @Operation('Make a new signing secret', {
    description: 'For 24 hours callbacks are also signed with the old secret.',
    answer: WebhookWithSecret,
    success: 'The webhook and its new secret.',
  })
  async rotateWebhookSecret(
    @AccountId() account: string,
    @WebhookId() id: string,
    caller: CallerKinds = 'token',
  ): Promise<WebhookWithSecret> {
    return webhookWithSecretOf(await this.endpoints.rotateSecret(account, id, undefined, caller));
  }

  @Get(':id/attempts')
  @Operation('List the attempts, newest first', {
    answer: WebhookAttemptPage,
    success: 'A page of attempts.',
  })
  async listWebhookAttempts(
    @AccountId() account: string,
    @WebhookId() id: string,
    @ValidQuery(ListQuery) query: ListQuery,
    caller: CallerKinds = 'token',
  ): Promise<WebhookAttemptPage> {
    return pageOf(await this.endpoints.attempts(account, id, query, caller), webhookAttemptOf);
  }

  @Post(':id/redeliver')
  @Operation('Send callbacks again', {
    description:
      'One delivery, all deliveries since a time, or without either all that were not delivered.',
    status: 202,
    answer: Redelivered,
    success: 'The number of deliveries that are due again.',
  })
  async redeliverWebhook(
    @AccountId() account: string,
    @WebhookId() id: string,
    @JsonBody(RedeliverWebhook, { optional: true })
    { since, delivery_id }: RedeliverWebhook,
    caller: CallerKinds = 'token',
  ): Promise<Redelivered> {
    const wanted = { deliveryId: delivery_id?.toLowerCase(), since: parseTimestamp(since) };
    const redelivered = await this.endpoints.redeliver(account, id, wanted, undefined, caller);
    if (redelivered > 0) this.sender.wake(id);
    return { redelivered };
  }
}
