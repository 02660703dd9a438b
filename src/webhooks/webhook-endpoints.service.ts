import { type Clock, MESSAGING_CLOCK, MessagingService, type Page } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { type DataSource, type EntityManager, LessThan } from 'typeorm';
import { forUpdate, lockAccount } from '../accounts/accounts.service.js';
import { ApiError, invalidField } from '../http/api-error.js';
import type { PageQuery } from '../http/page.dto.js';
import { Secrets } from '../secrets/secrets.js';
import { checkWebhookUrl } from './webhook-address.js';
import { type Redelivery, WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WEBHOOK_SECRETS, WebhookAttemptEntity, WebhookEndpointEntity } from './webhooks.tables.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';
import { newWebhookSecret } from './webhook-signature.js';

/** A move to another URL; `enabled: true` also sends what became due while it was disabled. */
interface WebhookChange {
  readonly url?: string | undefined;
  /** Kinds of events; `null`: every kind. */
  readonly events?: readonly string[] | null | undefined;
  readonly enabled?: boolean | undefined;
}

type Endpoint = WebhookEndpointEntity;

/** PostgreSQL refuses to compare other texts with an id. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Lanes at work follow a change within half a second. */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    @Inject(getDataSourceToken()) private readonly dataSource: DataSource,
    @Inject(MessagingService) private readonly messaging: Pick<MessagingService, 'transaction'>,
    private readonly deliveries: WebhookDeliveryStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
    @Inject(WEBHOOK_OPTIONS) private readonly options: WebhookOptions,
    private readonly secrets: Secrets,
  ) {}

  /**
   * Creates the account's first endpoint, or changes its URL and keeps id and secret; enables it.
   * @throws ApiError 422 for an invalid URL, 404 for an unknown account
   */
  set(
    accountId: string,
    url: string,
  ): Promise<{ webhook_id: string; url: string; secret: string }> {
    checkWebhookUrl(url, this.options);
    return this.#write(accountId, async (manager) => {
      const where = { accountId, slot: 0 };
      const first =
        (await manager.findOne(WebhookEndpointEntity, { where, ...forUpdate(manager) })) ??
        this.#new(accountId, 0, url);
      this.#apply({ url, enabled: true }, first);
      const { id, secret } = this.#revealed(await manager.save(first));
      return { webhook_id: id, url, secret };
    });
  }

  /**
   * Every endpoint of the account receives every callback of its `events`. Returns it with its
   * secret decrypted.
   * @throws ApiError 422 for an invalid URL, a duplicate URL, or more endpoints than allowed
   */
  add(accountId: string, url: string, events: readonly string[] | null = null): Promise<Endpoint> {
    checkWebhookUrl(url, this.options);
    return this.#write(accountId, async (manager) => {
      const { maxEndpoints } = this.options;
      const known = await manager.findBy(WebhookEndpointEntity, { accountId });
      if (known.some((endpoint) => endpoint.url === url))
        throw invalidField('url', 'is a webhook of this account already');
      let slot = 0;
      while (known.some((endpoint) => endpoint.slot === slot)) slot++;
      if (slot >= maxEndpoints)
        throw invalidField(
          'url',
          `is one too many: an account has at most ${maxEndpoints} webhooks; delete one first`,
        );
      const created = Object.assign(this.#new(accountId, slot, url), { events });
      return this.#revealed(await manager.save(created));
    });
  }

  list(accountId: string): Promise<Endpoint[]> {
    const slots = { where: { accountId }, order: { slot: 'ASC' } } as const;
    return this.dataSource.manager.find(WebhookEndpointEntity, slots);
  }

  /** @throws ApiError 404 where the account has no such endpoint */
  get(accountId: string, id: string): Promise<Endpoint> {
    return endpointOf(this.dataSource.manager, accountId, id);
  }

  update(accountId: string, id: string, change: WebhookChange): Promise<Endpoint> {
    if (change.url !== undefined) checkWebhookUrl(change.url, this.options);
    return this.#change(accountId, id, (known) => this.#apply(change, known));
  }

  /**
   * The former secrets also sign for a day, so that the receiver can change over. Returns the
   * endpoint with its new secret decrypted.
   */
  async rotateSecret(accountId: string, id: string): Promise<Endpoint> {
    const rotated = await this.#change(accountId, id, (known) => {
      const { secret, previousSecrets, previousUntil } = known;
      const now = this.clock.now();
      const isRotating = previousSecrets !== null && now < (previousUntil ?? 0);
      const last = this.secrets.open(WEBHOOK_SECRETS.secret, known.id, secret);
      const former = isRotating
        ? this.secrets.open(WEBHOOK_SECRETS.previous, known.id, previousSecrets).split(' ')
        : [];
      // The one before the last still signs, in case the response with the last one was lost.
      const previous = [last, ...former].slice(0, 2).join(' ');
      known.secret = this.secrets.seal(WEBHOOK_SECRETS.secret, known.id, newWebhookSecret());
      known.previousSecrets = this.secrets.seal(WEBHOOK_SECRETS.previous, known.id, previous);
      known.previousUntil = now + this.options.rotation;
    });
    return this.#revealed(rotated);
  }

  async remove(accountId: string, id: string): Promise<void> {
    const { id: known } = await this.get(accountId, id);
    await this.#write(accountId, (manager) => manager.delete(WebhookEndpointEntity, { id: known }));
    await this.deliveries.removeOf(known);
  }

  /** Newest first. @throws ApiError 404 where the account has no such endpoint, 422 on `cursor` */
  async attempts(
    accountId: string,
    id: string,
    { cursor = String(Number.MAX_SAFE_INTEGER), limit }: PageQuery,
  ): Promise<Page<WebhookAttemptEntity>> {
    const { id: endpointId } = await this.get(accountId, id);
    if (!/^\d{1,16}$/.test(cursor))
      throw invalidField('cursor', 'must be the next_cursor of the page before');
    const found = await this.dataSource.manager.find(WebhookAttemptEntity, {
      where: { endpointId, position: LessThan(Number(cursor)) },
      order: { position: 'DESC' },
      take: limit + 1,
    });
    const data = found.slice(0, limit);
    const last = data.at(-1);
    return { data, nextCursor: last && found.length > limit ? String(last.position) : null };
  }

  /**
   * Makes deliveries due at once, under the same `webhook-id` and with a new schedule, and returns
   * their number. A disabled endpoint receives them after it is enabled.
   * @throws ApiError 404 where the account has no such endpoint, or the endpoint no such delivery
   */
  async redeliver(accountId: string, endpointId: string, wanted: Redelivery = {}): Promise<number> {
    const { id } = await this.get(accountId, endpointId);
    const { deliveryId } = wanted;
    const isId = deliveryId === undefined || UUID.test(deliveryId);
    const count = isId ? await this.deliveries.redeliver(id, wanted, this.clock.now()) : 0;
    if (count === 0 && deliveryId !== undefined)
      throw new ApiError('not_found', `This webhook has no delivery ${deliveryId.slice(0, 64)}`);
    return count;
  }

  #apply({ url, events, enabled }: WebhookChange, known: Endpoint): void {
    if (events !== undefined) known.events = events;
    const isDisabled = known.disabledAt !== null;
    if (url !== undefined && url !== known.url) Object.assign(known, { url, failingSince: null });
    if (enabled === true && isDisabled)
      Object.assign(known, { disabledAt: null, disabledReason: null, failingSince: null });
    if (enabled === false && !isDisabled)
      Object.assign(known, { disabledAt: this.clock.now(), disabledReason: 'account' });
  }

  /** A copy with its secret decrypted. */
  #revealed(endpoint: Endpoint): Endpoint {
    const secret = this.secrets.open(WEBHOOK_SECRETS.secret, endpoint.id, endpoint.secret);
    return Object.assign(new WebhookEndpointEntity(), endpoint, { secret });
  }

  #new(accountId: string, slot: number, url: string): Endpoint {
    const id = this.clock.id();
    return Object.assign(new WebhookEndpointEntity(), {
      id,
      accountId,
      slot,
      url,
      secret: this.secrets.seal(WEBHOOK_SECRETS.secret, id, newWebhookSecret()),
      createdAt: this.clock.now(),
    });
  }

  #change(accountId: string, id: string, apply: (known: Endpoint) => void): Promise<Endpoint> {
    return this.#write(accountId, async (manager) => {
      const known = await endpointOf(manager, accountId, id, forUpdate(manager));
      apply(known);
      return manager.save(known);
    });
  }

  /** Changes of an account's endpoints are made one after another. */
  #write<T>(accountId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      return work(manager);
    });
  }
}

/** @throws ApiError 404 where the account has no such endpoint */
async function endpointOf(
  manager: EntityManager,
  accountId: string,
  id: string,
  options: ReturnType<typeof forUpdate> = {},
): Promise<Endpoint> {
  const found = UUID.test(id)
    ? await manager.findOne(WebhookEndpointEntity, { where: { id, accountId }, ...options })
    : null;
  if (!found) throw new ApiError('not_found', `There is no webhook ${id.slice(0, 64)}`);
  return found;
}
