import { type Clock, MESSAGING_CLOCK, MessagingService, type Page } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { type DataSource, type EntityManager, In, LessThan } from 'typeorm';
import { type Also, forUpdate, lockAccount } from '../accounts/accounts.service.js';
import { ApiError, invalidField } from '../http/api-error.js';
import type { PageQuery } from '../http/page.dto.js';
import { Secrets } from '../secrets/secrets.js';
import { checkWebhookUrl } from './webhook-address.js';
import { type Redelivery, WebhookDeliveryStore } from './webhook-delivery.store.js';
import { type CallerKinds, mayHaveAll, TEST_EVENT } from './webhook-kinds.js';
import {
  WEBHOOK_SECRETS,
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
} from './webhooks.tables.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';
import { newWebhookSecret } from './webhook-signature.js';

/** A move to another URL; `enabled: true` also sends deliveries that became due while it was disabled. */
interface WebhookChange {
  readonly url?: string | undefined;
  /** Kinds of events; `null`: every kind that the caller may have. */
  readonly events?: readonly string[] | null | undefined;
  readonly enabled?: boolean | undefined;
}

type Endpoint = WebhookEndpointEntity;

/** Most callbacks, and most attempts, of one message that are read. */
const MOST_CALLBACKS = 100;

export interface MessageCallback {
  readonly delivery: WebhookDeliveryEntity;
  readonly url: string;
  readonly attempts: readonly WebhookAttemptEntity[];
}

interface EndpointPlace {
  readonly accountId: string;
  readonly id: string;
  /** @default 'all' */
  readonly caller?: CallerKinds;
}

/** PostgreSQL refuses to compare other texts with an id. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A webhook with a kind of callbacks that the caller may not have does not exist for it: a method that
 * takes `caller` answers 404. The default is that of the portal and the command line.
 *
 * Lanes at work follow a change within half a second.
 */
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
    also?: Also,
  ): Promise<{ webhook_id: string; url: string; secret: string }> {
    checkWebhookUrl(url, this.options);
    return this.#write(accountId, async (manager) => {
      const where = { accountId, slot: 0 };
      const first =
        (await manager.findOne(WebhookEndpointEntity, { where, ...forUpdate(manager) })) ??
        this.#new(accountId, 0, url);
      this.#apply({ url, enabled: true }, first);
      const { id, secret } = this.#revealed(await manager.save(first));
      await also?.(manager, id);
      return { webhook_id: id, url, secret };
    });
  }

  /**
   * Every endpoint of the account receives every callback of its `events`. Returns it with its
   * secret decrypted.
   * @throws ApiError 422 for an invalid URL, a duplicate URL, or more endpoints than allowed
   */
  add(
    accountId: string,
    url: string,
    events: readonly string[] | null = null,
    also?: Also,
    madeFor: CallerKinds = 'all',
  ): Promise<Endpoint> {
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
      const created = Object.assign(this.#new(accountId, slot, url), { events, madeFor });
      const saved = await manager.save(created);
      await also?.(manager, saved.id);
      return this.#revealed(saved);
    });
  }

  async list(accountId: string, caller: CallerKinds = 'all'): Promise<Endpoint[]> {
    const slots = { where: { accountId }, order: { slot: 'ASC' } } as const;
    const all = await this.dataSource.manager.find(WebhookEndpointEntity, slots);
    return all.filter((endpoint) => mayHaveAll(caller, endpoint));
  }

  /** @throws ApiError 404 where the account has no such endpoint */
  get(accountId: string, id: string, caller: CallerKinds = 'all'): Promise<Endpoint> {
    return endpointOf(this.dataSource.manager, { accountId, id, caller });
  }

  update(
    accountId: string,
    id: string,
    change: WebhookChange,
    also?: Also,
    caller: CallerKinds = 'all',
  ): Promise<Endpoint> {
    if (change.url !== undefined) checkWebhookUrl(change.url, this.options);
    const apply = (known: Endpoint) => {
      this.#apply(change, known);
      if (change.events !== undefined) known.madeFor = caller;
    };
    return this.#change({ accountId, id, caller }, apply, also);
  }

  /**
   * The former secrets also sign for a day, so that the receiver can change over. Returns the
   * endpoint with its new secret decrypted.
   */
  async rotateSecret(
    accountId: string,
    id: string,
    also?: Also,
    caller: CallerKinds = 'all',
  ): Promise<Endpoint> {
    const rotate = (known: Endpoint): void => {
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
    };
    return this.#revealed(await this.#change({ accountId, id, caller }, rotate, also));
  }

  async remove(
    accountId: string,
    id: string,
    also?: Also,
    caller: CallerKinds = 'all',
  ): Promise<void> {
    const { id: known } = await this.get(accountId, id, caller);
    await this.#write(accountId, async (manager) => {
      await manager.delete(WebhookEndpointEntity, { id: known });
      await also?.(manager);
    });
    await this.deliveries.removeOf(known);
  }

  /** Newest first. @throws ApiError 404 where the account has no such endpoint, 422 on `cursor` */
  async attempts(
    accountId: string,
    id: string,
    { cursor = String(Number.MAX_SAFE_INTEGER), limit }: PageQuery,
    caller: CallerKinds = 'all',
  ): Promise<Page<WebhookAttemptEntity>> {
    const { id: endpointId } = await this.get(accountId, id, caller);
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
  async redeliver(
    accountId: string,
    endpointId: string,
    wanted: Redelivery = {},
    also?: Also,
    caller: CallerKinds = 'all',
  ): Promise<number> {
    const { id } = await this.get(accountId, endpointId, caller);
    // Before: many deliveries become due in several transactions.
    if (also) await this.messaging.transaction((manager) => also(manager));
    const { deliveryId } = wanted;
    const isId = deliveryId === undefined || UUID.test(deliveryId);
    const count = isId
      ? await this.deliveries.redeliver(id, { ...wanted, caller }, this.clock.now())
      : 0;
    if (count === 0 && deliveryId !== undefined)
      throw new ApiError('not_found', `This webhook has no delivery ${deliveryId.slice(0, 64)}`);
    return count;
  }

  /** The deliveries of attempts of the endpoint, by id, as far as they are kept. */
  async deliveriesOf(
    attempts: readonly WebhookAttemptEntity[],
  ): Promise<ReadonlyMap<string, WebhookDeliveryEntity>> {
    const [first] = attempts;
    if (!first) return new Map();
    const ids = [...new Set(attempts.map(({ deliveryId }) => deliveryId))];
    const found = await this.dataSource.manager.findBy(WebhookDeliveryEntity, {
      endpointId: first.endpointId,
      id: In(ids),
    });
    return new Map(found.map((delivery) => [delivery.id, delivery]));
  }

  /** Callbacks of a message of the account with their attempts, both oldest first, as far as they are kept. */
  async callbacksOf(accountId: string, messageId: string): Promise<readonly MessageCallback[]> {
    const endpoints = new Map((await this.list(accountId)).map((one) => [one.id, one]));
    if (endpoints.size === 0) return [];
    const where = { messageId, endpointId: In([...endpoints.keys()]) };
    const { manager } = this.dataSource;
    const most = { order: { position: 'ASC' }, take: MOST_CALLBACKS } as const;
    const deliveries = await manager.find(WebhookDeliveryEntity, { where, ...most });
    const attempts = await manager.find(WebhookAttemptEntity, { where, ...most });
    return deliveries.map((delivery) => ({
      delivery,
      url: endpoints.get(delivery.endpointId)?.url ?? '',
      attempts: attempts.filter(({ deliveryId }) => deliveryId === delivery.id),
    }));
  }

  /** A callback of type `webhook.test` to this endpoint alone, due at once. @returns its id */
  test(accountId: string, endpointId: string, also?: Also): Promise<string> {
    return this.#write(accountId, async (manager) => {
      const endpoint = await endpointOf(manager, { accountId, id: endpointId });
      if (endpoint.disabledAt !== null)
        throw invalidField('webhook', 'is disabled; enable it before the test');
      const [id, createdAt] = [this.clock.id(), this.clock.now()];
      const timestamp = new Date(createdAt).toISOString();
      const data = { webhook_id: endpoint.id };
      const payload = JSON.stringify({ type: TEST_EVENT, timestamp, data });
      const ids = { id, endpointId: endpoint.id, messageId: id };
      const delivery = { ...ids, sequence: 1, type: TEST_EVENT, createdAt };
      await this.deliveries.insert(manager, [{ ...delivery, payload }]);
      await also?.(manager);
      return id;
    });
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

  #change(place: EndpointPlace, apply: (known: Endpoint) => void, also?: Also): Promise<Endpoint> {
    return this.#write(place.accountId, async (manager) => {
      const known = await endpointOf(manager, place, forUpdate(manager));
      apply(known);
      await also?.(manager);
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
  { accountId, id, caller = 'all' }: EndpointPlace,
  options: ReturnType<typeof forUpdate> = {},
): Promise<Endpoint> {
  const found = UUID.test(id)
    ? await manager.findOne(WebhookEndpointEntity, { where: { id, accountId }, ...options })
    : null;
  if (!found || !mayHaveAll(caller, found))
    throw new ApiError('not_found', `There is no webhook ${id.slice(0, 64)}`);
  return found;
}
