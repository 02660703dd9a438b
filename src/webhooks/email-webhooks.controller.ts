import {
  Controller,
  createParamDecorator,
  Delete,
  type ExecutionContext,
  Get,
  Param,
  Patch,
  Post,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth, type AuthenticatedRequest } from '../accounts/auth.guard.js';
import { requestOf } from '../http/http-message.js';
import { Operation } from '../http/operation.decorator.js';
import { ListQuery } from '../http/page.dto.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { type CallerKinds, WebhookKinds } from './webhook-kinds.js';
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

const SAME =
  'The webhooks whose kinds the key may have: `email.*`, and with the scope `whatsapp:read` also `whatsapp.*`.';

/** The kinds that the key of the request may have. */
const KeyKinds = createParamDecorator((_data: unknown, context: ExecutionContext): CallerKinds => {
  const { account } = requestOf<AuthenticatedRequest>(context);
  return account?.scopes.includes('whatsapp:read') ? 'email_whatsapp' : 'email';
});

/** The account's webhooks for holders of a key. */
@Controller('email/ng/v1/webhooks')
@Auth('api_key', 'email:webhooks')
@ApiTags('Webhooks')
export class EmailWebhooksController {
  readonly #webhooks: WebhooksController;

  constructor(endpoints: WebhookEndpointsService, sender: WebhookSender, kinds: WebhookKinds) {
    this.#webhooks = new WebhooksController(endpoints, sender, kinds);
  }

  @Get()
  @Operation('List webhooks with a key', {
    description: SAME,
    answer: WebhookPage,
    success: 'The webhooks, on one page.',
  })
  listEmailWebhooks(
    @AccountId() account: string,
    @KeyKinds() kinds: CallerKinds,
  ): Promise<WebhookPage> {
    return this.#webhooks.listWebhooks(account, kinds);
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
    @KeyKinds() kinds: CallerKinds,
  ): Promise<WebhookWithSecret> {
    return this.#webhooks.createWebhook(account, request, kinds);
  }

  @Get(':id')
  @Operation('Read a webhook with a key', {
    description: SAME,
    answer: Webhook,
    success: 'The webhook.',
  })
  readEmailWebhook(
    @AccountId() account: string,
    @Param('id') id: string,
    @KeyKinds() kinds: CallerKinds,
  ): Promise<Webhook> {
    return this.#webhooks.readWebhook(account, id.toLowerCase(), kinds);
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
    @KeyKinds() kinds: CallerKinds,
  ): Promise<Webhook> {
    return this.#webhooks.updateWebhook(account, id.toLowerCase(), change, kinds);
  }

  @Delete(':id')
  @Operation('Delete a webhook with a key', {
    description: SAME,
    status: 204,
    success: 'The webhook and its deliveries are deleted.',
  })
  deleteEmailWebhook(
    @AccountId() account: string,
    @Param('id') id: string,
    @KeyKinds() kinds: CallerKinds,
  ): Promise<void> {
    return this.#webhooks.deleteWebhook(account, id.toLowerCase(), kinds);
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
    @KeyKinds() kinds: CallerKinds,
  ): Promise<WebhookWithSecret> {
    return this.#webhooks.rotateWebhookSecret(account, id.toLowerCase(), kinds);
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
    @KeyKinds() kinds: CallerKinds,
  ): Promise<WebhookAttemptPage> {
    return this.#webhooks.listWebhookAttempts(account, id.toLowerCase(), query, kinds);
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
    @KeyKinds() kinds: CallerKinds,
  ): Promise<Redelivered> {
    return this.#webhooks.redeliverWebhook(account, id.toLowerCase(), request, kinds);
  }
}
