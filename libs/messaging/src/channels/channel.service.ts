import { Inject, Injectable } from '@nestjs/common';
import type { ChannelDefinition } from '../message/channel-definition.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import type {
  BatchView,
  MessageTimeline,
  MessageView,
  Page,
  ReportFilter,
  ReportView,
  SubmittedMessage,
} from '../message/views.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { type Duration, milliseconds } from '../ports/duration.js';
import { LANE_WAKER, type LaneWaker } from '../ports/lane-waker.js';
import { MESSAGING_RATE_CARD, type RateCard, times } from '../ports/rate-card.js';
import { Router } from '../routing/router.js';
import type { BatchScope } from '../store/rows/cursor.js';
import { MessageStore } from '../store/message-store.js';
import { isBatchId } from '../store/reads/reads.js';
import { Enqueuer } from './enqueuer.js';
import {
  type ChannelMessage,
  checkIdempotencyKey,
  checkTenant,
  checkTime,
  type Receipt,
  type SendOptions,
} from './send.js';

export interface TenantOption {
  /** @default '' */
  readonly tenant?: string;
}

export interface ListOptions extends TenantOption {
  readonly cursor?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}

export interface OutcomeOptions extends TenantOption {
  /** Resolve after this time with the message as it stands then. @default '10s' */
  readonly timeout?: Duration;
}

export interface EstimateOptions extends TenantOption {
  /** The recipient, where that decides the price. */
  readonly to?: string;
}

/** Price of a message; `null`: the rate card does not give it. */
export interface CostEstimate {
  /** Decimal number, such as `'0.0125'`. */
  readonly cost: string | null;
  /** ISO 4217 code. */
  readonly currency: string | null;
}

/** What the service of a channel works with. */
@Injectable()
export class ChannelContext {
  constructor(
    @Inject(ChannelRegistry) readonly channels: ChannelRegistry,
    @Inject(MessageStore) readonly store: MessageStore,
    @Inject(LANE_WAKER) readonly waker: LaneWaker,
    @Inject(MESSAGING_CLOCK) readonly clock: Clock,
    @Inject(Router) readonly router: Router,
    @Inject(MESSAGING_RATE_CARD) readonly rates: RateCard,
    @Inject(Enqueuer) readonly enqueuer: Enqueuer,
  ) {}
}

/** First and longest wait, in ms, between two looks into the store for a change by another process. */
const FIRST_LOOK = 100;
const LONGEST_LOOK = 1_000;

/** Sends on one channel, follows what was sent, and changes what has not left yet. */
export abstract class ChannelService {
  constructor(
    protected readonly definition: ChannelDefinition,
    private readonly context: ChannelContext,
  ) {}

  /** @throws BatchNotFoundError */
  async batch(id: string, options: TenantOption = {}): Promise<BatchView> {
    return this.#store.reads.batch(id, this.#scopeOf(options));
  }

  /** Newest first. */
  async batches(options: ListOptions = {}): Promise<Page<BatchView>> {
    return this.#store.reads.batches(this.#scopeOf(options), pageOf(options));
  }

  /** Every recipient, as accepted. @throws BatchNotFoundError */
  async recipients(id: string, options: TenantOption = {}): Promise<string[]> {
    return this.#store.reads.recipients(id, this.#scopeOf(options));
  }

  /** The messages that have begun, in the order of the batch. @throws BatchNotFoundError */
  async messages(id: string, options: ListOptions = {}): Promise<Page<MessageView>> {
    return this.#store.reads.messages(id, this.#scopeOf(options), pageOf(options));
  }

  /**
   * One message as it stands.
   * @param id `{batchId}-{position}`, or the provider's once it is known
   * @throws MessageNotFoundError
   */
  async message(id: string, options: TenantOption = {}): Promise<SubmittedMessage> {
    return this.#store.reads.message(id, this.#scopeOf(options));
  }

  /**
   * One message from its acceptance to its last report.
   * @param id `{batchId}-{position}`, as events and {@link messages} give it
   * @throws MessageNotFoundError
   */
  async timeline(id: string, options: TenantOption = {}): Promise<MessageTimeline> {
    return this.#store.reads.timeline(id, this.#scopeOf(options));
  }

  /**
   * One message once the outcome of its submit is known; after `timeout` as it stands, `queued` or `sending`.
   * @param id `{batchId}-{position}`
   * @throws MessageNotFoundError where its transaction has not been committed
   */
  async outcome(id: string, options: OutcomeOptions = {}): Promise<SubmittedMessage> {
    const { clock } = this.context;
    const scope = this.#scopeOf(options);
    const deadline = clock.monotonic() + milliseconds('timeout', options.timeout ?? '10s');
    // A commit of this process wakes the wait at once; one of another process is seen at the next look.
    const watch = this.#store.notices.watch(id.slice(0, id.lastIndexOf('-')));
    try {
      for (let look = FIRST_LOOK; ; look = Math.min(LONGEST_LOOK, look * 2)) {
        const message = await this.#store.reads.message(id, scope);
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
   * Delivery reports, oldest first, whatever `deliveryReport` was.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async reports(filter: ReportFilter = {}): Promise<Page<ReportView>> {
    this.#checkFilter(filter);
    return this.#store.reportLog.find(this.#scopeOf(filter), { ...filter, ...pageOf(filter) });
  }

  /**
   * Changes when a batch is due, as long as none of it has started.
   * @throws BatchNotFoundError
   * @throws AlreadySentError
   */
  async reschedule(id: string, sendAt: Date, options: TenantOption = {}): Promise<BatchView> {
    const errors: FieldError[] = [];
    checkTime('sendAt', sendAt ?? null, errors);
    if (errors.length > 0) throw new MessageValidationError(errors);
    const { lane, ...batch } = await this.#store.batches.reschedule(
      id,
      this.#scopeOf(options),
      sendAt,
    );
    this.context.waker.wake(lane, sendAt.getTime());
    return batch;
  }

  /**
   * Stops what has not started; messages that have are followed to their end. Repeatable.
   * @throws BatchNotFoundError
   * @throws AlreadySentError where nothing is left to stop
   */
  async cancel(id: string, options: TenantOption = {}): Promise<BatchView> {
    return this.#store.batches.cancel(id, this.#scopeOf(options));
  }

  /** @see {@link Enqueuer.enqueue} */
  protected async enqueue(message: ChannelMessage, options: SendOptions = {}): Promise<Receipt> {
    const { router, enqueuer } = this.context;
    router.providerOf({ channel: this.definition.name });
    return enqueuer.enqueue(this.definition, message, options);
  }

  /** @see {@link Enqueuer.replayOf} */
  protected replay(message: ChannelMessage, options: SendOptions): Promise<Receipt | undefined> {
    return this.context.enqueuer.replayOf(this.definition, message, options);
  }

  /** Price of `parts` parts, or of one message of a category; `null` category: nobody knows a price. */
  protected async costOf(
    { parts, category }: { readonly parts: number; readonly category: string | null },
    { tenant = '', to }: EstimateOptions,
  ): Promise<CostEstimate> {
    const { name, pricing } = this.definition;
    if (pricing?.categories && category === null) return { cost: null, currency: null };
    const one = await this.context.rates.price({
      tenant,
      channel: name,
      category,
      recipient: to ?? null,
    });
    const price = one && (pricing?.categories ? one : times(one, parts));
    return { cost: price?.amount ?? null, currency: price?.currency ?? null };
  }

  get #store(): MessageStore {
    return this.context.store;
  }

  #scopeOf({ tenant = '' }: TenantOption): BatchScope {
    const errors: FieldError[] = [];
    checkTenant(tenant, errors);
    if (errors.length > 0) throw new MessageValidationError(errors);
    return { tenant, channel: this.definition.name };
  }

  #checkFilter({ batchIds, idempotencyKey, to, status, since }: ReportFilter): void {
    const errors: FieldError[] = [];
    const wrong = (path: string, message: string) => errors.push({ path, message });
    if (batchIds !== undefined && !Array.isArray(batchIds))
      wrong('batchIds', 'must be an array of batch ids');
    else if ((batchIds?.length ?? 0) > 100) wrong('batchIds', 'must be at most 100');
    else
      batchIds?.forEach((id, index) => {
        if (!isBatchId(id))
          wrong(`batchIds[${index}]`, 'must be the id of a batch, as send() gave it');
      });
    if (
      to !== undefined &&
      this.definition.addressKinds.includes('phone') &&
      !/^\d{1,15}$/.test(to)
    )
      wrong('to', 'must be digits with country code, without a plus');
    if (status !== undefined && !this.context.channels.isReported(status))
      wrong('status', 'must be a status that reports have, such as delivered');
    checkIdempotencyKey(idempotencyKey, errors);
    checkTime('since', since, errors);
    if (errors.length > 0) throw new MessageValidationError(errors);
  }
}

/**
 * Any channel by its definition alone: what `MessagingService.channel()` gives.
 *
 * @example
 * const telegram = messaging.channel('telegram');
 * const { id } = await telegram.send({ to: 'platform:42', content: { kind: 'text', text: 'Hello' } });
 */
export class AnyChannelService extends ChannelService {
  /**
   * Accepts a message for one or many recipients. Resolves once it is durable, or, with `manager`, once it is
   * part of that transaction; status, events and reports tell what happens then.
   *
   * @throws MessageValidationError naming each wrong field; nothing was stored
   * @throws PolicyError where policy denies every recipient; nothing was stored. Where it denies some, their
   *   messages are `rejected` with the code
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where another open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the module's data source
   * @throws NoRouteError where no provider carries this channel; nothing was stored
   */
  async send(message: ChannelMessage, options: SendOptions = {}): Promise<Receipt> {
    return this.enqueue(message, options);
  }

  /** Price of one message with this content; nothing is sent or stored. */
  estimate(
    content: ChannelMessage['content'],
    options: EstimateOptions = {},
  ): Promise<CostEstimate> {
    const errors: FieldError[] = [];
    const check = this.definition.content[content.kind];
    const parts = check?.(content as never, errors).parts ?? 0;
    if (errors.length > 0) throw new MessageValidationError(errors);
    const named = 'category' in content ? content.category : undefined;
    const category = named ?? this.definition.pricing?.categoryOf?.[content.kind];
    return this.costOf(
      { parts: parts || 1, category: typeof category === 'string' ? category : null },
      options,
    );
  }
}

function pageOf({ cursor, limit = 100 }: ListOptions): { cursor?: string; limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new MessageValidationError([{ path: 'limit', message: 'must be 1 to 1000' }]);
  return { limit, ...(cursor !== undefined && { cursor }) };
}
