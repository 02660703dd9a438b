import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  type BulkFilter,
  type BulkOptions,
  type BulkResult,
  changeEach,
  type OperationsFilter,
  type ResendFilter,
} from './bulk-changes.js';
import { ChannelContext, pageOf } from '../channels/channel.service.js';
import { durationOf, given, timeOf } from '../channels/send.js';
import { MessageHistory, requireOutcomes } from './history.service.js';
import { HoldsService } from './holds.service.js';
import { DrainTimeoutError, MessageNotFoundError, validated } from '../message/errors.js';
import type { ChannelStatus } from '../message/status.js';
import type {
  ListedMessage,
  MessageRecord,
  Page,
  TenantsOption,
  UnmatchedReport,
} from '../message/views.js';
import type { Duration } from '../ports/option-schema.js';
import type { AlsoOption } from '../store/database/sql.js';
import { recentProviders } from '../store/reads/recent-outcomes.js';
import { requestsInFlight } from '../store/reads/lane-queues.js';
import { checkLanes, GUARD_HOLD, OPERATOR_HOLD } from '../store/rows/hold.js';
import {
  checkWord,
  idOf,
  placeOf,
  Repetitions,
  type Resent,
  type ResendOptions,
} from './repetitions.js';
import type { RebuiltOutcomes } from '../store/upkeep/outcome-rebuild.js';
import type { MessagePosition, Settlement } from '../store/verbs/operator-changes.js';

export interface UnmatchedFilter {
  /** Name of the provider. @default every provider */
  readonly provider?: string | undefined;
  readonly cursor?: string | undefined;
  /** @default 100, at most 1000 */
  readonly limit?: number | undefined;
}

export interface SettleMessageOptions extends TenantsOption, AlsoOption {
  /** The operator, in 1 to 255 characters. */
  readonly by: string;
  /** Reason, at most 1,000 characters. @default none */
  readonly note?: string | undefined;
}

export interface PauseOptions {
  /** Why, in 1 to 255 characters: for operators. */
  readonly reason: string;
  /** After this time the lanes go on by themselves. @default they go on by `resumeLane()` */
  readonly for?: Duration | undefined;
  /** Joins this transaction of the module's data source. @default a transaction of its own */
  readonly manager?: EntityManager | undefined;
}

export interface DrainOptions {
  /** A lane's name, `tenant:*`, `*:channel` or `*`. @default '*' */
  readonly lanes?: string | undefined;
  /** Longest wait. @default '30s' */
  readonly timeout?: Duration | undefined;
  /** As of {@link PauseOptions}. @default 'drained' */
  readonly reason?: string | undefined;
}

export interface RebuildOptions {
  /** An age such as `'7d'`, or a time; the whole hour that has it. @default the oldest batch */
  readonly since?: Duration | Date | undefined;
  /** As `since`. @default now */
  readonly until?: Duration | Date | undefined;
}

/** Until each process that dispatches has read a new hold, in milliseconds. */
const HOLD_READ = 2_000;
const LOOK = 250;

/**
 * For the people who run an app: finds messages, sends failed ones again, settles those in doubt,
 * and stops lanes. It acts on the database, so it works in any process.
 * @example
 * const { data } = await operations.messages({ status: 'failed', youngerThan: '1h' });
 * const { messageId } = await operations.resend(data[0].id, { by: 'ada' });
 */
@Injectable()
export class MessagingOperations {
  readonly #repetitions: Repetitions;

  /** @internal */
  constructor(
    @Inject(ChannelContext) private readonly context: ChannelContext,
    @Inject(MessageHistory) private readonly history: MessageHistory,
    @Inject(HoldsService) private readonly holds: HoldsService,
  ) {
    this.#repetitions = new Repetitions(context);
  }

  /**
   * Messages by status, age, error code, provider or tag: a page of `MessageHistory.messages()`. It
   * reads a bounded part of the store, so that it may be empty before the last one.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async messages({ olderThan, youngerThan, ...filter }: OperationsFilter = {}): Promise<
    Page<ListedMessage>
  > {
    const now = this.context.clock.now();
    const { since, until } = validated((errors) => ({
      since: timeOf('youngerThan', youngerThan, now, errors),
      until: timeOf('olderThan', olderThan, now, errors),
    }));
    return this.history.messages({ ...filter, since, until });
  }

  /**
   * Sends a message again that reached an end without its recipient, such as `failed`,
   * `undelivered`, `expired` or `rejected`: as the only message of a new batch, with the content,
   * sender and lane of the first one, through the policies of now. Both timelines name the other
   * message. A message has one repetition: later and concurrent calls return it. To send again what
   * failed again, resend the repetition. With `acceptDoubles` also a message that is `unknown`.
   * @param id `{batchId}-{position}`, or the provider's id
   * @throws MessageNotFoundError
   * @throws MessageStatusError where the message has another status
   * @throws ContentErasedError where retention or an erasure removed the content
   * @throws PolicyError where policy denies the recipient
   * @throws MessageValidationError for a channel whose messages must not be repeated, and for codes
   */
  async resend(id: string, options: ResendOptions = {}): Promise<Resent> {
    return this.#repetitions.send(id, options);
  }

  /**
   * Records an operator's decision about a message that is `unknown`, with the source `operator` in
   * its reports. A report of the provider may still raise the status.
   * @param id `{batchId}-{position}`, or the provider's id
   * @param status a status that reports of its channel may have, such as `delivered` or `failed`
   * @throws MessageNotFoundError
   * @throws MessageStatusError where the message has another status
   * @throws MessageValidationError naming each wrong field; orders are settled by `VasService`
   */
  async settle(
    id: string,
    status: ChannelStatus,
    options: SettleMessageOptions,
  ): Promise<MessageRecord> {
    const { place, settlement } = await this.#settlementOf(id, status, options);
    await this.context.store.operators.settle(place, settlement, options.also);
    return this.history.message(idOf(place));
  }

  /** @throws as {@link settle} */
  async #settlementOf(
    id: string,
    status: ChannelStatus,
    options: SettleMessageOptions,
  ): Promise<{ readonly place: MessagePosition; readonly settlement: Settlement }> {
    const { by, note, tenants } = given(options, 'options');
    const { channels } = this.context;
    const place = await placeOf(this.context.store, id, tenants);
    const { channel } = await this.#scopeOf(place);
    const definition = channels
      .statusesOf(channel)
      .find(([name, { reported }]) => name === status && reported)?.[1];
    const { rank, failed } = validated((errors) => {
      checkWord('by', by ?? '', errors);
      if (note !== undefined && (typeof note !== 'string' || note.length > 1_000))
        errors.push({ path: 'note', message: 'must be a text of at most 1000 characters' });
      if (channels.get(channel).irrevocable)
        errors.push({ path: 'id', message: 'is an order; settle it with VasService.settle()' });
      else if (!definition)
        errors.push({
          path: 'status',
          message: `must be one of ${reportedOf(channels.statusesOf(channel)).join(', ')}`,
        });
      return definition ?? { rank: 0 };
    });
    const errorCode = failed ? 'settled_by_operator' : null;
    return { place, settlement: { status: rank, errorCode, by, note: note ?? null } };
  }

  /**
   * Sends all messages of a filter again, each as {@link resend} does. Those that it refuses stay as
   * they are; a repeated call sends none twice.
   * @param filter status and what narrows it; `unknown` needs `acceptDoubles`
   * @throws MessageValidationError where nothing narrows the filter, and on its fields
   * @example
   * const filter = { status: 'failed', provider: 'main', youngerThan: '2h' } as const;
   * const { found } = await operations.resendAll(filter, { by: 'ada', dryRun: true });
   */
  async resendAll(
    filter: ResendFilter,
    { dryRun = false, ...options }: Omit<ResendOptions, 'also'> & BulkOptions = {},
  ): Promise<BulkResult> {
    return changeEach(this, filter, dryRun, async (id) => {
      const { replayed } = await (dryRun
        ? this.#repetitions.check(id, options)
        : this.#repetitions.send(id, options));
      return replayed ? 'already_sent' : undefined;
    });
  }

  /**
   * Settles all messages of a filter that are `unknown`, each as {@link settle} does.
   * @throws MessageValidationError where nothing narrows the filter, and on its fields
   * @example
   * await operations.settleAll({ provider: 'main', olderThan: '3d' }, 'failed', { by: 'ada' });
   */
  async settleAll(
    filter: Omit<BulkFilter, 'status'>,
    status: ChannelStatus,
    { dryRun = false, ...options }: Omit<SettleMessageOptions, 'also'> & BulkOptions,
  ): Promise<BulkResult> {
    return changeEach(this, { ...filter, status: 'unknown' }, dryRun, async (id) => {
      if (dryRun) await this.#settlementOf(id, status, options);
      else await this.settle(id, status, options);
      return undefined;
    });
  }

  /**
   * Pauses lanes in every process within a second: sends are accepted, requests in flight end,
   * nothing starts. Called again, it replaces reason and end.
   * @param lane its name, or `tenant:*`, `*:channel`, `*`
   * @throws MessageValidationError
   */
  async pauseLane(lane: string, options: PauseOptions): Promise<void> {
    const { reason, for: lasts, manager } = given(options, 'options');
    const milliseconds = validated((errors) => {
      checkWord('reason', reason ?? '', errors);
      const read = durationOf('for', lasts, errors);
      if (read === 0) errors.push({ path: 'for', message: 'must be longer than 0' });
      return read ?? undefined;
    });
    await this.holds.hold(
      { lanes: lane, reason: OPERATOR_HOLD, note: reason, lasts: milliseconds },
      { ...(manager && { manager }) },
    );
  }

  /**
   * Ends what {@link pauseLane} or the guard against abuse began for the same name, and the pause of a
   * lane after failures; a process takes the lane within seconds. Holds of the app stay. False: there is
   * no such lane, and no such pause.
   */
  async resumeLane(lane: string, { also }: AlsoOption = {}): Promise<boolean> {
    checkLanes(lane);
    const { database, holds, lanes, providerPauses } = this.context.store;
    return database.transaction(async (tx) => {
      const paused = await holds.lift(tx, { lanes: lane, reason: OPERATOR_HOLD });
      const lifted = (await holds.lift(tx, { lanes: lane, reason: GUARD_HOLD })) || paused;
      const provider = await lanes.pausedProvider(tx, lane);
      const resumed = await lanes.resume(tx, lane);
      if (provider !== undefined) await providerPauses.endWithin(tx, provider);
      if (lifted || resumed) await also?.(tx.manager);
      return lifted || resumed;
    });
  }

  /**
   * Pauses lanes, then waits until none of their requests is in flight in any process: all outcomes
   * are recorded, and sends wait in the database until {@link resumeLane} with the same name. It
   * takes two seconds at least, in which every process notices the pause.
   * @throws DrainTimeoutError with the number of requests that are still in flight; the lanes stay
   * paused
   * @throws MessageValidationError
   */
  async drain({
    lanes = '*',
    timeout = '30s',
    reason = 'drained',
  }: DrainOptions = {}): Promise<void> {
    const { clock, store } = this.context;
    const limit = validated((errors) => durationOf('timeout', timeout, errors) ?? 0);
    const begun = clock.monotonic();
    await this.pauseLane(lanes, { reason });
    await wait(Math.min(HOLD_READ, limit));
    for (;;) {
      const inFlight = await requestsInFlight(store.database, lanes);
      const spent = clock.monotonic() - begun;
      if (inFlight === 0 && spent >= HOLD_READ) return;
      if (spent >= limit) throw new DrainTimeoutError(lanes, inFlight, limit);
      await wait(Math.min(LOOK, limit - spent));
    }
  }

  /**
   * Reports that name no message, newest first: of messages that another system sent, or with a
   * reference that no answer gave. A page looks at 10,000 reports, so that with a provider it may be
   * empty before the last one.
   * @throws MessageValidationError on `cursor`
   * @example
   * const { data } = await operations.unmatchedReports({ provider: 'main', limit: 20 });
   */
  async unmatchedReports({ provider, cursor, limit }: UnmatchedFilter = {}): Promise<
    Page<UnmatchedReport>
  > {
    const page = pageOf({
      ...(cursor !== undefined && { cursor }),
      ...(limit !== undefined && { limit }),
    });
    return this.context.store.unmatched.page({ provider, cursor: page.cursor, limit: page.limit });
  }

  /**
   * Names of the providers that accepted messages of a period, by its 500 newest batches.
   * @example
   * const used = await operations.recentProviders({ since: yesterday, until: anHourAgo });
   */
  async recentProviders(period: {
    readonly since: Date;
    readonly until: Date;
  }): Promise<readonly string[]> {
    return recentProviders(this.context.store.database, period);
  }

  /** Number of reports that name no message, by provider; of more than 100,000 some are not counted. */
  async unmatchedCounts(): Promise<ReadonlyMap<string, number>> {
    return this.context.store.unmatched.counts();
  }

  /**
   * Counts the outcomes of whole hours again (`store.outcomes`), from the messages and their log. Needed
   * once after the option was turned on in every process; it may run beside them, one transaction an
   * hour. An hour from which retention or an erasure has erased messages keeps its counts.
   * @throws MessagingConfigError where outcomes are not counted
   * @throws MessageValidationError naming each wrong field
   */
  async rebuildOutcomes(options: RebuildOptions = {}): Promise<RebuiltOutcomes> {
    const { clock, store } = this.context;
    requireOutcomes(store);
    const now = clock.now();
    const { since, until } = validated((errors) => {
      const period = {
        since: timeOf('since', options.since, now, errors),
        until: timeOf('until', options.until, now, errors),
      };
      if (period.since && period.since >= (period.until ?? new Date(now)))
        errors.push({ path: 'until', message: 'must be after since' });
      return period;
    });
    return store.outcomeRebuild.run(since?.getTime(), until?.getTime());
  }

  async #scopeOf(place: MessagePosition) {
    const scope = await this.context.store.records.scopeOf(place.batchId, 'all');
    if (!scope) throw new MessageNotFoundError(idOf(place));
    return scope;
  }
}

function reportedOf(
  statuses: ReturnType<ChannelContext['channels']['statusesOf']>,
): readonly string[] {
  return statuses.flatMap(([name, { reported }]) => (reported ? [name] : []));
}
