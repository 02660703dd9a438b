import {
  type Clock,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_CLOCK,
  type MessageStatusChanged,
  MessagingService,
} from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, LessThan } from 'typeorm';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { FailureCountEntity } from './failure-counts.tables.js';

const HOUR = 3_600_000;

/** Counts are kept for the longest window of a rule. */
const KEPT = 7 * HOUR;

/** Milliseconds between two writes, at most. */
const WRITE_EVERY = 15_000;

/** Rows of one write; failures of further accounts and codes are not counted until the next one. */
const MOST = 1_000;

/** The code under which ended submits are counted. */
const SUBMITS = '';

const LONGEST_CODE = 64;

export interface CodeCount {
  readonly channel: string;
  readonly code: string;
  readonly failures: number;
  /** Submits of the channel that ended in the window, with any outcome. */
  readonly submits: number;
}

/**
 * Counts failures by account, channel and code. Each process counts its own in memory and writes them in one statement;
 * what it has not written is lost where it is killed.
 */
@Injectable()
export class FailureCounts implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Alerts');
  readonly #failed = new Map<string, ReadonlySet<string>>();
  #counts = new Map<string, Omit<FailureCountEntity, 'id' | 'at'> & { messages: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly messaging: MessagingService,
    private readonly registry: ChannelRegistry,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'ALERTS_EVERY'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  onApplicationBootstrap(): void {
    const every = Math.min(WRITE_EVERY, this.environment.ALERTS_EVERY / 2);
    this.#timer = setInterval(() => void this.write(), every).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  count({ tenant, channel, previous, status, event, errorCode }: MessageStatusChanged): void {
    // A message that policy refuses was never submitted.
    if (event !== undefined || previous === 'queued') return;
    if (previous === 'sending') this.#add(tenant, channel, SUBMITS);
    if (this.#isFailed(channel, status)) this.#add(tenant, channel, errorCode ?? status);
  }

  #isFailed(channel: string, status: string): boolean {
    let failed = this.#failed.get(channel);
    if (!failed) {
      const statuses = this.registry.statusesOf(channel);
      failed = new Set(statuses.flatMap(([name, { failed: is }]) => (is ? [name] : [])));
      this.#failed.set(channel, failed);
    }
    return failed.has(status);
  }

  #add(accountId: string, channel: string, written: string): void {
    const code = written.slice(0, LONGEST_CODE);
    const key = `${accountId} ${channel} ${code}`;
    const known = this.#counts.get(key);
    if (known) known.messages++;
    else if (this.#counts.size < MOST)
      this.#counts.set(key, { accountId, channel, code, messages: 1 });
  }

  /** Never rejects: counts that cannot be written are lost, so that memory stays bounded. */
  async write(): Promise<void> {
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    if (counts.length === 0) return;
    const at = new Date(this.clock.now());
    const rows = counts.map((count) => ({ ...count, id: this.clock.id(), at }));
    const insert = (manager: DataSource['manager']) =>
      manager.createQueryBuilder().insert().into(FailureCountEntity).values(rows);
    try {
      await this.messaging.transaction((manager) => insert(manager).updateEntity(false).execute());
    } catch (error) {
      this.#logger.warn({ message: 'failures are not counted', rows: rows.length, err: error });
    }
  }

  /** @param account `null`: of all accounts together */
  async since(since: Date, account: string | null): Promise<CodeCount[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(FailureCountEntity, 'one')
      .select('one.channel', 'channel')
      .addSelect('one.code', 'code')
      .addSelect('SUM(one.messages)', 'messages')
      .where('one.at >= :since', { since: since.getTime() })
      .groupBy('one.channel')
      .addGroupBy('one.code');
    if (account !== null) query.andWhere('one.accountId = :account', { account });
    const rows = await query.getRawMany<{ channel: string; code: string; messages: string }>();
    const submits = new Map(
      rows.filter(({ code }) => code === SUBMITS).map((row) => [row.channel, Number(row.messages)]),
    );
    return rows
      .filter(({ code }) => code !== SUBMITS)
      .map(({ channel, code, messages }) => {
        return { channel, code, failures: Number(messages), submits: submits.get(channel) ?? 0 };
      });
  }

  async purge(): Promise<void> {
    const before = new Date(this.clock.now() - KEPT);
    await this.messaging.transaction((manager) =>
      manager.delete(FailureCountEntity, { at: LessThan(before) }),
    );
  }
}
