import type { DataSource } from 'typeorm';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { AmbientTransaction } from '../ports/ambient-transaction.js';
import type { Clock } from '../ports/clock.js';
import type { ErasureListeners, EventPublisher, StatusListeners } from '../ports/listeners.js';
import type { ProviderCosts } from '../ports/provider-costs.js';
import { SpendGuards } from '../ports/spend-guard.js';
import type { MessagingTracing } from '../ports/tracing.js';
import { AfterCommit } from './database/after-commit.js';
import { BatchChanges } from './verbs/cancel.js';
import { Cancellations, type CancellingProvider } from './verbs/cancellations.js';
import { OperatorChanges } from './verbs/operator-changes.js';
import { Doubts } from './verbs/doubts.js';
import { NewBatches } from './verbs/enqueue.js';
import { Intents } from './verbs/intents.js';
import { LaneWork } from './verbs/lane-work.js';
import { LaneQueues } from './reads/lane-queues.js';
import { Holds } from './verbs/holds.js';
import { Lanes } from './verbs/lanes.js';
import { LostAnswers } from './reads/lost-answers.js';
import { WaitingWork } from './reads/waiting-work.js';
import type { StoreDatabase } from './database/store-database.js';
import { StoreListeners } from './store-listeners.js';
import { databaseOf } from './open-store.js';
import { migrate, type OwnMigrations, requireUnicode } from './schema/migrator.js';
import { BatchData } from './reads/batch-data.js';
import { ChangeReader } from './reads/changes.js';
import { MessageList } from './reads/messages/message-list.js';
import { GuardedMessages } from './reads/guarded-messages.js';
import { MessageRecords } from './reads/messages/message-records.js';
import { Reads } from './reads/reads.js';
import { UnmatchedReports } from './reads/unmatched-reports.js';
import { RecentSends } from './reads/recent-sends.js';
import { ProviderPauses } from './verbs/provider-pauses.js';
import { CountingStatusWriter } from './verbs/counting-writer.js';
import { OutcomeCounts } from './verbs/outcome-counts.js';
import { ReportRecorder } from './verbs/report.js';
import { OutcomeRecorder } from './verbs/settle.js';
import { StatusNotices } from './verbs/status-notices.js';
import { ContentSeals } from './rows/content-seals.js';
import { KeyedDigests } from './rows/keyed-digests.js';
import { OutcomeCosts } from './rows/outcome-costs.js';
import { StatusWriter } from './verbs/status-writer.js';
import { TraceContexts, TracedEvents } from './reads/traced-events.js';
import { BatchCompletion } from './upkeep/completion.js';
import { Erasures } from './upkeep/erasure.js';
import { OutcomeRebuild } from './upkeep/outcome-rebuild.js';
import { Purge, type RetentionSettings } from './upkeep/purge.js';
import { ReportPolls } from './upkeep/report-polls.js';
import { SetBackClock } from './upkeep/set-back-clock.js';

/** Durations in milliseconds. */
export interface StoreSettings {
  readonly migrate: boolean;
  /** Count messages by their outcome. @default false */
  readonly outcomes?: boolean;
  /** What providers charge. @default it is not counted */
  readonly costs?: ReadonlyMap<string, ProviderCosts>;
  /** There is an index of messages by recipient. */
  readonly recipientIndex?: boolean;
  /** The store's own, and those of the higher layers. */
  readonly migrations: OwnMigrations;
  readonly preparedStatements: boolean;
  readonly leaseTime: number;
  readonly idempotencyWindow: number;
  readonly pollAfter: number;
  readonly giveUpAfter: number;
  readonly retention: RetentionSettings;
  /** See {@link KeyedDigests}. */
  readonly digestKeys?: readonly Uint8Array[] | undefined;
  /** See {@link ContentSeals}. */
  readonly contentKeys?: readonly Uint8Array[] | undefined;
  /** Providers that are asked to cancel accepted messages. @default none */
  readonly cancelling?: readonly CancellingProvider[];
  /** Finds the transaction of a caller's flow. */
  readonly ambient?: AmbientTransaction | undefined;
  /** `false`: every verb takes the slow path, for tests that compare the two. @default true */
  readonly fastPaths?: boolean;
}

export interface StoreDependencies {
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
  readonly events: EventPublisher;
  readonly listeners: StatusListeners;
  /** @default none */
  readonly storeListeners?: StoreListeners;
  readonly erasureListeners?: ErasureListeners | undefined;
  /** @default no guard */
  readonly spend?: SpendGuards;
  readonly tracing?: MessagingTracing | undefined;
}

export class MessageStore {
  readonly #writer: StatusWriter;
  readonly newBatches: NewBatches;
  readonly batches: BatchChanges;
  /** Batches whose messages providers are asked to cancel. */
  readonly cancellations: Cancellations;
  readonly operators: OperatorChanges;
  readonly reads: Reads;
  readonly messages: MessageList;
  readonly records: MessageRecords;
  readonly changes: ChangeReader;
  readonly guarded: GuardedMessages;
  readonly lanes: Lanes;
  readonly holds: Holds;
  readonly providerPauses: ProviderPauses;
  readonly waiting: WaitingWork;
  readonly queues: LaneQueues;
  /** Names and variables of recipients, and attachments. */
  readonly data: BatchData;
  readonly work: LaneWork;
  readonly intents: Intents;
  readonly outcomes: OutcomeRecorder;
  readonly doubts: Doubts;
  readonly unmatched: UnmatchedReports;
  readonly reports: ReportRecorder;
  readonly lostAnswers: LostAnswers;
  readonly notices = new StatusNotices();
  readonly recentSends: RecentSends;
  readonly reportPolls: ReportPolls;
  readonly setBackClock: SetBackClock;
  readonly purge: Purge;
  /** `undefined`: outcomes are not counted. */
  readonly outcomeCounts: OutcomeCounts | undefined;
  readonly outcomeRebuild: OutcomeRebuild;
  readonly erasures: Erasures;
  readonly digests: KeyedDigests;
  readonly afterCommit: AfterCommit;
  readonly traces: TraceContexts;

  private constructor(
    readonly database: StoreDatabase,
    settings: StoreSettings,
    dependencies: StoreDependencies,
  ) {
    const { clock, events: published, listeners, erasureListeners, tracing } = dependencies;
    const { storeListeners = new StoreListeners(), spend = new SpendGuards() } = dependencies;
    this.traces = new TraceContexts(database);
    this.digests = new KeyedDigests(settings.digestKeys);
    const events = tracing
      ? new TracedEvents(published, database.channels, this.traces, tracing)
      : published;
    this.data = new BatchData(database);
    this.guarded = new GuardedMessages(database);
    const costs = new OutcomeCosts(database.channels, settings.costs ?? new Map());
    this.outcomeRebuild = new OutcomeRebuild(database, clock, costs, {
      spend,
      guarded: this.guarded,
    });
    this.outcomeCounts = settings.outcomes ? new OutcomeCounts(database, clock, costs) : undefined;
    const parts = [
      database,
      listeners,
      storeListeners,
      events,
      this.notices,
      this.data,
      spend,
    ] as const;
    const writer = this.outcomeCounts
      ? new CountingStatusWriter(this.outcomeCounts, ...parts)
      : new StatusWriter(...parts);
    this.#writer = writer;
    this.newBatches = new NewBatches(database, writer, settings.idempotencyWindow, spend);
    this.holds = new Holds(database, clock);
    this.reads = new Reads(database, this.digests, this.data, this.holds);
    this.messages = new MessageList(database, settings.recipientIndex ?? false);
    this.changes = new ChangeReader(database, clock);
    const completion = new BatchCompletion(database.dialect, events, settings.pollAfter);
    this.cancellations = new Cancellations(database, settings.cancelling ?? []);
    this.batches = new BatchChanges(database, writer, clock, this.reads, completion, (tx, ids) =>
      this.cancellations.request(tx, ids),
    );
    this.operators = new OperatorChanges(database, writer, clock);
    this.lanes = new Lanes(database, clock.id(), settings.leaseTime);
    this.providerPauses = new ProviderPauses(database);
    this.waiting = new WaitingWork(database);
    this.queues = new LaneQueues(database, clock, this.holds);
    this.records = new MessageRecords(database, this.reads, this.messages, this.data);
    this.work = new LaneWork(database, this.data);
    this.intents = new Intents(database, this.lanes, completion);
    const waiting = { keepWaiting: settings.giveUpAfter, salt: this.digests.salt };
    this.reports = new ReportRecorder(database, writer, clock, waiting, storeListeners);
    this.lostAnswers = new LostAnswers(database, this.records);
    this.outcomes = new OutcomeRecorder(
      database,
      writer,
      completion,
      clock,
      storeListeners,
      (references) => this.reports.matchWaiting(references),
    );
    this.doubts = new Doubts(database);
    this.unmatched = new UnmatchedReports(database);
    this.recentSends = new RecentSends(database);
    this.setBackClock = new SetBackClock(database, clock, settings.leaseTime);
    this.reportPolls = new ReportPolls(database, settings.pollAfter, settings.giveUpAfter);
    this.purge = new Purge(
      database,
      settings.retention,
      Math.max(settings.idempotencyWindow, settings.giveUpAfter),
      { exempt: database.channels.namesWhere(({ retention }) => retention === 'exempt'), writer },
    );
    this.afterCommit = new AfterCommit(database.dataSource);
    this.erasures = new Erasures(database, writer, clock, this.afterCommit, erasureListeners);
  }

  static async open(
    dataSource: DataSource,
    settings: StoreSettings,
    dependencies: StoreDependencies,
  ): Promise<MessageStore> {
    const { leaseTime, preparedStatements, fastPaths = true } = settings;
    const database = databaseOf(dataSource, {
      idleTimeout: leaseTime,
      preparedStatements,
      channels: dependencies.channels,
      seals: new ContentSeals(settings.contentKeys),
      fastPaths,
      ambient: settings.ambient,
    });
    await requireUnicode(dataSource);
    await migrate(dataSource, settings.migrations, settings.migrate);
    await database.open();
    return new MessageStore(database, settings, dependencies);
  }

  async close(): Promise<void> {
    this.afterCommit.close();
    await this.newBatches.idle();
    await this.outcomes.idle();
    await this.doubts.idle();
    await this.reports.idle();
    await this.batches.idle();
    await this.#writer.idle();
    await this.traces.idle();
    await this.database.close();
  }
}
