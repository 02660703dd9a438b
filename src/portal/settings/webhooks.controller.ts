import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { maskedText } from '@dundun/dashboard';
import { MessageHistory } from '@dundun/messaging/operations';
import { Delete, Get, HttpCode, Inject, Param, Patch, Post } from '@nestjs/common';
import { ChargeStore } from '../../billing/charging/charge.store.js';
import { amountText } from '../../billing/money.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import { CallbackCatalogue } from '../../webhooks/callback-catalogue.js';
import { WebhookAttempts } from '../../webhooks/webhook-attempts.js';
import {
  type MessageCallback as StoredCallback,
  WebhookEndpointsService,
} from '../../webhooks/webhook-endpoints.service.js';
import { WebhookKinds } from '../../webhooks/webhook-kinds.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from '../../webhooks/webhook-options.js';
import { WebhookSender } from '../../webhooks/webhook-sender.js';
import { CreateWebhook, UpdateWebhook, webhookAttemptOf } from '../../webhooks/webhooks.dto.js';
import type {
  AttemptError,
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
} from '../../webhooks/webhooks.tables.js';
import { Audit } from '../audit.js';
import { AttemptsQuery, listedOf, RedeliverBody, SuccessQuery } from '../portal.dto.js';
import { maskedCallback } from '../masking.js';
import type {
  Listed,
  MessageCallback,
  MessageCallbacks,
  Redelivered,
  TestEvent,
  Webhook,
  WebhookAttempt,
  WebhookEvents,
  WebhookPeriod,
  Webhooks,
  WebhookSecret,
  WebhookSuccess,
} from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { Caller, type InAccount } from '../portal-request.js';

const HOUR = 3_600_000;

/** Milliseconds of a slot, and how many there are. */
const SLOTS: Readonly<Record<WebhookPeriod, readonly [slot: number, slots: number]>> = {
  '24h': [HOUR, 24],
  '14d': [24 * HOUR, 14],
};

/** The account's webhooks: the same as those of the API. */
@PortalController('webhooks')
export class PortalWebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly sender: WebhookSender,
    private readonly kinds: WebhookKinds,
    private readonly audit: Audit,
    @Inject(WEBHOOK_OPTIONS) private readonly options: WebhookOptions,
    private readonly reads: WebhookAttempts,
    private readonly catalogue: CallbackCatalogue,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  @Get()
  @PortalAccess('viewer')
  async list(@Caller() { accountId: id }: InAccount): Promise<Webhooks> {
    return {
      data: (await this.endpoints.list(id)).map(webhookOf),
      most: this.options.maxEndpoints,
      kinds: this.kinds.all,
    };
  }

  @Get('events')
  @PortalAccess('viewer')
  events(): WebhookEvents {
    const data = this.catalogue.kinds.map(({ example, ...kind }) => ({
      ...kind,
      example: JSON.stringify(example, undefined, 2),
    }));
    return { data };
  }

  @Post()
  @PortalAccess('admin')
  async add(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(CreateWebhook) { url, events }: CreateWebhook,
  ): Promise<WebhookSecret> {
    this.kinds.check(events);
    const also = this.audit.also(actor, 'webhook.added');
    return secretOf(await this.endpoints.add(id, url, events, also));
  }

  @Patch(':id')
  @PortalAccess('admin')
  async change(
    @Caller() { accountId, actor }: InAccount,
    @Param('id') id: string,
    @JsonBody(UpdateWebhook) change: UpdateWebhook,
  ): Promise<Webhook> {
    this.kinds.check(change.events);
    const also = this.audit.also(actor, 'webhook.changed', id);
    const changed = await this.endpoints.update(accountId, id, change, also);
    if (changed.disabledAt === null) this.sender.wake(changed.id);
    return webhookOf(changed);
  }

  @Delete(':id')
  @HttpCode(204)
  @PortalAccess('admin')
  async remove(@Caller() { accountId, actor }: InAccount, @Param('id') id: string): Promise<void> {
    await this.endpoints.remove(accountId, id, this.audit.also(actor, 'webhook.deleted', id));
  }

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @PortalAccess('admin')
  async rotateSecret(
    @Caller() { accountId, actor }: InAccount,
    @Param('id') id: string,
  ): Promise<WebhookSecret> {
    const also = this.audit.also(actor, 'webhook.secret_rotated', id);
    return secretOf(await this.endpoints.rotateSecret(accountId, id, also));
  }

  @Post(':id/test')
  @HttpCode(202)
  @PortalAccess('admin')
  async test(
    @Caller() { accountId, actor }: InAccount,
    @Param('id') id: string,
  ): Promise<TestEvent> {
    const also = this.audit.also(actor, 'webhook.tested', id);
    const deliveryId = await this.endpoints.test(accountId, id, also);
    this.sender.wake(id);
    return { deliveryId };
  }

  @Get(':id/attempts')
  @PortalAccess('viewer')
  async attempts(
    @Caller() { accountId }: InAccount,
    @Param('id') id: string,
    @ValidQuery(AttemptsQuery) { cursor, limit, event, result, code, since, until }: AttemptsQuery,
  ): Promise<Listed<WebhookAttempt>> {
    const endpoint = await this.endpoints.get(accountId, id);
    const times = { since: timeOf(since), until: timeOf(until) };
    const filter = { event, result, code, ...times };
    const page = await this.reads.page(endpoint.id, filter, { cursor, limit });
    const deliveries = await this.endpoints.deliveriesOf(page.data);
    const redeliveries = await this.reads.redeliveriesOf(page.data);
    return listedOf(page, (attempt) => ({
      ...attemptOf(attempt, deliveries.get(attempt.deliveryId)),
      redeliveries: redeliveries.get(attempt.position) ?? 0,
    }));
  }

  @Get(':id/success')
  @PortalAccess('viewer')
  async success(
    @Caller() { accountId }: InAccount,
    @Param('id') id: string,
    @ValidQuery(SuccessQuery) { period = '24h' }: SuccessQuery,
  ): Promise<WebhookSuccess> {
    const endpoint = await this.endpoints.get(accountId, id);
    const [slot, slots] = SLOTS[period];
    const since = Math.floor(this.clock.now() / slot) * slot - (slots - 1) * slot;
    const counts = await this.reads.counts(endpoint.id, since, slot);
    const known = new Map(counts.slots.map((one) => [one.at, one]));
    const all = Array.from({ length: slots }, (_, n) => since + n * slot);
    return {
      slots: all.map((at) => ({
        at: new Date(at).toISOString(),
        succeeded: known.get(at)?.succeeded ?? 0,
        failed: known.get(at)?.failed ?? 0,
      })),
      countedSince: counts.isPartial ? timestamp(counts.slots[0]?.at ?? since) : null,
    };
  }

  @Post(':id/redeliver')
  @HttpCode(202)
  @PortalAccess('admin')
  async redeliver(
    @Caller() { accountId, actor }: InAccount,
    @Param('id') id: string,
    @JsonBody(RedeliverBody) { since, deliveryId }: RedeliverBody,
  ): Promise<Redelivered> {
    const wanted = { deliveryId: deliveryId?.toLowerCase(), since: parseTimestamp(since) };
    const also = this.audit.also(actor, 'webhook.redelivered', deliveryId ?? id);
    const redelivered = await this.endpoints.redeliver(accountId, id, wanted, also);
    if (redelivered > 0) this.sender.wake(id);
    return { redelivered };
  }
}

/** What a page of a message shows beside the message itself. */
@PortalController('callbacks')
export class CallbacksController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly history: MessageHistory,
    private readonly charges: ChargeStore,
  ) {}

  @Get(':message')
  @PortalAccess('viewer')
  async ofMessage(
    @Caller() { accountId }: InAccount,
    @Param('message') message: string,
  ): Promise<MessageCallbacks> {
    const { id, batchId } = await this.history.message(message, { tenants: [accountId] });
    const found = await this.endpoints.callbacksOf(accountId, id);
    const { deliveryReport: asked } = await this.history.batch(batchId);
    const [batch] = await this.charges.find([batchId]);
    return {
      charge: batch
        ? { amount: amountText(batch.reserved + batch.charged), currency: batch.currency }
        : null,
      asked,
      data: found.map(callbackOf),
    };
  }
}

function callbackOf({ delivery, url, attempts }: StoredCallback): MessageCallback {
  const { id, endpointId, type, createdAt } = delivery;
  return {
    deliveryId: id,
    webhookId: endpointId,
    url,
    type,
    status: statusIn(delivery.payload),
    createdAt: new Date(createdAt).toISOString(),
    ...stateOf(delivery),
    attempts: attempts.map((attempt) => {
      const { attempted_at: at, error } = webhookAttemptOf(attempt);
      return { at, durationMs: attempt.duration, statusCode: attempt.status, error };
    }),
  };
}

/** The `data.status` of a callback. */
function statusIn(payload: string): string | null {
  const { data } = JSON.parse(payload) as { data?: { status?: unknown } };
  return typeof data?.status === 'string' ? data.status : null;
}

/** @param delivery `undefined`: deleted after 14 days */
function stateOf(
  delivery: WebhookDeliveryEntity | undefined,
): Pick<MessageCallback, 'state' | 'nextAttemptAt'> {
  if (!delivery) return { state: 'exhausted', nextAttemptAt: null };
  const { deliveredAt, dueAt, createdAt } = delivery;
  if (deliveredAt !== null) return { state: 'delivered', nextAttemptAt: null };
  if (dueAt === null) return { state: 'exhausted', nextAttemptAt: null };
  return { state: 'due', nextAttemptAt: timestamp(dueAt || createdAt) };
}

function webhookOf(endpoint: WebhookEndpointEntity): Webhook {
  const { id, url, events, disabledAt, disabledReason, failingSince, createdAt } = endpoint;
  return {
    id,
    url,
    events,
    status: disabledAt === null ? 'enabled' : 'disabled',
    disabledReason,
    disabledAt: timestamp(disabledAt),
    failingSince: timestamp(failingSince),
    createdAt: new Date(createdAt).toISOString(),
    previousSecretUntil: timestamp(endpoint.previousUntil),
  };
}

function secretOf(endpoint: WebhookEndpointEntity): WebhookSecret {
  return { webhook: webhookOf(endpoint), secret: endpoint.secret };
}

/** Remedies by the cause of a failed attempt, as accounts are told it. */
const REMEDIES: Readonly<Record<AttemptError | 'no_public_address', string>> = {
  http_status: 'The receiver answered with an error; look into its log, and answer 2xx.',
  redirect: 'The receiver redirects, which is not followed; set the URL that it redirects to.',
  gone: 'The receiver answered 410, so the webhook was disabled; enable it when it is back.',
  timeout: 'No answer came within 15 seconds; answer first and work afterwards.',
  connection_refused:
    'Nothing listens at this address and port; start the receiver, check the URL.',
  connection_lost: 'The connection ended before an answer; look into the receiver’s log.',
  host_not_found: 'The name of the host has no address; check the URL.',
  address_forbidden: 'The host has a private address; set a URL that is reachable from outside.',
  no_public_address: 'The host has no public address; check the name in the URL.',
  port_forbidden: 'The gateway calls no webhook at this port; set a URL with another one.',
  tls: 'The certificate is not valid for this host; renew it, with its whole chain.',
  invalid_response: 'The answer is not HTTP; check the port of the URL.',
  invalid_url: 'The URL cannot be called; set another one.',
  unreachable: 'The host cannot be reached; check that it runs and its firewall.',
};

function attemptOf(
  attempt: WebhookAttemptEntity,
  delivery: WebhookDeliveryEntity | undefined,
): Omit<WebhookAttempt, 'redeliveries'> {
  const told = webhookAttemptOf(attempt);
  const error = told.error as keyof typeof REMEDIES | null;
  return {
    deliveryId: attempt.deliveryId,
    messageId: attempt.messageId,
    type: /^\{"type":"([^"]*)"/.exec(delivery?.payload ?? '')?.[1] ?? '',
    status: delivery ? statusIn(delivery.payload) : null,
    attempt: attempt.attempt,
    at: told.attempted_at,
    durationMs: attempt.duration,
    statusCode: attempt.status,
    error,
    errorText: error && REMEDIES[error],
    request: delivery ? maskedCallback(delivery.payload) : null,
    response: attempt.response && maskedText(attempt.response),
    ...stateOf(delivery),
  };
}

function timeOf(text: string | undefined): number | undefined {
  return parseTimestamp(text)?.getTime();
}

function timestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
