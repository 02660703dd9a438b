import type { INestApplication } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { MessagingModule, type MessagingOptions, SmsService } from '@dundun/messaging';
import type { DeliveryReport } from '@dundun/messaging/ports';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { StatementLog } from '../../support/statement-log.js';
import { PaperTransport } from './paper.transport.js';

export const TO = '2348012345678';
const CALLBACK_PATH = 'dlr';

/** Each test starts with an empty store. */
const TABLES = [
  'report',
  'message',
  'submission',
  'batch_chunk',
  'batch',
  'lane',
  'provider_pause',
];

/** The adapters as the documentation says to create them. */
export const platforms: Record<string, () => AbstractHttpAdapter | undefined> = {
  fastify: () =>
    new FastifyAdapter({
      onProtoPoisoning: 'ignore',
      onConstructorPoisoning: 'ignore',
    }) as AbstractHttpAdapter,
  // Nest's own default.
  express: () => undefined,
};

/** A report as a parser yields it. */
export function report(changes: Partial<DeliveryReport> = {}): DeliveryReport {
  return {
    reference: null,
    messageId: null,
    recipient: null,
    status: 'delivered',
    rawStatus: 'DELIVRD',
    errorCode: null,
    providerTime: new Date('2026-01-01T00:00:00Z'),
    ...changes,
  };
}

/** An app with a scripted provider, whose deliveries the test reports. */
export class ReportsApp {
  private constructor(
    private readonly app: INestApplication,
    readonly paper: PaperTransport,
    /** Address of the callback path; empty where there is none. */
    readonly url: string,
    readonly statements: StatementLog,
  ) {}

  static async start(
    database: TestDatabase,
    options: Partial<MessagingOptions> = {},
    platform?: keyof typeof platforms,
  ): Promise<ReportsApp> {
    const paper = new PaperTransport();
    const statements = new StatementLog();
    const module = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot(database.options({ logger: statements })),
        MessagingModule.forRoot({
          transport: () => paper,
          ...options,
          callbackPath: platform === undefined ? false : CALLBACK_PATH,
        }),
      ],
    }).compile();
    const adapter = platform === undefined ? undefined : platforms[platform]?.();
    const made = { rawBody: true, logger: false as const };
    const app = adapter
      ? module.createNestApplication(adapter, made)
      : module.createNestApplication(made);
    if (platform === undefined) await app.init();
    else await app.listen(0, '127.0.0.1');
    const url = platform === undefined ? '' : `${await app.getUrl()}/${CALLBACK_PATH}`;
    // The tests say when to reconcile.
    const registry = app.get(SchedulerRegistry);
    if (registry.doesExist('interval', 'messaging.reconcile'))
      registry.deleteInterval('messaging.reconcile');
    const started = new ReportsApp(app, paper, url, statements);
    for (const table of TABLES) await started.query(`DELETE FROM messaging_${table}`);
    return started;
  }

  get sms(): SmsService {
    return this.app.get(SmsService);
  }

  get store(): MessageStore {
    return this.app.get(MessageStore);
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.app.get(type, { strict: false });
  }

  query<T>(sql: string): Promise<T[]> {
    return this.app.get(DataSource).query(sql);
  }

  /** As a transport or callback hands them in; resolves after the commit. */
  async hear(...reports: readonly DeliveryReport[]): Promise<void> {
    await this.store.reports.record(reports, { provider: this.paper.name });
  }

  /** Sends, and waits until the provider's answer is recorded. @returns the batch's id */
  async sent(to: string | readonly string[]): Promise<string> {
    const { id } = await this.sms.send({ from: 'ACME', to, body: 'Hello' });
    await this.completed(id);
    return id;
  }

  async completed(id: string): Promise<void> {
    await eventually(async () => {
      const { status } = await this.sms.batch(id);
      if (status !== 'completed') throw new Error(`the batch is ${status}`);
    });
  }

  async counts(id: string): Promise<object> {
    return (await this.sms.batch(id)).counts;
  }

  reconcile(timeLimit?: number): Promise<void> {
    const { signal } = new AbortController();
    return reconcileJob(this.store, new Map([[this.paper.name, this.paper]]), timeLimit).run(
      signal,
    );
  }

  close(): Promise<void> {
    return this.app.close();
  }
}
