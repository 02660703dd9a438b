import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { InjectDataSource } from '@nestjs/typeorm';
import {
  Column,
  DataSource,
  Entity,
  LessThan,
  type MigrationInterface,
  MoreThan,
  Or,
  PrimaryColumn,
  type QueryRunner,
} from 'typeorm';
import { TIME } from '../accounts/accounts.tables.js';
import { tablesOf } from '../config/entity-tables.js';
import { BillingService } from './ledger/billing.service.js';
import type { Difference } from './ledger/ledger-audit.js';

/** The only row. */
const ID = 1;

/** Milliseconds for which no other process begins another check. */
const CLAIMED = 12 * 3_600_000;

/** Longest time in milliseconds by which the clock of another process is ahead. */
const TOLERANCE = 60_000;

/** Milliseconds between two reads of the result, which another process may have written. */
const READ_EVERY = 10_000;

/** The last comparison of money with messages. */
@Entity('gateway_billing_check')
class BillingCheckEntity {
  @PrimaryColumn('int') readonly id!: number;
  /** The one process that checks in a night has written it. */
  @Column({ ...TIME, name: 'started_at' }) readonly startedAt!: Date;
  /** `null`: none has ended. */
  @Column({ ...TIME, name: 'ended_at', nullable: true }) readonly endedAt!: Date | null;
  /** Of the last that has ended. */
  @Column('int', { default: 0 }) readonly differences!: number;
}

const CREATED = tablesOf('BillingCheck1790000002321', [BillingCheckEntity]);

/** Adds the row that processes write at once. */
class BillingCheckRow1790000002322 implements MigrationInterface {
  readonly name = 'BillingCheckRow1790000002322';

  async up(runner: QueryRunner): Promise<void> {
    await this.down(runner);
    await runner.query(
      `INSERT INTO gateway_billing_check (id, started_at, differences) VALUES (${ID}, 0, 0)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM gateway_billing_check');
  }
}

export const BILLING_CHECK_TABLES = {
  entities: CREATED.entities,
  migrations: [...CREATED.migrations, BillingCheckRow1790000002322],
};

/** Recomputes all money each night, in one process of many, and keeps the result for readiness. */
@Injectable()
export class BillingCheck implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger('BillingCheck');
  #timer: NodeJS.Timeout | undefined;
  #known = 0;

  constructor(
    private readonly billing: BillingService,
    private readonly messaging: MessagingService,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.#read();
    this.#timer = setTimeout(() => {
      // Readiness answers from memory while the database does not.
      void this.#read().finally(() => this.#timer?.refresh());
    }, READ_EVERY).unref();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Number of differences of the last check that has ended, as it was within ten seconds; 0 before the first one. */
  get differences(): number {
    return this.#known;
  }

  /** At three o'clock UTC; the first process has the night. */
  @Cron('0 3 * * *', { name: 'billing-check', timeZone: 'UTC' })
  async nightly(): Promise<void> {
    try {
      const found = (await this.#claim()) ? await this.run() : [];
      for (const difference of found)
        this.#logger.error({ message: 'money does not agree', ...difference });
    } catch (error) {
      this.#logger.error({ message: 'the money could not be checked', err: error });
    }
  }

  /** Empty: all money agrees with its entries and messages. */
  async run(): Promise<readonly Difference[]> {
    const found = await this.billing.differences();
    const endedAt = new Date(this.clock.now());
    const result = { endedAt, differences: found.length };
    await this.messaging.transaction((manager) =>
      manager.update(BillingCheckEntity, { id: ID }, result),
    );
    this.#known = found.length;
    return found;
  }

  async #read(): Promise<void> {
    try {
      const last = await this.dataSource.manager.findOneBy(BillingCheckEntity, { id: ID });
      this.#known = last?.differences ?? 0;
    } catch (error) {
      this.#logger.debug({ message: 'the result of the last check is not read', err: error });
    }
  }

  /** @returns whether this process checks */
  async #claim(): Promise<boolean> {
    const now = this.clock.now();
    // A start in the future is of a clock that was set back; those of two processes differ by less.
    const startedAt = Or(LessThan(new Date(now - CLAIMED)), MoreThan(new Date(now + TOLERANCE)));
    const isFree = { id: ID, startedAt };
    const { affected } = await this.messaging.transaction((manager) =>
      manager.update(BillingCheckEntity, isFree, { startedAt: new Date(now) }),
    );
    return affected === 1;
  }
}
