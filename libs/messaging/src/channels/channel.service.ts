import { Inject, Injectable } from '@nestjs/common';
import { isBatchId, messagePlaceOf } from '../message/ids.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessageValidationError, validated } from '../message/errors.js';
import type { Channel } from '../message/message.js';
import type {
  BatchView,
  ListedBatch,
  CancelledBatches,
  ListedMessage,
  ListOptions,
  MessageFilter,
  MessageTimeline,
  MessageView,
  Page,
  ReportFilter,
  ReportView,
  SubmittedMessage,
  TenantOption,
} from '../message/views.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import type { Duration } from '../ports/option-schema.js';
import type { LaneWaker } from '../ports/dispatch-engine.js';
import { MESSAGING_RATE_CARD, type RateCard, times } from '../ports/rate-card.js';
import type { BatchScope, ListScope } from '../store/rows/cursor.js';
import type { AlsoOption } from '../store/database/sql.js';
import { MessageStore } from '../store/message-store.js';
import { Enqueuer } from './enqueuer.js';
import { checkTag } from './labels.js';
import { type KnownFields, LABEL_FIELDS, refuseUnknownFields } from './known-fields.js';
import {
  type ChannelMessage,
  type LibraryMessage,
  checkTime,
  checkWords,
  contentOf,
  durationOf,
  given,
  type Receipt,
  type SendOptions,
} from './send.js';

export interface OutcomeOptions extends TenantOption {
  /** Longest wait. After it the call resolves with the message's current state. @default '10s' */
  readonly timeout?: Duration;
}

export interface EstimateOptions extends TenantOption {
  /** The recipient; needed where the price depends on the country. */
  readonly to?: string;
}

/** Price of a message. `null`: the rate card has no price for it. */
export interface CostEstimate {
  /** Decimal number, such as `'0.0125'`. */
  readonly cost: string | null;
  /** ISO 4217 code. */
  readonly currency: string | null;
}

@Injectable()
export class ChannelContext {
  /** @internal */
  constructor(
    @Inject(ChannelRegistry) readonly channels: ChannelRegistry,
    @Inject(MessageStore) readonly store: MessageStore,
    @Inject(Dispatcher) readonly waker: LaneWaker,
    @Inject(MESSAGING_CLOCK) readonly clock: Clock,
    @Inject(MESSAGING_RATE_CARD) readonly rates: RateCard,
    @Inject(Enqueuer) readonly enqueuer: Enqueuer,
  ) {}
}

/** First and longest interval, in ms, between two looks for a change by another process. */
const FIRST_POLL = 100;
const LONGEST_POLL = 1_000;

/** Sends on one channel, reads batches and messages, reschedules and cancels. */
export abstract class ChannelService {
  /** @internal */
  protected readonly definition: ChannelDefinition;
  /** @internal */
  protected readonly context: ChannelContext;

  /** @internal */
  constructor(channel: Channel, context: ChannelContext) {
    this.context = context;
    this.definition = context.channels.get(channel);
  }

  /** @throws BatchNotFoundError */
  async batch(id: string, options: TenantOption = {}): Promise<BatchView> {
    return this.store.reads.batch(id, this.scopeOf(options));
  }

  /**
   * Lists batches, newest first. The counts of a batch of more than 1,000 recipients are `null` while
   * it is at work; a page ends early after 10,000 recipients of smaller ones.
   */
  async batches(options: ListOptions = {}): Promise<Page<ListedBatch>> {
    return this.store.reads.batches(this.listScopeOf(options), pageOf(options));
  }

  /**
   * The recipients as address keys, in the order of the batch, started or not.
   * @throws BatchNotFoundError
   */
  async recipients(id: string, options: ListOptions = {}): Promise<Page<string>> {
    return this.store.reads.recipients(id, this.scopeOf(options), pageOf(options));
  }

  /**
   * The messages of all recipients with their statuses and errors, in the order of the batch, started
   * or not.
   * @throws BatchNotFoundError
   */
  async deliveries(id: string, options: ListOptions = {}): Promise<Page<MessageView>> {
    return this.store.reads.deliveries(id, this.scopeOf(options), pageOf(options));
  }

  /** The messages that have started, in the order of the batch. @throws BatchNotFoundError */
  async messages(id: string, options: ListOptions = {}): Promise<Page<MessageView>> {
    return this.store.reads.messages(id, this.scopeOf(options), pageOf(options));
  }

  /**
   * Messages of all batches, one for each recipient, also before they start; the newest batch first.
   * A page looks at 1,000 batches, and with `to` or `status` at 10,000 recipients.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async list(filter: MessageFilter = {}): Promise<Page<ListedMessage>> {
    const scope = await this.checkedFilter(filter);
    return this.store.messages.page(scope, { ...filter, ...pageOf(filter) });
  }

  /**
   * @param id `{batchId}-{position}`, or the provider's id once it is known
   * @throws MessageNotFoundError
   */
  async message(id: string, options: TenantOption = {}): Promise<SubmittedMessage> {
    return this.store.reads.message(id, this.scopeOf(options));
  }

  /**
   * One message from its acceptance to its last report.
   * @param id `{batchId}-{position}`, as events and {@link messages} give it
   * @throws MessageNotFoundError
   */
  async timeline(id: string, options: TenantOption = {}): Promise<MessageTimeline> {
    return this.store.reads.timeline(id, this.scopeOf(options));
  }

  /**
   * Resolves with the message once its submit has an outcome, or after `timeout` as it is.
   * @param id `{batchId}-{position}`
   * @throws MessageNotFoundError where the transaction of the send has not been committed
   */
  async outcome(id: string, options: OutcomeOptions = {}): Promise<SubmittedMessage> {
    const { clock } = this.context;
    const scope = this.scopeOf(options);
    const deadline =
      clock.monotonic() +
      validated((errors) => durationOf('timeout', options.timeout ?? '10s', errors) ?? 0);
    // A commit of this process wakes the wait at once; polling finds a commit of another process.
    const watch = this.store.notices.watch(messagePlaceOf(id)?.batch ?? '');
    try {
      for (let look = FIRST_POLL; ; look = Math.min(LONGEST_POLL, look * 2)) {
        const message = await this.store.reads.message(id, scope);
        const left = deadline - clock.monotonic();
        const open = message.status === 'queued' || message.status === 'sending';
        if (!open || left <= 0) return message;
        await watch.moved(Math.min(look, left));
      }
    } finally {
      watch.end();
    }
  }

  /**
   * Delivery reports, oldest first, also of messages sent with `deliveryReport: false`. A page
   * looks at 10,000 reports for those that match `to` and `status`.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async reports(filter: ReportFilter = {}): Promise<Page<ReportView>> {
    this.#checkFilter(filter);
    return this.store.reads.reports(this.scopeOf(filter), { ...filter, ...pageOf(filter) });
  }

  /**
   * Changes when a batch is due. @throws BatchNotFoundError
   * @throws AlreadySentError where a message of the batch has started
   */
  async reschedule(
    id: string,
    sendAt: Date,
    { also, ...options }: TenantOption & AlsoOption = {},
  ): Promise<BatchView> {
    validated((errors) => checkTime('sendAt', sendAt ?? null, errors));
    const scope = this.scopeOf(options);
    const { lane, ...batch } = await this.store.batches.reschedule(id, scope, sendAt, also);
    this.context.waker.wake(lane, sendAt.getTime());
    return batch;
  }

  /**
   * Cancels the messages of a batch that have not started; the others still get their outcomes and
   * reports. A provider that can (`smpp()`) is asked to cancel those that it has accepted, also where
   * this throws `AlreadySentError`; they are `failed` once it says that it has. With a tag, those of all batches of the tenant and channel with this tag that were
   * accepted before the call: some batches at a time, so that a call that fails has cancelled some,
   * and the next one cancels the rest.
   * @throws MessageValidationError where the tag has not the form of a tag
   * @throws BatchNotFoundError
   * @throws AlreadySentError where no message of the batch can be cancelled any more
   * @example
   * await sms.cancel(id);
   * const { batches, messages } = await sms.cancel({ tag: 'summer-sale' }, { tenant });
   */
  cancel(id: string, options?: TenantOption & AlsoOption): Promise<BatchView>;
  cancel(of: { readonly tag: string }, options?: TenantOption): Promise<CancelledBatches>;
  async cancel(
    of: string | { readonly tag: string },
    { also, ...options }: TenantOption & AlsoOption = {},
  ): Promise<BatchView | CancelledBatches> {
    const scope = this.scopeOf(options);
    if (typeof of !== 'object' || of === null) return this.store.batches.cancel(of, scope, also);
    const { tag } = of;
    validated((errors) => checkTag(tag, errors));
    return this.store.batches.cancelTagged(tag, scope);
  }

  /**
   * Adds an event of the channel, such as `unsubscribed`, to the reports of a message that was
   * submitted: listeners get it, and the status stays. The same event counts once.
   * @param id `{batchId}-{position}`
   * @throws MessageNotFoundError
   */
  async recordEvent(id: string, event: string, options: TenantOption = {}): Promise<void> {
    const { events = [] } = this.definition;
    if (!events.includes(event))
      throw new MessageValidationError([
        { path: 'event', message: `must be one of ${events.join(', ')}` },
      ]);
    const { provider, ...place } = await this.store.reads.submissionOf(id, this.scopeOf(options));
    const none = { reference: null, messageId: null, errorCode: null, providerTime: null };
    const report = { ...place, ...none, status: event, rawStatus: event };
    await this.store.reports.record([report], { provider });
  }

  /** @internal */
  protected enqueue(message: LibraryMessage, options: SendOptions = {}): Promise<Receipt> {
    return this.context.enqueuer.enqueue(this.definition, message, options);
  }

  /** @internal */
  protected replay(message: LibraryMessage, options: SendOptions): Promise<Receipt | undefined> {
    return this.context.enqueuer.replayOf(this.definition, message, options);
  }

  /** @internal Price of `parts` parts, or of one message of a category; `null`: no known price. */
  protected async costOf(
    { parts, category }: { readonly parts: number; readonly category: string | null },
    { tenant = '', to }: EstimateOptions,
  ): Promise<CostEstimate> {
    const { name, pricing } = this.definition;
    if (pricing?.categories && category === null) return { cost: null, currency: null };
    const item = { tenant, channel: name, category, recipient: to ?? null };
    const one = await this.context.rates.price(item);
    const price = one && (pricing?.categories ? one : times(one, parts));
    return { cost: price?.amount ?? null, currency: price?.currency ?? null };
  }

  /** @internal */
  protected get store(): MessageStore {
    return this.context.store;
  }

  /** @internal */
  protected scopeOf({ tenant = '' }: TenantOption): BatchScope {
    validated((errors) => checkWords({ tenant }, errors));
    return { tenant, channel: this.definition.name };
  }

  /** @internal */
  protected listScopeOf(options: TenantOption): ListScope {
    const { tenant, channel } = this.scopeOf(options);
    return { tenants: [tenant], channel };
  }

  /**
   * The scope of a list. @throws MessageValidationError naming each wrong field of its filter
   * @throws BatchNotFoundError
   * @internal
   */
  protected async checkedFilter(filter: MessageFilter): Promise<ListScope> {
    const { batchId, status } = filter;
    validated((errors) => {
      if (status !== undefined && this.context.channels.rankOf(status) === undefined)
        errors.push({ path: 'status', message: `must be a status of ${this.definition.name}` });
      for (const path of ['since', 'until'] as const) checkTime(path, filter[path], errors);
    });
    if (batchId !== undefined)
      await this.store.reads.batchRow(this.store.database, batchId, this.scopeOf(filter));
    return this.listScopeOf(filter);
  }

  #checkFilter({ batchIds, idempotencyKey, to, status, since }: ReportFilter): void {
    const isPhone = this.definition.addressKinds.includes('phone');
    validated((errors) => {
      const refuse = (path: string, message: string) => errors.push({ path, message });
      if (!Array.isArray(batchIds ?? [])) refuse('batchIds', 'must be an array of batch ids');
      else if ((batchIds?.length ?? 0) > 100) refuse('batchIds', 'must be at most 100');
      else
        batchIds?.forEach((id, index) => {
          if (!isBatchId(id))
            refuse(`batchIds[${index}]`, 'must be the id of a batch, as send() gave it');
        });
      if (to !== undefined && isPhone && !/^\d{1,15}$/.test(to))
        refuse('to', 'must be digits with country code, without a plus');
      if (status !== undefined && !this.context.channels.isReported(status))
        refuse('status', 'must be a status that reports have, such as delivered');
      checkWords({ idempotencyKey }, errors);
      checkTime('since', since, errors);
    });
  }
}

const FIELDS: KnownFields<ChannelMessage> = {
  from: true,
  to: true,
  content: true,
  deliveryReport: true,
  sendAt: true,
  ...LABEL_FIELDS,
};

/**
 * The service of any registered channel, returned by `MessagingService.channel()`.
 * @example
 * const telegram = messaging.channel('telegram');
 * const { id } = await telegram.send({ to: 'platform:42', content: { kind: 'text', text: 'Hello' } });
 */
export class AnyChannelService extends ChannelService {
  /** Accepts a message as `SmsService.send()` does, and with its errors. */
  async send(message: ChannelMessage, options: SendOptions = {}): Promise<Receipt> {
    refuseUnknownFields(given(message), FIELDS);
    return this.enqueue(message, options);
  }

  /** Price of one message with this content; nothing is sent or stored. */
  async estimate(
    content: ChannelMessage['content'],
    options: EstimateOptions = {},
  ): Promise<CostEstimate> {
    const { pricing } = this.definition;
    const { parts } = validated((errors) => contentOf(this.definition, content, errors));
    const named = 'category' in content ? content.category : undefined;
    const known = named ?? pricing?.categoryOf?.[content.kind];
    const category = typeof known === 'string' ? known : null;
    return this.costOf({ parts: parts || 1, category }, options);
  }
}

export function pageOf({ cursor, limit = 100 }: ListOptions): { cursor?: string; limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new MessageValidationError([{ path: 'limit', message: 'must be 1 to 1000' }]);
  return { limit, ...(cursor !== undefined && { cursor }) };
}
