import type { BatchScope } from '../store/cursor.js';
import type { MessageStore } from '../store/message-store.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import type { Channel } from '../message/message.js';
import type {
  BatchView,
  MessageTimeline,
  MessageView,
  Page,
  ReportFilter,
  ReportView,
} from '../message/views.js';
import type { LaneWaker } from '../ports/lane-waker.js';
import { checkReportFilter } from './report-filter.js';
import { checkTenant, checkTime } from './send-checks.js';

/** Whose batches. */
export interface TenantOption {
  /** @default '' */
  readonly tenant?: string;
}

export interface ListOptions extends TenantOption {
  readonly cursor?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}

/** Follows what one channel sent, and changes what has not left yet. */
export abstract class ChannelService {
  protected abstract readonly channel: Channel;

  constructor(
    protected readonly store: MessageStore,
    protected readonly waker: LaneWaker,
  ) {}

  /** @throws BatchNotFoundError */
  async batch(id: string, options: TenantOption = {}): Promise<BatchView> {
    return this.store.reads.batch(id, this.#scopeOf(options));
  }

  /** Newest first. */
  async batches(options: ListOptions = {}): Promise<Page<BatchView>> {
    return this.store.reads.batches(this.#scopeOf(options), pageOf(options));
  }

  /** Every recipient, as accepted. @throws BatchNotFoundError */
  async recipients(id: string, options: TenantOption = {}): Promise<string[]> {
    return this.store.reads.recipients(id, this.#scopeOf(options));
  }

  /** The messages that have begun, in the order of the batch. @throws BatchNotFoundError */
  async messages(id: string, options: ListOptions = {}): Promise<Page<MessageView>> {
    return this.store.reads.messages(id, this.#scopeOf(options), pageOf(options));
  }

  /**
   * One message from its acceptance to its last report.
   * @param id `{batchId}-{position}`, as events and {@link messages} give it
   * @throws MessageNotFoundError
   */
  async timeline(id: string, options: TenantOption = {}): Promise<MessageTimeline> {
    return this.store.reads.timeline(id, this.#scopeOf(options));
  }

  /**
   * Delivery reports, oldest first, whatever `deliveryReport` was.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async reports(filter: ReportFilter = {}): Promise<Page<ReportView>> {
    checkReportFilter(filter);
    return this.store.reportLog.find(this.#scopeOf(filter), { ...filter, ...pageOf(filter) });
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
    const { lane, ...batch } = await this.store.batches.reschedule(
      id,
      this.#scopeOf(options),
      sendAt,
    );
    this.waker.wake(lane, sendAt.getTime());
    return batch;
  }

  /**
   * Stops what has not started; what has is followed to its end. Repeatable.
   * @throws BatchNotFoundError
   * @throws AlreadySentError where nothing is left to stop
   */
  async cancel(id: string, options: TenantOption = {}): Promise<BatchView> {
    return this.store.batches.cancel(id, this.#scopeOf(options));
  }

  #scopeOf({ tenant = '' }: TenantOption): BatchScope {
    const errors: FieldError[] = [];
    checkTenant(tenant, errors);
    if (errors.length > 0) throw new MessageValidationError(errors);
    return { tenant, channel: this.channel };
  }
}

function pageOf({ cursor, limit = 100 }: ListOptions): { cursor?: string; limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new MessageValidationError([{ path: 'limit', message: 'must be 1 to 1000' }]);
  return { limit, ...(cursor !== undefined && { cursor }) };
}
