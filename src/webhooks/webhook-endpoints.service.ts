import type { Clock } from '@dundun/messaging';
import type { EntityManager } from 'typeorm';
import { Account } from '../accounts/accounts.tables.js';
import { ApiError, invalidFields } from '../http/api-error.js';
import { isUniqueViolation, type Sql, type WebhookDatabase } from './webhook-database.js';
import type { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { WebhookEndpointEntity } from './webhook-endpoint.entity.js';
import type { WebhookOptions } from './webhook-options.js';
import { joinSecrets, newWebhookSecret, splitSecrets } from './webhook-signature.js';
import { checkWebhookUrl } from './webhook-url.js';

/** Answer of `set()`, in the names of the command line's JSON. */
export interface WebhookSettings {
  readonly webhook_id: string;
  readonly url: string;
  /** `whsec_…`, for the receiver to verify with. */
  readonly secret: string;
}

export interface WebhookChange {
  readonly url?: string | undefined;
  /** `true` also sends what became due while it was disabled. */
  readonly enabled?: boolean | undefined;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Could be the id of an endpoint or a delivery; PostgreSQL refuses to compare anything else. */
export function isWebhookId(id: string): boolean {
  return UUID.test(id);
}

const DELETED_AT_ONCE = 20_000;
const SLICE = 1_000;

/** The endpoints of accounts. What this process changes it knows at once, other processes within half a second. */
export class WebhookEndpointsService {
  constructor(
    private readonly database: WebhookDatabase,
    private readonly cache: WebhookEndpointCache,
    private readonly clock: Clock,
    private readonly options: WebhookOptions,
  ) {}

  /**
   * The account's webhook URL as its settings name it: made with a fresh secret, or moved, keeping id
   * and secret; enabled either way. The same again changes nothing.
   *
   * @throws ApiError 422 for a URL that cannot be one, 404 for an unknown account
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
   * One more endpoint: each gets every callback.
   *
   * @throws ApiError 422 for a URL that cannot be one, is one already, or is one too many
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
    return this.database
      .repository(WebhookEndpointEntity)
      .find({ where: { accountId }, order: { slot: 'ASC' } });
  }

  /** @throws ApiError 404 where the account has no such endpoint */
  async get(accountId: string, id: string): Promise<WebhookEndpointEntity> {
    const found = isWebhookId(id)
      ? await this.database.repository(WebhookEndpointEntity).findOneBy({ id, accountId })
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
   * A new secret. Callbacks are signed with both for `rotation` (24 h), so that the receiver can
   * change over in its own time; rotated again within that time, with the three last.
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

  /** Its deliveries go too; of a very long backlog the rest goes with the retention. */
  async remove(accountId: string, id: string): Promise<void> {
    const { id: known } = await this.get(accountId, id);
    await this.#write(accountId, (manager) =>
      manager.delete(WebhookEndpointEntity, { id: known, accountId }),
    );
    for (const table of ['gateway_webhook_delivery', 'gateway_webhook_attempt'])
      for (let gone = SLICE, all = 0; gone === SLICE && all < DELETED_AT_ONCE; all += gone)
        gone = await this.database.transaction((sql) => deleteSlice(sql, table, known));
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
      leaseOwner: null,
      leaseUntil: 0,
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
      // Of two changes at once the second sees the first.
      const lock = this.database.dialect.kind !== 'sqlite' && {
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

  /** Tries again where another process took the same place meanwhile. */
  async #write<T>(accountId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.database.transaction((_sql, manager) => work(manager));
      } catch (error) {
        if (attempt === 3 || !isUniqueViolation(error)) throw error;
      } finally {
        this.cache.invalidate(accountId);
      }
  }
}

function deleteSlice(sql: Sql, table: string, endpointId: string): Promise<number> {
  return sql.run(
    `DELETE FROM ${table} WHERE position IN (SELECT position FROM
      (SELECT position FROM ${table} WHERE endpoint_id = ? LIMIT ${SLICE}) AS slice)`,
    [endpointId],
  );
}

function unknownEndpoint(id: string): ApiError {
  return new ApiError('not_found', `There is no webhook ${id.slice(0, 64)}`);
}

function notFound(id: string): never {
  throw unknownEndpoint(id);
}
