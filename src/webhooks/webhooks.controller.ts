import {
  Controller,
  createParamDecorator,
  Delete,
  type ExecutionContext,
  Get,
  Injectable,
  Param,
  Patch,
  Post,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth, type AuthenticatedRequest } from '../accounts/auth.guard.js';
import { WEBHOOKS_SCOPE } from '../channel.js';
import { requestOf } from '../http/http-message.js';
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

interface Callers {
  /** The kinds of callbacks that the credential of a request may have. */
  readonly Kinds: () => ParameterDecorator;
  /** Part of the ids of operations. */
  readonly noun: string;
  /** Part of the summaries. */
  readonly by?: string;
  readonly description: string;
  /** What a list has. */
  readonly listed: string;
}

/** The account's webhooks for the holders of one kind of credential. */
function WebhookRoutes({ Kinds, noun, by = '', description, listed }: Callers) {
  @Injectable()
  class Routes {
    constructor(
      readonly endpoints: WebhookEndpointsService,
      readonly sender: WebhookSender,
      readonly kinds: WebhookKinds,
    ) {}

    @Get()
    @Operation(`List webhooks${by}`, {
      id: `list${noun}s`,
      description,
      answer: WebhookPage,
      success: listed,
    })
    async list(@AccountId() account: string, @Kinds() caller: CallerKinds): Promise<WebhookPage> {
      const endpoints = await this.endpoints.list(account, caller);
      return { data: endpoints.map(webhookOf), next_cursor: null };
    }

    @Post()
    @Operation(`Add a webhook${by}`, {
      id: `create${noun}`,
      description,
      status: 201,
      answer: WebhookWithSecret,
      success: 'The webhook and its signing secret.',
    })
    async create(
      @AccountId() account: string,
      @JsonBody(CreateWebhook) { url, events }: CreateWebhook,
      @Kinds() caller: CallerKinds,
    ): Promise<WebhookWithSecret> {
      this.kinds.check(events, caller);
      return webhookWithSecretOf(await this.endpoints.add(account, url, events, undefined, caller));
    }

    @Get(':id')
    @Operation(`Read a webhook${by}`, {
      id: `read${noun}`,
      description,
      answer: Webhook,
      success: 'The webhook.',
    })
    async read(
      @AccountId() account: string,
      @WebhookId() id: string,
      @Kinds() caller: CallerKinds,
    ): Promise<Webhook> {
      return webhookOf(await this.endpoints.get(account, id, caller));
    }

    @Patch(':id')
    @Operation(`Move, disable or enable a webhook${by}`, {
      id: `update${noun}`,
      description: 'An enabled webhook gets the callbacks that became due while it was disabled.',
      answer: Webhook,
      success: 'The webhook as it is now.',
    })
    async update(
      @AccountId() account: string,
      @WebhookId() id: string,
      @JsonBody(UpdateWebhook) change: UpdateWebhook,
      @Kinds() caller: CallerKinds,
    ): Promise<Webhook> {
      this.kinds.check(change.events, caller);
      const endpoint = await this.endpoints.update(account, id, change, undefined, caller);
      if (endpoint.disabledAt === null) this.sender.wake(endpoint.id);
      return webhookOf(endpoint);
    }

    @Delete(':id')
    @Operation(`Delete a webhook${by}`, {
      id: `delete${noun}`,
      description,
      status: 204,
      success: 'The webhook and its deliveries are deleted.',
    })
    async delete(
      @AccountId() account: string,
      @WebhookId() id: string,
      @Kinds() caller: CallerKinds,
    ): Promise<void> {
      await this.endpoints.remove(account, id, undefined, caller);
    }

    @Post(':id/rotate-secret')
    @Operation(`Make a new signing secret${by}`, {
      id: `rotate${noun}Secret`,
      description: 'For 24 hours callbacks are also signed with the old secret.',
      answer: WebhookWithSecret,
      success: 'The webhook and its new secret.',
    })
    async rotateSecret(
      @AccountId() account: string,
      @WebhookId() id: string,
      @Kinds() caller: CallerKinds,
    ): Promise<WebhookWithSecret> {
      return webhookWithSecretOf(await this.endpoints.rotateSecret(account, id, undefined, caller));
    }

    @Get(':id/attempts')
    @Operation(`List the attempts${by}, newest first`, {
      id: `list${noun}Attempts`,
      description:
        'Each call of the webhook with its answer, for 14 days; a delivery has one for each try.',
      answer: WebhookAttemptPage,
      success: 'A page of attempts.',
    })
    async attempts(
      @AccountId() account: string,
      @WebhookId() id: string,
      @ValidQuery(ListQuery) query: ListQuery,
      @Kinds() caller: CallerKinds,
    ): Promise<WebhookAttemptPage> {
      return pageOf(await this.endpoints.attempts(account, id, query, caller), webhookAttemptOf);
    }

    @Post(':id/redeliver')
    @Operation(`Send callbacks again${by}`, {
      id: `redeliver${noun}`,
      description:
        'One delivery, all deliveries since a time, or without either all that were not delivered.',
      status: 202,
      answer: Redelivered,
      success: 'The number of deliveries that are due again.',
    })
    async redeliver(
      @AccountId() account: string,
      @WebhookId() id: string,
      @JsonBody(RedeliverWebhook, { optional: true })
      { since, delivery_id }: RedeliverWebhook,
      @Kinds() caller: CallerKinds,
    ): Promise<Redelivered> {
      const wanted = { deliveryId: delivery_id?.toLowerCase(), since: parseTimestamp(since) };
      const redelivered = await this.endpoints.redeliver(account, id, wanted, undefined, caller);
      if (redelivered > 0) this.sender.wake(id);
      return { redelivered };
    }
  }
  return Routes;
}

@Controller('ng/v1/webhooks')
@Auth('api_token', WEBHOOKS_SCOPE)
@ApiTags('Webhooks')
export class WebhooksController extends WebhookRoutes({
  Kinds: createParamDecorator((): CallerKinds => 'token'),
  noun: 'Webhook',
  description: 'The webhooks whose kinds of callbacks the token may have: all but `email.*`.',
  listed: 'All webhooks of the account whose kinds the token may have, on one page.',
}) {}

@Controller('email/ng/v1/webhooks')
@Auth('api_key', 'email:webhooks')
@ApiTags('Webhooks')
export class EmailWebhooksController extends WebhookRoutes({
  Kinds: createParamDecorator((_data: unknown, context: ExecutionContext): CallerKinds => {
    const { account } = requestOf<AuthenticatedRequest>(context);
    return account?.scopes.includes('whatsapp:read') ? 'email_whatsapp' : 'email';
  }),
  noun: 'EmailWebhook',
  by: ' with a key',
  description:
    'The webhooks whose kinds the key may have: `email.*`, and with the scope `whatsapp:read` also `whatsapp.*`.',
  listed: 'The webhooks, on one page.',
}) {}
