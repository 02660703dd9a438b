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
import { messageIdOf } from './message/ids.js';
import { ChannelContext, pageOf } from './channels/channel.service.js';
import { durationOf, given, timeOf } from './channels/send.js';
import { MessageHistory, requireOutcomes } from './history.service.js';
import { HoldsService } from './holds.service.js';
import type { ChannelDefinition } from './message/channel-definition.js';
import {
  ContentErasedError,
  DrainTimeoutError,
  type FieldError,
  MessageNotFoundError,
  MessageStatusError,
  MessageValidationError,
  validated,
} from './message/errors.js';
import type { SecretContent } from './message/message.js';
import { type ChannelStatus, STATUS_RANK } from './message/status.js';
import type {
  ListedMessage,
  MessageRecord,
  Page,
  TenantsOption,
  UnmatchedReport,
} from './message/views.js';
import type { Duration } from './ports/option-schema.js';
import type { AlsoOption, Transaction } from './store/database/sql.js';
import { recentProviders } from './store/reads/recent-providers.js';
import { requestsInFlight } from './store/reads/in-flight.js';
import { PRIORITY } from './store/rows/batch-state.js';
import { checkLanes, GUARD_HOLD, OPERATOR_HOLD } from './store/rows/hold.js';
import type { NewBatch } from './store/rows/new-batch.js';
import type { RebuiltOutcomes } from './store/upkeep/outcome-rebuild.js';
import type { MessagePosition, Settlement } from './store/verbs/operator-changes.js';

export interface UnmatchedFilter {
  /** Name of the provider. @default every provider */
  readonly provider?: string | undefined;
  readonly cursor?: string | undefined;
  /** @default 100, at most 1000 */
  readonly limit?: number | undefined;
}

export interface ResendOptions extends TenantsOption, AlsoOption {
  /** The operator, in 1 to 255 characters; the timelines of both messages show it. @default not recorded */
  readonly by?: string | undefined;
  /**
   * Sends a message that is `unknown` as well: its recipient gets it twice where the provider had
   * accepted it. It needs `by`. @default false
   */
  readonly acceptDoubles?: boolean | undefined;
}

/** The repetition of a message. */
export interface Resent {
  /** Id of its batch. */
  readonly id: string;
  /** Id of the new message. */
  readonly messageId: string;
  /** The message was sent again before: this is its repetition. */
  readonly replayed: boolean;
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
const WORD = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/**
 * For the people who run an app: finds messages, sends failed ones again, settles those in doubt,
 * and stops lanes. It acts on the database, so it works in any process.
 * @example
 * const { data } = await operations.messages({ status: 'failed', youngerThan: '1h' });
 * const { messageId } = await operations.resend(data[0].id, { by: 'ada' });
 */
@Injectable()
export class MessagingOperations {
  /** @internal */
  constructor(
    @Inject(ChannelContext) private readonly context: ChannelContext,
    @Inject(MessageHistory) private readonly history: MessageHistory,
    @Inject(HoldsService) private readonly holds: HoldsService,
  ) {}

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
    const { by, also } = options;
    const { store, enqueuer } = this.context;
    return this.#repeat(id, options, async (batch, place, tx) => {
      const receipt = await enqueuer.repeat(batch, tx.manager);
      await store.operators.link(tx, place, receipt.id, by ?? null);
      await also?.(tx.manager);
    });
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
    const place = await this.#placeOf(id, tenants);
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
    const { enqueuer } = this.context;
    const resend = (id: string): Promise<Resent> =>
      dryRun
        ? this.#repeat(id, options, (batch, _place, tx) => enqueuer.checkRepeat(batch, tx.manager))
        : this.resend(id, options);
    return changeEach(this, filter, dryRun, async (id) => {
      const { replayed } = await resend(id);
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

  /**
   * @param repeat called in a transaction with the lock of a message that may be repeated
   * @throws as {@link resend}
   */
  async #repeat(
    id: string,
    options: ResendOptions,
    repeat: (batch: NewBatch, place: MessagePosition, tx: Transaction) => Promise<void>,
  ): Promise<Resent> {
    const { by, tenants, acceptDoubles = false } = options;
    validated((errors) => checkWord('by', acceptDoubles ? (by ?? '') : by, errors));
    const place = await this.#placeOf(id, tenants);
    const message = await this.#repetitionOf(place, acceptDoubles);
    const { clock, store } = this.context;
    return store.database.callerTransaction(async (manager) => {
      const tx = store.database.join(manager);
      const locked = await store.operators.lockForResend(tx, place);
      const first = await store.operators.repetitionOf(tx, place);
      if (first !== undefined) return { id: first, messageId: `${first}-0`, replayed: true };
      this.#requireFailed(place, message, locked?.status, acceptDoubles);
      if (!locked?.recipient) throw new ContentErasedError(idOf(place));
      const batch = { ...message, id: clock.id(), recipients: [locked.recipient] };
      await repeat(batch, place, tx);
      return { id: batch.id, messageId: `${batch.id}-0`, replayed: false };
    });
  }

  async #placeOf(id: string, tenants: TenantsOption['tenants'] = 'all'): Promise<MessagePosition> {
    const { records } = this.context.store;
    const found = typeof id === 'string' ? await records.find(id) : undefined;
    const position = found?.position;
    if (!found || position === undefined || !(await records.scopeOf(found.batchId, tenants)))
      throw new MessageNotFoundError(id);
    return { batchId: found.batchId, position };
  }

  async #scopeOf(place: MessagePosition) {
    const scope = await this.context.store.records.scopeOf(place.batchId, 'all');
    if (!scope) throw new MessageNotFoundError(idOf(place));
    return scope;
  }

  /** The batch that repeats a message, without its id and recipient. */
  async #repetitionOf(
    place: MessagePosition,
    acceptDoubles: boolean,
  ): Promise<Omit<NewBatch, 'id' | 'recipients'>> {
    const { clock, store, channels } = this.context;
    const batch = await store.operators.batchOf(place);
    if (!batch) throw new MessageNotFoundError(idOf(place));
    const { tenant, channel, availableAt, validUntil } = batch;
    const { status } = await store.reads.message(idOf(place), { tenant, channel });
    this.#requireFailed(place, batch, channels.rankOf(status), acceptDoubles);
    if (batch.content === null) throw new ContentErasedError(idOf(place));
    const read = await store.data.reader([{ batch: place.batchId, content: batch.content }]);
    const stored = read(place.batchId, batch.content);
    if (!stored) throw new ContentErasedError(idOf(place));
    const { content, labels, hasPersonal } = stored;
    refuseUnrepeatable(channels.get(channel), content as SecretContent);
    const { batchId, position } = place;
    const [own] = hasPersonal ? await store.data.personal([{ batch: batchId, position }]) : [];
    return {
      tenant,
      channel,
      lane: batch.lane,
      class: batch.priority === PRIORITY.high ? 'high' : 'normal',
      sender: batch.sender,
      content,
      labels,
      hasPersonal: own && true,
      personal: own && [own],
      deliveryReport: batch.deliveryReport === 1,
      parts: batch.parts,
      denied: [],
      createdAt: clock.now(),
      sendAt: null,
      validFor:
        validUntil === null ? null : Math.round((Number(validUntil) - Number(availableAt)) / 1_000),
      idempotencyKey: null,
      fingerprint: null,
    };
  }

  #requireFailed(
    place: MessagePosition,
    { channel }: { readonly channel: string },
    rank: number | undefined,
    acceptDoubles: boolean,
  ): void {
    const { channels } = this.context;
    const failed = channels
      .statusesOf(channel)
      .filter(([name, one]) => one.failed && one.terminal && name !== 'cancelled');
    if (failed.some(([, one]) => one.rank === rank)) return;
    if (acceptDoubles && rank === STATUS_RANK.unknown) return;
    const status = rank === undefined ? 'queued' : channels.nameOf(rank);
    throw new MessageStatusError(
      idOf(place),
      status,
      `only one that is ${failed.map(([name]) => name).join(', ')} can be sent again`,
    );
  }
}

function idOf({ batchId, position }: MessagePosition): string {
  return messageIdOf(batchId, position);
}

function reportedOf(
  statuses: ReturnType<ChannelContext['channels']['statusesOf']>,
): readonly string[] {
  return statuses.flatMap(([name, { reported }]) => (reported ? [name] : []));
}

function checkWord(path: string, word: unknown, errors: FieldError[]): void {
  if (word === undefined || (typeof word === 'string' && WORD.test(word))) return;
  errors.push({ path, message: 'must be 1 to 255 characters, without control characters' });
}

/** @throws MessageValidationError */
function refuseUnrepeatable(
  { name, irrevocable }: ChannelDefinition,
  { secret }: SecretContent,
): void {
  const refusal = irrevocable
    ? `is of the channel ${name}, whose messages are never repeated; place a new order`
    : secret && 'has a one-time code; start a new verification';
  if (refusal) throw new MessageValidationError([{ path: 'id', message: refusal }]);
}
