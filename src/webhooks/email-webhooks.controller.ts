import { ChannelRegistry } from '@dundun/messaging';
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth } from '../accounts/auth.guard.js';
import { Operation } from '../http/operation.decorator.js';
import { ListQuery } from '../http/page.dto.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';
import {
  CreateWebhook,
  Redelivered,
  RedeliverWebhook,
  UpdateWebhook,
  Webhook,
  WebhookAttemptPage,
  WebhookPage,
  WebhookWithSecret,
} from './webhooks.dto.js';

const SAME = 'The same webhooks as at `/ng/v1/webhooks`, with a key.';

/** The account's webhooks for holders of a key. */
@Controller('email/ng/v1/webhooks')
@Auth('api_key', 'email:webhooks')
@ApiTags('Webhooks')
export class EmailWebhooksController {
  readonly #webhooks: WebhooksController;

  constructor(
    endpoints: WebhookEndpointsService,
    sender: WebhookSender,
    channels: ChannelRegistry,
  ) {
    this.#webhooks = new WebhooksController(endpoints, sender, channels);
  }

  @Get()
  @Operation('List webhooks with a key', {
    description: SAME,
    answer: WebhookPage,
    success: 'All webhooks of the account, on one page.',
  })
  listEmailWebhooks(@AccountId() account: string): Promise<WebhookPage> {
    return this.#webhooks.listWebhooks(account);
  }

  @Post()
  @Operation('Add a webhook with a key', {
    description: SAME,
    status: 201,
    answer: WebhookWithSecret,
    success: 'The webhook and its signing secret.',
  })
  createEmailWebhook(
    @AccountId() account: string,
    @JsonBody(CreateWebhook) request: CreateWebhook,
  ): Promise<WebhookWithSecret> {
    return this.#webhooks.createWebhook(account, request);
  }

  @Get(':id')
  @Operation('Read a webhook with a key', {
    description: SAME,
    answer: Webhook,
    success: 'The webhook.',
  })
  readEmailWebhook(@AccountId() account: string, @Param('id') id: string): Promise<Webhook> {
    return this.#webhooks.readWebhook(account, id.toLowerCase());
  }

  @Patch(':id')
  @Operation('Move, disable or enable a webhook with a key', {
    description: 'An enabled webhook gets the callbacks that became due while it was disabled.',
    answer: Webhook,
    success: 'The webhook as it is now.',
  })
  updateEmailWebhook(
    @AccountId() account: string,
    @Param('id') id: string,
    @JsonBody(UpdateWebhook) change: UpdateWebhook,
  ): Promise<Webhook> {
    return this.#webhooks.updateWebhook(account, id.toLowerCase(), change);
  }

  @Delete(':id')
  @Operation('Delete a webhook with a key', {
    description: SAME,
    status: 204,
    success: 'The webhook and its deliveries are deleted.',
  })
  deleteEmailWebhook(@AccountId() account: string, @Param('id') id: string): Promise<void> {
    return this.#webhooks.deleteWebhook(account, id.toLowerCase());
  }

  @Post(':id/rotate-secret')
  @Operation('Make a new signing secret with a key', {
    description: 'For 24 hours callbacks are also signed with the old secret.',
    answer: WebhookWithSecret,
    success: 'The webhook and its new secret.',
  })
  rotateEmailWebhookSecret(
    @AccountId() account: string,
    @Param('id') id: string,
  ): Promise<WebhookWithSecret> {
    return this.#webhooks.rotateWebhookSecret(account, id.toLowerCase());
  }

  @Get(':id/attempts')
  @Operation('List the attempts with a key, newest first', {
    answer: WebhookAttemptPage,
    success: 'A page of attempts.',
  })
  listEmailWebhookAttempts(
    @AccountId() account: string,
    @Param('id') id: string,
    @ValidQuery(ListQuery) query: ListQuery,
  ): Promise<WebhookAttemptPage> {
    return this.#webhooks.listWebhookAttempts(account, id.toLowerCase(), query);
  }

  @Post(':id/redeliver')
  @Operation('Send callbacks again with a key', {
    description:
      'One delivery, all deliveries since a time, or without either all that were not delivered.',
    status: 202,
    answer: Redelivered,
    success: 'The number of deliveries that are due again.',
  })
  redeliverEmailWebhook(
    @AccountId() account: string,
    @Param('id') id: string,
    @JsonBody(RedeliverWebhook, { optional: true }) request: RedeliverWebhook,
  ): Promise<Redelivered> {
    return this.#webhooks.redeliverWebhook(account, id.toLowerCase(), request);
  }
}
