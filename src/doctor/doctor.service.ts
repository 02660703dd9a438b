import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { MessagingOperations } from '@dundun/messaging/operations';
import { Inject, Injectable, Module } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { dirname } from 'node:path';
import { DataSource } from 'typeorm';
import { DomainLookup } from '../channels/email/domains/domain-check.js';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from '../webhooks/webhook-options.js';
import { callbackChecks } from './callback-checks.js';
import { carrierChecks } from './carrier-checks.js';
import { type Check, type CheckResult, runChecks } from './check.js';
import { databaseChecks } from './database-checks.js';
import { diskCheck } from './disk-check.js';
import { domainChecks } from './domain-checks.js';
import { redisCheck } from './redis-check.js';
import { webhookChecks } from './webhook-checks.js';

/** The checks that need no database. */
export function machineChecks({ DATABASE_URL, ENGINE, REDIS_URL }: Environment): Check[] {
  return [
    DATABASE_URL.type === 'sqlite'
      ? diskCheck(dirname(DATABASE_URL.path), 'the SQLite file')
      : diskCheck(process.cwd(), 'the working directory'),
    ...(ENGINE === 'bullmq' && REDIS_URL !== undefined ? [redisCheck(REDIS_URL)] : []),
  ];
}

/** Examines all that the gateway depends on. It sends nothing, and changes nothing. */
@Injectable()
export class Doctor {
  #running: Promise<readonly CheckResult[]> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
    private readonly operations: MessagingOperations,
    private readonly lookup: DomainLookup,
    @Inject(WEBHOOK_OPTIONS) private readonly webhooks: WebhookOptions,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Callers at the same time share the results. */
  examine(): Promise<readonly CheckResult[]> {
    this.#running ??= this.#examine().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #examine(): Promise<readonly CheckResult[]> {
    const { dataSource, messaging, operations, lookup, environment, clock } = this;
    const { carriers, DATABASE_URL: database, PUBLIC_URL: publicUrl } = environment;
    const now = clock.now();
    const checks = [
      ...databaseChecks(dataSource, database, clock),
      ...machineChecks(environment),
      ...carrierChecks(carriers.all, messaging),
      ...callbackChecks({ carriers, operations, dataSource, publicUrl, now }),
    ];
    const [domains, webhooks] = await Promise.all([
      domainChecks({ dataSource, lookup, settings: environment }),
      webhookChecks(dataSource, this.webhooks, now),
    ]);
    return runChecks([...checks, ...domains, ...webhooks]);
  }
}

@Module({ providers: [Doctor], exports: [Doctor] })
export class DoctorModule {}
