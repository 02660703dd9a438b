import type { Clock, MessageStatusChanged } from '@dundun/messaging';
import { MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import { WorkQueues } from '@dundun/messaging/queue';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { v7 } from 'uuid';
import { registryOf } from '../../../libs/messaging/src/channels/built-in-channels.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import type { StoreDatabase } from '../../../libs/messaging/src/store/database/store-database.js';
import { Account, ACCOUNT_TABLES } from '../../../src/accounts/accounts.tables.js';
import { GatewayChannels } from '../../../src/channel.js';
import { CHANNELS } from '../../../src/channels/index.js';
import { Secrets } from '../../../src/secrets/secrets.js';
import { WebhookClient } from '../../../src/webhooks/webhook-client.js';
import { WebhookDeliveryStore } from '../../../src/webhooks/webhook-delivery.store.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { WebhookEvents } from '../../../src/webhooks/webhook-event.js';
import { WebhookKinds } from '../../../src/webhooks/webhook-kinds.js';
import { type WebhookOptions, webhookOptions } from '../../../src/webhooks/webhook-options.js';
import {
  WebhookOutbox,
  WebhookOutboxListener,
  WebhookWakes,
} from '../../../src/webhooks/webhook-outbox.js';
import { WebhookSender } from '../../../src/webhooks/webhook-sender.js';
import { WEBHOOK_TABLES } from '../../../src/webhooks/webhooks.tables.js';
import type { TestDatabase } from '../../support/databases.js';

/** A wall clock that only the test moves. */
export class TestClock implements Clock {
  readonly #started = Date.now();
  #ahead = 0;

  now = () => this.#started + this.#ahead;
  monotonic = () => performance.now() + this.#ahead;
  id = () => v7();

  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }
}

const TEST_OPTIONS: WebhookOptions = {
  ...webhookOptions({
    NODE_ENV: 'test',
    WEBHOOK_ALLOW_PRIVATE: true,
    WEBHOOK_PORTS: [
      [443, 443],
      [1_024, 65_535],
    ],
    LEASE: 60_000,
  }),
  timeout: 30_000,
  linger: 20,
  shutdownTimeout: 2_000,
};

export const SECRETS = new Secrets({
  SECRETS_KEY: Buffer.alloc(32, 1),
  SECRETS_KEY_PREVIOUS: undefined,
});

export async function openTables(db: TestDatabase): Promise<DataSource> {
  const source = await db.open({
    entities: [...ACCOUNT_TABLES.entities, ...WEBHOOK_TABLES.entities],
    migrations: [
      ...MESSAGING_MIGRATIONS,
      ...ACCOUNT_TABLES.migrations,
      ...WEBHOOK_TABLES.migrations,
    ],
    migrationsRun: true,
  });
  if (db.kind === 'sqlite') await source.query('PRAGMA journal_mode = WAL');
  return source;
}

/** The webhooks of one gateway process; several may share a database. */
export class WebhookProcess {
  readonly queues: WorkQueues;
  readonly deliveries: WebhookDeliveryStore;
  readonly endpoints: WebhookEndpointsService;
  readonly outbox: WebhookOutboxListener;
  readonly wakes: WebhookWakes;
  readonly sender: WebhookSender;
  readonly #client: WebhookClient;

  private constructor(
    readonly database: StoreDatabase,
    readonly clock: TestClock,
    readonly options: WebhookOptions,
  ) {
    const limits = { leaseTime: 60_000, shutdownTimeout: 60_000 };
    this.queues = new WorkQueues({ database }, clock, limits);
    this.deliveries = new WebhookDeliveryStore(this.queues, SECRETS);
    const messaging = {
      transaction: <T>(work: (manager: EntityManager) => Promise<T>) => this.transaction(work),
      traceOf: () => Promise.resolve(undefined),
    };
    this.endpoints = new WebhookEndpointsService(
      database.dataSource,
      messaging,
      this.deliveries,
      clock,
      options,
      SECRETS,
    );
    const [gateway, registry] = [new GatewayChannels(CHANNELS), registryOf()];
    // Without the fields of a channel's own.
    const create = () => Promise.reject(new Error('the fixture has no modules'));
    const free = { ofChanges: () => Promise.resolve(() => undefined) };
    const events = new WebhookEvents(gateway, registry, { create }, free);
    const kinds = new WebhookKinds(gateway, registry);
    this.#client = new WebhookClient(options, clock, messaging, kinds);
    this.sender = new WebhookSender(this.queues, this.deliveries, this.#client, clock, options);
    const outbox = new WebhookOutbox(this.queues, this.deliveries, clock);
    this.outbox = new WebhookOutboxListener(outbox, events);
    this.wakes = new WebhookWakes(this.outbox, events, this.sender);
  }

  /** @param source of this process alone on SQLite, where TypeORM shares one connection */
  static async start(
    source: DataSource,
    clock: TestClock,
    options: Partial<WebhookOptions> = {},
  ): Promise<WebhookProcess> {
    const database = databaseOf(source);
    await database.open();
    const process = new WebhookProcess(database, clock, { ...TEST_OPTIONS, ...options });
    process.sender.onModuleInit();
    await process.queues.start();
    return process;
  }

  #stopped: Promise<void> | undefined;

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await this.queues.stop();
    await this.#client.onApplicationShutdown();
    await this.database.close();
  }

  /** Wakes every lane with a due delivery. */
  async poll(): Promise<void> {
    for (const { key } of await this.sender.due(0)) this.sender.wake(key);
  }

  /** Resolves when no lane is being drained. */
  async idle(): Promise<void> {
    while (/ lane /.test(this.queues.underWay)) await sleep(1);
  }

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.database.callerTransaction(work);
  }

  async account(): Promise<string> {
    const id = `acc_${randomUUID().slice(0, 18)}`;
    await this.transaction((manager) =>
      manager.insert(Account, { id, name: 'Test', createdAt: new Date(), suspendedAt: null }),
    );
    return id;
  }

  /** A transaction of the store, in which listeners get the changes. */
  commit(changes: readonly MessageStatusChanged[]): Promise<void> {
    return this.transaction((manager) => this.outbox.onStatusChanged(changes, manager));
  }
}

export function statusChange(
  tenant: string,
  over: Partial<MessageStatusChanged> = {},
): MessageStatusChanged {
  const batchId = over.batchId ?? v7();
  return {
    tenant,
    channel: 'sms',
    batchId,
    messageId: `${batchId}-0`,
    providerId: null,
    sender: 'ACME',
    recipient: '2348012345678',
    previous: 'sending',
    status: 'sent',
    errorCode: null,
    providerTime: new Date('2026-01-31T09:00:00.123Z'),
    sequence: 1,
    deliveryReport: true,
    ...over,
  };
}
