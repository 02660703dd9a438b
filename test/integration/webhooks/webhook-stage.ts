import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import {
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
} from '../../../src/webhooks/webhooks.tables.js';
import type { WebhookOptions } from '../../../src/webhooks/webhook-options.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import { Receiver } from './receiver.js';
import { openTables, TestClock, WebhookProcess } from './webhook-fixture.js';

/** Gateway processes and receivers on one database, stopped after each test. */
export class WebhookStage {
  source!: DataSource;
  connect!: () => Promise<DataSource>;
  clock!: TestClock;
  gateway!: WebhookProcess;
  /** Id of an account without endpoints. */
  account = '';
  #receivers: Receiver[] = [];
  #processes: WebhookProcess[] = [];

  async open(): Promise<void> {
    await this.source.query('DELETE FROM gateway_webhook_endpoint');
    this.clock = new TestClock();
    this.#receivers = [];
    this.#processes = [];
    this.gateway = await this.start();
    this.account = await this.gateway.account();
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    await Promise.all(this.#receivers.map((receiver) => receiver.close()));
  }

  async start(options: Partial<WebhookOptions> = {}): Promise<WebhookProcess> {
    const process = await WebhookProcess.start(await this.connect(), this.clock, options);
    this.#processes.push(process);
    return process;
  }

  async receiver(...args: Parameters<typeof Receiver.start>): Promise<Receiver> {
    const started = await Receiver.start(...args);
    this.#receivers.push(started);
    return started;
  }

  deliveries(endpointId: string): Promise<WebhookDeliveryEntity[]> {
    return this.source
      .getRepository(WebhookDeliveryEntity)
      .find({ where: { endpointId }, order: { position: 'ASC' } });
  }

  attempts(endpointId: string): Promise<WebhookAttemptEntity[]> {
    return this.source
      .getRepository(WebhookAttemptEntity)
      .find({ where: { endpointId }, order: { position: 'ASC' } });
  }

  /** Sends every due delivery and records the outcomes. */
  async work(process = this.gateway): Promise<void> {
    await process.poll();
    await process.idle();
  }

  /** Ends the leases of every endpoint, as if their holders had died. */
  async endLeases(): Promise<void> {
    await this.gateway.database.transaction((tx) =>
      tx.run('UPDATE messaging_lane SET lease_until = 1 WHERE lease_until > 0'),
    );
  }

  /** The process that holds the endpoint; `null`: none. */
  async holderOf(endpointId: string): Promise<string | null> {
    const [lane] = await this.source.query<{ owner: string | null }[]>(
      `SELECT owner FROM messaging_lane WHERE lane_key = 'webhook:${endpointId}'`,
    );
    return lane?.owner ?? null;
  }
}

/** Describes the same behaviour on every database. */
export function describeWebhooks(
  title: string,
  body: (stage: WebhookStage, db: TestDatabase) => void,
): void {
  describeEachDatabase(title, (db) => {
    const stage = new WebhookStage();
    beforeAll(async () => {
      Logger.overrideLogger(['error']);
      stage.source = await openTables(db);
      stage.connect = async () => (db.kind === 'sqlite' ? openTables(db) : stage.source);
    });
    beforeEach(() => stage.open());
    afterEach(() => stage.close());
    body(stage, db);
  });
}
