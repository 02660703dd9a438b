import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Contact } from '../contacts/contact.js';
import { ContactStore } from '../contacts/contact-store.js';
import type { InboundContent } from '../message/content/inbound-content.js';
import type { MessageContent } from '../message/message.js';
import { isBatchId } from '../message/ids.js';
import { InboundTexts } from '../contacts/inbound-texts.js';
import { ReceiptDoubts } from '../channels/verification/receipt-doubts.js';
import { ChannelContext, pageOf } from '../channels/channel.service.js';
import { checkTime, isWithin, periodOf, timeOf } from '../channels/send.js';
import { readAddress, addressKey } from '../message/address.js';
import {
  BatchNotFoundError,
  MessageValidationError,
  MessagingConfigError,
  validated,
} from '../message/errors.js';
import type { ReceiptFinding } from '../message/receipt-doubts.js';
import {
  type DeliveredShare,
  type DeliveredSharesOptions,
  OUTCOME_GROUPS,
  type Outcomes,
  type OutcomesOptions,
} from '../message/outcomes.js';
import type {
  BatchFilter,
  BatchView,
  ConversationMessage,
  ListedBatch,
  Changes,
  HistoryFilter,
  PresentStatuses,
  HistoryStats,
  HistoryStatsOptions,
  InboundText,
  Latency,
  ListedMessage,
  MessageRecord,
  MessageTotal,
  Page,
  TenantsOption,
} from '../message/views.js';
import { conversationOf } from './conversation.js';
import type { DetailedReport, GuardedMessage } from '../store/reads/guarded-messages.js';
import type { Duration } from '../ports/option-schema.js';
import { presentStatuses } from '../store/reads/messages/present-statuses.js';
import type { MessageStore } from '../store/message-store.js';
import { readDeliveredShares } from '../store/reads/delivered-shares.js';
import { readOutcomes } from '../store/reads/outcomes.js';
import { messageStats } from '../store/reads/messages/message-stats.js';
import type { ListScope } from '../store/rows/cursor.js';

const MOST_SLOTS = 2_300;
const MOST_TENANTS = 100;

/** A total ends here. */
const MOST_TOTAL = 10_000;

const SEARCHES = [
  ['toPart', /^\d{3,15}$/, 'must be 3 to 15 digits of a number'],
  ['country', /^[A-Z]{2}$/, 'must be the ISO 3166 code of a country, such as NG'],
  ['subject', /^[^]{2,100}$/, 'must be 2 to 100 characters of a subject'],
] as const;

const HOUR = 3_600_000;
/** What the newest counts of outcomes are kept by. */
const SLOT = 300_000;
const DAY = 24 * HOUR;
const MOST_DAYS = 30;
/** Longest period of outcomes, 400 days. */
const MOST_HOURS = 9_600;
const MOST_GROUPS = 500;

/** @throws MessagingConfigError where outcomes are not counted */
export function requireOutcomes({ outcomeCounts }: Pick<MessageStore, 'outcomeCounts'>): void {
  if (outcomeCounts) return;
  throw new MessagingConfigError(
    'store.outcomes: outcomes are not counted; set store.outcomes: true in every process, then run MessagingOperations.rebuildOutcomes()',
  );
}

/**
 * Reads messages and batches of every channel, of one tenant, of several or of all: for pages of
 * operators. Each page of a list reads a bounded part of the store.
 * @example
 * const { data } = await history.messages({ to: '2348012345678', limit: 20 });
 * const record = await history.message(data[0].id);
 */
@Injectable()
export class MessageHistory {
  /** @internal */
  constructor(
    @Inject(ChannelContext) private readonly context: ChannelContext,
    @Inject(InboundTexts) private readonly texts: InboundTexts,
    @Inject(ContactStore) private readonly contacts: ContactStore,
    @Inject(ReceiptDoubts) private readonly doubts: ReceiptDoubts,
  ) {}

  /**
   * Messages, one for each recipient, also before they start; the newest batch first. A page looks
   * at 1,000 batches, and with `status`, `provider`, `errorCode`, `to`, `toPart`, `country` or `subject` at 10,000 recipients. With the option
   * `store.recipientIndex` one page finds the 1,000 newest messages `to` an address that have
   * started, and those in the 1,000 newest batches that have not.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async messages(filter: HistoryFilter = {}): Promise<Page<ListedMessage>> {
    const asked = await this.#asked(filter);
    if (!asked) return { data: [], nextCursor: null };
    return this.context.store.messages.page(asked.scope, { ...asked.filter, ...pageOf(filter) });
  }

  /**
   * Number of messages that match a filter, up to 10,000. It looks at 10,000 batches, and with a filter
   * other than tenant, channel, sender, tag and time at 30,000 recipients; then there may be `more`.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async total(filter: Omit<HistoryFilter, 'cursor' | 'limit'> = {}): Promise<MessageTotal> {
    const asked = await this.#asked(filter);
    if (!asked) return { messages: 0, more: false };
    const { scope, filter: wanted } = asked;
    return this.context.store.messages.total(scope, { ...wanted, limit: MOST_TOTAL }, MOST_TOTAL);
  }

  /** The filter as the store takes it; `undefined`: it names an id that no message has. */
  async #asked(filter: HistoryFilter) {
    const { reference, status, to } = filter;
    const scope = this.#scopeOf(filter);
    const address = to === undefined ? undefined : readAddress(to);
    validated((errors) => {
      const { channels } = this.context;
      if (status !== undefined && channels.rankOf(status) === undefined)
        errors.push({
          path: 'status',
          message: `must be a status of a channel: ${channels.statuses.join(', ')}`,
        });
      if (to !== undefined && !address)
        errors.push({
          path: 'to',
          message:
            'must be a whole phone number with country code, an e-mail address or platform:id',
        });
      for (const path of ['since', 'until'] as const) checkTime(path, filter[path], errors);
      for (const [path, form, message] of SEARCHES) {
        const value = filter[path];
        if (value !== undefined && !form.test(value)) errors.push({ path, message });
      }
    });
    const { records } = this.context.store;
    const found = reference === undefined ? {} : await records.find(reference);
    return found && { scope, filter: { ...filter, ...found, to: address && addressKey(address) } };
  }

  /**
   * Everything that is known of a message.
   * @param id `{batchId}-{position}` @throws MessageNotFoundError, also of another tenant
   */
  async message(id: string, { tenants = 'all' }: TenantsOption = {}): Promise<MessageRecord> {
    return this.context.store.records.record(id, tenants);
  }

  /** Batches, newest first; a page ends early after 10,000 recipients, or 1,000 batches. */
  async batches(filter: BatchFilter = {}): Promise<Page<ListedBatch>> {
    const scope = this.#scopeOf(filter);
    const { status } = filter;
    return this.context.store.reads.batches(scope, { ...pageOf(filter), status });
  }

  /** @throws BatchNotFoundError, also of another tenant */
  async batch(id: string, { tenants = 'all' }: TenantsOption = {}): Promise<BatchView> {
    const { reads, records } = this.context.store;
    const [found] = [await records.find(id)];
    const scope = found && (await records.scopeOf(found.batchId, tenants));
    if (!found || !scope) throw new BatchNotFoundError(id.slice(0, 36));
    return reads.batch(found.batchId, scope);
  }

  /** Counts of messages by the hour or day of their acceptance, at most 2,300 of them. */
  async stats(options: HistoryStatsOptions): Promise<HistoryStats> {
    const scope = this.#scopeOf(options);
    const period = periodOf(options, this.context.clock.now(), MOST_SLOTS);
    return messageStats(this.context.store.database, scope, period);
  }

  /** Counts of messages by channel, present status, and the hour or day of their acceptance. */
  async presentStatuses(options: HistoryStatsOptions): Promise<PresentStatuses> {
    const scope = this.#scopeOf(options);
    const period = periodOf(options, this.context.clock.now(), MOST_SLOTS);
    return presentStatuses(this.context.store.database, scope, period);
  }

  /** Times from being due to acceptance by the provider and to delivery, of the newest batches. */
  async latency(options: Omit<HistoryStatsOptions, 'interval'>): Promise<Latency> {
    const { channels, store } = this.context;
    const { tenants, channel } = this.#scopeOf(options);
    const period = periodOf(options, this.context.clock.now());
    const sent = channels.all.map(({ name }) => channels.acceptedRankOf(name));
    return store.changes.latency(tenants, { ...period, channel }, sent, channels.reachedRanks);
  }

  /**
   * Delivered share, times, parts and statuses by provider, country, sender …, beside those of the period
   * before: of the messages that were accepted in it, with every report until now. It needs
   * `store.outcomes: true`, and reads counts, not messages.
   * @throws MessagingConfigError where outcomes are not counted
   * @throws MessageValidationError naming each wrong field
   * @example
   * const { groups } = await history.outcomes({ since: new Date(Date.now() - 86_400_000), by: 'provider' });
   */
  async outcomes(options: OutcomesOptions): Promise<Outcomes> {
    const { clock, store } = this.context;
    requireOutcomes(store);
    const { tenants } = this.#scopeOf({ tenants: options.tenants ?? 'all' });
    const { by, where = {}, limit = 100 } = options;
    const period = periodOf({ since: options.since, until: options.until }, clock.now());
    const [since, until] = [
      Math.floor(period.since.getTime() / HOUR) * HOUR,
      Math.ceil(period.until.getTime() / HOUR) * HOUR,
    ];
    validated((errors) => {
      if (until - since > MOST_HOURS * HOUR)
        errors.push({ path: 'since', message: `must be at most ${MOST_HOURS} hours before until` });
      if (!OUTCOME_GROUPS.includes(by))
        errors.push({ path: 'by', message: `must be one of ${OUTCOME_GROUPS.join(', ')}` });
      for (const [name, value] of Object.entries(where))
        if (name === 'tenant' || !OUTCOME_GROUPS.some((one) => one === name))
          errors.push({ path: `where.${name}`, message: 'is not what outcomes are counted by' });
        else if (value !== undefined && typeof value !== 'string')
          errors.push({ path: `where.${name}`, message: 'must be a text' });
      if (!isWithin(limit, 1, MOST_GROUPS))
        errors.push({ path: 'limit', message: `must be 1 to ${MOST_GROUPS}` });
    });
    return readOutcomes(store.database, { tenants, since, until, by, where, limit });
  }

  /**
   * Providers whose reports a second witness contradicts: one-time codes that are not checked although
   * no failure is reported, SMS that are reported as delivered faster than a telephone answers, and
   * messages that test phones have not got (`reports.witness`). By provider, channel and country; needs `store.outcomes: true`. One statement for each witness.
   * @param options.since messages accepted before do not count: a time, or an age @default '24h'
   * @throws MessagingConfigError where outcomes are not counted
   * @throws MessageValidationError
   */
  async doubtfulReceipts(
    options: { readonly since?: Duration | Date } = {},
  ): Promise<readonly ReceiptFinding[]> {
    const { clock, store } = this.context;
    requireOutcomes(store);
    const now = clock.now();
    const at = validated((errors) => timeOf('since', options.since ?? '24h', now, errors));
    const { doubts } = await this.doubts.read(at?.getTime() ?? now);
    return doubts;
  }

  /**
   * By provider and country, how many messages of a period were delivered within a time, beside those of the same
   * hours of the days before. It needs `store.outcomes: true`, and reads counts, not messages.
   * @throws MessagingConfigError where outcomes are not counted
   * @throws MessageValidationError naming each wrong field
   */
  async deliveredShares(options: DeliveredSharesOptions): Promise<DeliveredShare[]> {
    const { store } = this.context;
    requireOutcomes(store);
    const { tenants } = this.#scopeOf({ tenants: options.tenants ?? 'all' });
    const { within, days = 7, where = {} } = options;
    const [since, until] = [options.since, options.until].map(
      (time) => Math.floor(time.getTime() / SLOT) * SLOT,
    ) as [number, number];
    validated((errors) => {
      if (!(until > since && until - since <= DAY))
        errors.push({ path: 'until', message: 'must be 5 minutes to a day after since' });
      if (!(within > 0)) errors.push({ path: 'within', message: 'must be above 0' });
      if (!isWithin(days, 1, MOST_DAYS))
        errors.push({ path: 'days', message: `must be 1 to ${MOST_DAYS}` });
    });
    return readDeliveredShares(store.database, { tenants, since, until, within, days, where });
  }

  /**
   * The changes since a former read; three counts of an index where there are none. An
   * inbound message is a change, as long as its text is kept.
   * @param options.since `cursor` of the former read; without it nothing has changed
   */
  async changes(options: TenantsOption & { readonly since?: string | undefined } = {}) {
    const { tenants } = this.#scopeOf(options);
    const changes: Changes = await this.context.store.changes.since(tenants, options.since);
    return changes;
  }

  /**
   * Contents of messages by their ids; retention and erasure delete them.
   * @param options.codes also of messages with a one-time code: for simulated recipients alone
   * @default without those
   */
  contents(
    messageIds: readonly string[],
    options: { readonly codes?: boolean } = {},
  ): Promise<ReadonlyMap<string, MessageContent>> {
    return this.context.store.records.contents(messageIds, options);
  }

  /** A contact by its id; `undefined`: none of the tenants has it. */
  async contact(id: string, { tenants = 'all' }: TenantsOption = {}): Promise<Contact | undefined> {
    if (!isBatchId(id)) return undefined;
    const [contact] = await this.contacts.views(this.contacts.database, [id]);
    const isKnown = contact && (tenants === 'all' || tenants.includes(contact.tenant));
    return isKnown ? contact : undefined;
  }

  /**
   * Messages to the addresses of a contact, and those from it as long as their texts are kept; the newest
   * first. A page reads a bounded part of the store as {@link messages} does: it may have fewer
   * entries than `limit`, or none, while `nextCursor` leads to older ones.
   * @throws MessageValidationError on `cursor` or `limit`
   */
  conversation(
    contact: Pick<Contact, 'id' | 'tenant' | 'addresses'>,
    options: { readonly cursor?: string | undefined; readonly limit?: number } = {},
  ): Promise<Page<ConversationMessage>> {
    const parts = { messages: this.context.store.messages, inbound: this.texts };
    return conversationOf(contact, parts, pageOf(options));
  }

  /** The newest inbound messages of tenants. */
  inbound({
    tenants = 'all',
    limit = 100,
  }: TenantsOption & { readonly limit?: number } = {}): Promise<InboundText[]> {
    return this.texts.ofTenants(tenants, pageOf({ limit }).limit);
  }

  /** Contents of inbound messages of a list, by their ids. */
  inboundContents(messages: readonly InboundText[]): Promise<ReadonlyMap<string, InboundContent>> {
    return this.texts.contents(messages);
  }

  /**
   * The messages of batches of any tenants as they are, also those that have not started, for a
   * recomputation of what a spend guard has stored: pages of at most some thousand, with the messages of
   * one batch one after the other.
   * @param manager of the transaction that reads them @default each page is read by itself
   */
  guardedMessages(
    batchIds: readonly string[],
    manager?: EntityManager,
  ): AsyncIterable<readonly GuardedMessage[]> {
    const { guarded, database } = this.context.store;
    return guarded.of(batchIds.filter(isBatchId), manager && database.join(manager));
  }

  /** Reports of these batches that have further data, such as the billed seconds of a call. */
  detailedReports(
    batchIds: readonly string[],
    manager?: EntityManager,
  ): Promise<readonly DetailedReport[]> {
    const { guarded, database } = this.context.store;
    return guarded.details(batchIds.filter(isBatchId), manager && database.join(manager));
  }

  #scopeOf({
    tenants = 'all',
    channel,
  }: TenantsOption & Pick<HistoryFilter, 'channel'>): ListScope {
    if (tenants !== 'all' && tenants.length > MOST_TENANTS)
      throw new MessageValidationError([
        { path: 'tenants', message: `must be 'all' or at most ${MOST_TENANTS}` },
      ]);
    return { tenants, channel };
  }
}
