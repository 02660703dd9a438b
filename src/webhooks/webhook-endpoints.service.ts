import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource, EntityManager } from 'typeorm';
import { Account } from '../accounts/accounts.tables.js';
import { ApiError, invalidFields } from '../http/api-error.js';
import { checkWebhookUrl } from './webhook-address.js';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { WebhookEndpointEntity } from './webhooks.tables.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';
import { joinSecrets, newWebhookSecret, splitSecrets } from './webhook-signature.js';

/** Result of `set()`, with the field names of the command line's JSON. */
export interface WebhookSettings {
  readonly webhook_id: string;
  readonly url: string;
  /** `whsec_…`; the receiver verifies signatures with it. */
  readonly secret: string;
}

export interface WebhookChange {
  readonly url?: string | undefined;
  /** `true` also sends deliveries that became due while the endpoint was disabled. */
  readonly enabled?: boolean | undefined;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Whether the text has the form of an endpoint or delivery id; PostgreSQL refuses to compare other
 * texts.
 */
export function isWebhookId(id: string): boolean {
  return UUID.test(id);
}

/**
 * Manages the endpoints of accounts. Changes take effect at once in this process, and within half a
 * second in others.
 */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    @Inject(getDataSourceToken()) private readonly dataSource: DataSource,
    @Inject(MessagingService) private readonly messaging: Pick<MessagingService, 'transaction'>,
    private readonly cache: WebhookEndpointCache,
    private readonly deliveries: WebhookDeliveryStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
    @Inject(WEBHOOK_OPTIONS) private readonly options: WebhookOptions,
  ) {}

  /**
   * Sets the account's first webhook URL: creates the endpoint with a new secret, or changes its
   * URL and keeps id and secret. Enables it in both cases. A repeated call changes nothing.
   *
   * @throws ApiError 422 for an invalid URL, 404 for an unknown account
   * @example
   * await endpoints.set(accountId, 'https://example.com/sms-reports');
   */
  set(accountId: string, url: string): Promise<WebhookSettings> {
    checkWebhookUrl(url, this.options);
    return this.#write(accountId, async (manager) => {
      const known = await manager.findOneBy(WebhookEndpointEntity, { accountId, slot: 0 });
      if (!known) {
        const { id, secret } = await this.#insert(manager, accountId, 0, url);
        return { webhook_id: id, url, secret };
      }
      await this.#enable(manager, known, url);
      return { webhook_id: known.id, url, secret: known.secret };
    });
  }

  /**
   * Adds an endpoint; every endpoint of the account receives every callback.
   *
   * @throws ApiError 422 for an invalid URL, a duplicate URL, or more endpoints than allowed
   */
  add(accountId: string, url: string): Promise<WebhookEndpointEntity> {
    checkWebhookUrl(url, this.options);
    return this.#write(accountId, async (manager) => {
      const known = await manager.findBy(WebhookEndpointEntity, { accountId });
      if (known.some((endpoint) => endpoint.url === url))
        throw invalidFields([{ path: 'url', message: 'is a webhook of this account already' }]);
      const taken = new Set(known.map(({ slot }) => slot));
      const slot = Array.from({ length: this.options.maxEndpoints }, (_, n) => n).find(
        (n) => !taken.has(n),
      );
      if (slot === undefined)
        throw invalidFields([
          {
            path: 'url',
            message: `is one too many: an account has at most ${this.options.maxEndpoints} webhooks; delete one first`,
          },
        ]);
      return this.#insert(manager, accountId, slot, url);
    });
  }

  list(accountId: string): Promise<WebhookEndpointEntity[]> {
    return this.dataSource
      .getRepository(WebhookEndpointEntity)
      .find({ where: { accountId }, order: { slot: 'ASC' } });
  }

  /** @throws ApiError 404 where the account has no such endpoint */
  async get(accountId: string, id: string): Promise<WebhookEndpointEntity> {
    const found = isWebhookId(id)
      ? await this.dataSource.getRepository(WebhookEndpointEntity).findOneBy({ id, accountId })
      : null;
    return found ?? notFound(id);
  }

  update(accountId: string, id: string, change: WebhookChange): Promise<WebhookEndpointEntity> {
    const { url, enabled } = change;
    if (url !== undefined) checkWebhookUrl(url, this.options);
    return this.#change(accountId, id, async (manager, known) => {
      if (enabled === true) await this.#enable(manager, known, url ?? known.url);
      else {
        if (url !== undefined && url !== known.url)
          await manager.update(WebhookEndpointEntity, { id }, { url, failingSince: null });
        if (enabled === false && known.disabledAt === null)
          await manager.update(
            WebhookEndpointEntity,
            { id },
            { disabledAt: this.clock.now(), disabledReason: 'account' },
          );
      }
    });
  }

  /**
   * Creates a new secret. Callbacks are signed with the old and the new one for `rotation` (24 h),
   * so that the receiver can change over; after a second rotation within that time, with the last
   * three.
   */
  rotateSecret(accountId: string, id: string): Promise<WebhookEndpointEntity> {
    return this.#change(accountId, id, async (manager, known) => {
      const { secret, previousSecret, previousUntil } = known;
      const now = this.clock.now();
      const still = previousSecret !== null && now < (previousUntil ?? 0);
      await manager.update(
        WebhookEndpointEntity,
        { id },
        {
          secret: newWebhookSecret(),
          previousSecret: joinSecrets([secret, ...(still ? splitSecrets(previousSecret) : [])]),
          previousUntil: now + this.options.rotation,
        },
      );
    });
  }

  /**
   * Deletes the endpoint and its deliveries; the retention deletes the rest of a very long backlog.
   */
  async remove(accountId: string, id: string): Promise<void> {
    const { id: known } = await this.get(accountId, id);
    await this.#write(accountId, (manager) =>
      manager.delete(WebhookEndpointEntity, { id: known, accountId }),
    );
    await this.deliveries.removeOf(known);
  }

  async #enable(manager: EntityManager, known: WebhookEndpointEntity, url: string): Promise<void> {
    if (known.disabledAt === null && known.url === url) return;
    await manager.update(
      WebhookEndpointEntity,
      { id: known.id },
      { url, disabledAt: null, disabledReason: null, failingSince: null },
    );
  }

  async #insert(
    manager: EntityManager,
    accountId: string,
    slot: number,
    url: string,
  ): Promise<WebhookEndpointEntity> {
    if (!(await manager.existsBy(Account, { id: accountId })))
      throw new ApiError('not_found', `There is no account ${accountId}`);
    const endpoint: WebhookEndpointEntity = {
      id: this.clock.id(),
      accountId,
      slot,
      url,
      secret: newWebhookSecret(),
      previousSecret: null,
      previousUntil: null,
      disabledAt: null,
      disabledReason: null,
      failingSince: null,
      createdAt: this.clock.now(),
    };
    await manager.insert(WebhookEndpointEntity, endpoint);
    return endpoint;
  }

  #change(
    accountId: string,
    id: string,
    work: (manager: EntityManager, known: WebhookEndpointEntity) => Promise<void>,
  ): Promise<WebhookEndpointEntity> {
    if (!isWebhookId(id)) return Promise.reject(unknownEndpoint(id));
    return this.#write(accountId, async (manager) => {
      // The lock makes concurrent changes see each other.
      const lock = this.dataSource.options.type !== 'better-sqlite3' && {
        mode: 'pessimistic_write' as const,
      };
      const known = await manager.findOne(WebhookEndpointEntity, {
        where: { id, accountId },
        ...(lock && { lock }),
      });
      if (!known) return notFound(id);
      await work(manager, known);
      return manager.findOneByOrFail(WebhookEndpointEntity, { id });
    });
  }

  /** Retries where another process took the same slot of the account. */
  async #write<T>(accountId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.messaging.transaction(work);
      } catch (error) {
        if (attempt === 3 || !isUniqueViolation(error)) throw error;
      } finally {
        this.cache.invalidate(accountId);
      }
  }
}

function unknownEndpoint(id: string): ApiError {
  return new ApiError('not_found', `There is no webhook ${id.slice(0, 64)}`);
}

function notFound(id: string): never {
  throw unknownEndpoint(id);
}

/** Whether another transaction inserted the same key first. */
function isUniqueViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (code === '23505' || code === 'ER_DUP_ENTRY' || code === 'SQLITE_CONSTRAINT_UNIQUE')
    return true;
  return driverError !== undefined && driverError !== error && isUniqueViolation(driverError);
}
