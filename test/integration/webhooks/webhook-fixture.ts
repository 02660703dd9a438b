import type { Clock, MessageStatusChanged } from '@dundun/messaging';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { Account, ACCOUNT_TABLES } from '../../../src/accounts/accounts.tables.js';
import { type Transactions, WebhookDatabase } from '../../../src/webhooks/webhook-database.js';
import { WebhookEndpointCache } from '../../../src/webhooks/webhook-endpoint.cache.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { WebhookClient } from '../../../src/webhooks/webhook-client.js';
import { WebhookDeliveriesRepository } from '../../../src/webhooks/webhook-deliveries.repository.js';
import { WebhookLeases } from '../../../src/webhooks/webhook-leases.js';
import { WebhookRecorder } from '../../../src/webhooks/webhook-recorder.js';
import { WebhookSender } from '../../../src/webhooks/webhook-sender.js';
import { type WebhookOptions, webhookOptions } from '../../../src/webhooks/webhook-options.js';
import { WebhookOutboxListener } from '../../../src/webhooks/webhook-outbox.listener.js';
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
  ...webhookOptions({ NODE_ENV: 'test', WEBHOOK_ALLOW_PRIVATE: true, LEASE: 60_000 }),
  timeout: 30_000,
  linger: 20,
  shutdownTimeout: 2_000,
};

export async function openTables(db: TestDatabase): Promise<DataSource> {
  const source = await db.open({
    entities: [Account, ...WEBHOOK_TABLES.entities],
    migrations: [...ACCOUNT_TABLES.migrations, ...WEBHOOK_TABLES.migrations],
    migrationsRun: true,
  });
  if (db.kind === 'sqlite') await source.query('PRAGMA journal_mode = WAL');
  return source;
}

/** One process of the gateway as far as webhooks go; several may share a database. */
export class WebhookProcess {
  readonly database: WebhookDatabase;
  readonly cache: WebhookEndpointCache;
  readonly endpoints: WebhookEndpointsService;
  readonly outbox: WebhookOutboxListener;
  readonly sender: WebhookSender;
  readonly options: WebhookOptions;

  constructor(
    readonly source: DataSource,
    readonly clock: TestClock,
    options: Partial<WebhookOptions> = {},
  ) {
    this.options = { ...TEST_OPTIONS, ...options };
    this.database = new WebhookDatabase(source, inTurn(source));
    this.cache = new WebhookEndpointCache(this.database, clock, this.options.staleness);
    this.endpoints = new WebhookEndpointsService(this.database, this.cache, clock, this.options);
    this.outbox = new WebhookOutboxListener(this.database, this.cache, clock);
    const deliveries = new WebhookDeliveriesRepository(this.database);
    this.sender = new WebhookSender({
      deliveries,
      endpoints: this.cache,
      leases: new WebhookLeases(this.database, clock, this.options.lease),
      recorder: new WebhookRecorder(this.database, deliveries),
      client: new WebhookClient(this.options, clock),
      clock,
      options: this.options,
    });
  }

  #stopped: Promise<void> | undefined;

  stop(): Promise<void> {
    return (this.#stopped ??= this.sender.stop());
  }

  async account(): Promise<string> {
    const id = `acc_${randomUUID().slice(0, 18)}`;
    await this.database.transaction((_sql, manager) =>
      manager.insert(Account, { id, name: 'Test', createdAt: new Date(), suspendedAt: null }),
    );
    return id;
  }

  /** The recorder's part: a transaction in which listeners hear of the changes. */
  commit(changes: readonly MessageStatusChanged[]): Promise<void> {
    return this.database.transaction((_sql, manager) =>
      this.outbox.onStatusChanged(changes, manager),
    );
  }
}

const turns = new WeakMap<DataSource, Promise<unknown>>();

/** TypeORM shares one SQLite connection among all flows: transactions take turns. */
function inTurn(source: DataSource): Transactions {
  return {
    transaction: (work) => {
      if (source.options.type !== 'better-sqlite3')
        return source.transaction('READ COMMITTED', work);
      const before = turns.get(source) ?? Promise.resolve();
      const mine = before.then(() => source.transaction(work));
      turns.set(
        source,
        mine.catch(() => undefined),
      );
      return mine;
    },
  };
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
    deliveryReport: 'yes',
    ...over,
  };
}
