import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { WebhookAttemptEntity } from '../../../src/webhooks/webhook-attempt.entity.js';
import { WebhookDeliveryEntity } from '../../../src/webhooks/webhook-delivery.entity.js';
import type { WebhookOptions } from '../../../src/webhooks/webhook-options.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import { Receiver } from './receiver.js';
import { openTables, TestClock, WebhookProcess } from './webhook-fixture.js';

/** Processes of a gateway and receivers on one database, gone after each test. */
export class WebhookStage {
  source!: DataSource;
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
    this.gateway = this.start();
    this.account = await this.gateway.account();
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    await Promise.all(this.#receivers.map((receiver) => receiver.close()));
  }

  start(options: Partial<WebhookOptions> = {}): WebhookProcess {
    const process = new WebhookProcess(this.source, this.clock, options);
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

  /** Resolves when all due deliveries were attempted and recorded. */
  async work(process = this.gateway): Promise<void> {
    await process.sender.poll();
    await process.sender.idle();
  }
}

/** The same promises on every database. */
export function describeWebhooks(
  title: string,
  body: (stage: WebhookStage, db: TestDatabase) => void,
): void {
  describeEachDatabase(title, (db) => {
    const stage = new WebhookStage();
    beforeAll(async () => {
      Logger.overrideLogger(['error']);
      stage.source = await openTables(db);
    });
    beforeEach(() => stage.open());
    afterEach(() => stage.close());
    body(stage, db);
  });
}
