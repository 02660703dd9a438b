import {
  type DetailedReport,
  type GuardedMessage,
  MessageHistory,
} from '@dundun/messaging/operations';
import { ProviderCosts, type SpentAmount } from '@dundun/messaging/ports';
import type { Sql } from '@dundun/messaging/queue';
import { countryOfNumber } from '@dundun/messaging/values';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { GatewayChannels } from '../../channel.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { invalidField } from '../../http/api-error.js';
import { BatchRates, chargeOf } from '../charging/batch-rates.js';
import { chargeStateOf } from '../charging/charge-state.js';
import { secondsOf } from '../charging/reported-price.js';
import { boundsOf, monthOf } from '../statements/month-totals.js';
import { MarginStore, type PricedBatch } from './margin.store.js';
import { type Margin, MarginSums } from './margin-sums.js';

/** Batches that are read together. */
const PAGE = 500;

/** Messages, or batches, after which a part ends. */
const MOST_MESSAGES = 10_000;
const MOST_BATCHES = 5_000;

/** More than between the acceptance of a batch and the time in its id, in milliseconds. */
const SLACK = 3_600_000;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An address key that is a phone number. */
const NUMBER = /^\d+$/;

/** Orders cost what they order, and no price of a message. */
const ORDERS = 'vas';

/** Margins of a part of a month. */
export interface MarginsPart {
  readonly margins: readonly Margin[];
  /** Names of their accounts, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Messages that were read. */
  readonly read: number;
  /** Where the next part begins; `null`: this is the last one. */
  readonly next: string | null;
}

/**
 * What messages of accounts that pay bring, and what they cost. Of batches that have not ended it is
 * computed from their messages; of others it was kept when they ended.
 */
@Injectable()
export class Margins {
  /** By carrier. */
  readonly #prices: ReadonlyMap<string, ProviderCosts>;

  constructor(
    private readonly history: MessageHistory,
    private readonly store: MarginStore,
    private readonly channels: GatewayChannels,
    @Inject(ENVIRONMENT) { carriers }: Pick<Environment, 'carriers'>,
  ) {
    this.#prices = new Map(
      carriers.all.flatMap(({ name, prices }) =>
        prices ? [[name, ProviderCosts.of(prices, carriers.currency)] as const] : [],
      ),
    );
  }

  /**
   * A part of a month of UTC, of bounded size; its parts together are the month.
   * @param cursor `next` of the part before @throws ApiError 422
   */
  async part(month: string, cursor?: string): Promise<MarginsPart> {
    const bounds = boundsOf(month);
    if (!bounds) throw invalidField('month', 'must be a month, such as 2026-11');
    if (cursor !== undefined && !UUID.test(cursor))
      throw invalidField('cursor', 'must be the nextCursor of the part before');
    const sums = new MarginSums();
    if (cursor === undefined) for (const margin of await this.store.ended(month)) sums.add(margin);
    const [start, end] = bounds;
    const range = { until: idAt(end + SLACK), bounds };
    let after = cursor ?? idAt(start - SLACK);
    let read = 0;
    let isLast = false;
    for (let batches = 0; !isLast && read < MOST_MESSAGES && batches < MOST_BATCHES;) {
      const page = await this.store.open({ after, ...range }, PAGE);
      read += await this.#add(page, sums);
      batches += page.length;
      after = page.at(-1)?.batch ?? after;
      isLast = page.length < PAGE;
    }
    const names = await this.store.names([...new Set(sums.all.map(({ accountId }) => accountId))]);
    return { margins: sums.all, names, read, next: isLast ? null : after };
  }

  /** All parts of a month. @throws ApiError 422 */
  async month(month: string): Promise<readonly Margin[]> {
    const sums = new MarginSums();
    for (let cursor: string | undefined; ;) {
      const { margins, next } = await this.part(month, cursor);
      for (const margin of margins) sums.add(margin);
      if (next === null) return sums.all;
      cursor = next;
    }
  }

  /** Keeps the margins of batches that end, in the transaction that ends them. */
  async keep(sql: Sql, batches: readonly PricedBatch[], manager: EntityManager): Promise<void> {
    if (batches.length === 0) return;
    const sums = new MarginSums();
    await this.#add(batches, sums, manager);
    await this.store.add(sql, sums.all);
  }

  /** What each message of the batches is charged now. */
  async prices(
    batches: readonly PricedBatch[],
    manager: EntityManager,
  ): Promise<ReadonlyMap<string, SpentAmount>> {
    const prices = new Map<string, SpentAmount>();
    if (batches.length === 0) return prices;
    const known = new Map(batches.map((one) => [one.batch, readBatch(one)]));
    for await (const { message, batch, details } of this.#messagesOf(known, manager)) {
      const amount = priceOf(message, batch, details);
      prices.set(message.messageId, { amount, currency: batch.currency });
    }
    return prices;
  }

  /** @returns the number of messages */
  async #add(
    batches: readonly PricedBatch[],
    sums: MarginSums,
    manager?: EntityManager,
  ): Promise<number> {
    if (batches.length === 0) return 0;
    const known = new Map(batches.map((one) => [one.batch, readBatch(one)]));
    let read = 0;
    for await (const { message, batch, details } of this.#messagesOf(known, manager)) {
      read++;
      const margin = this.#of(message, batch, details);
      if (!margin) continue;
      batch.left -= margin.price;
      sums.add(margin);
    }
    // Such as of messages whose recipient was erased.
    for (const batch of known.values())
      if (batch.left !== 0n)
        sums.add({ ...keyOf(batch), messages: 0, parts: 0, price: batch.left, cost: 0n });
    return read;
  }

  async *#messagesOf(
    known: ReadonlyMap<string, ReadBatch>,
    manager: EntityManager | undefined,
  ): AsyncGenerator<PricedMessage> {
    const ids = [...known.keys()];
    const details = new Map<string, DetailedReport[]>();
    for (const report of await this.history.detailedReports(ids, manager)) {
      if (report.messageId === null) continue;
      const own = details.get(report.messageId);
      if (own) own.push(report);
      else details.set(report.messageId, [report]);
    }
    for await (const page of this.history.guardedMessages(ids, manager))
      for (const message of page) {
        const batch = known.get(message.batchId);
        if (batch) yield { message, batch, details: details.get(message.messageId) ?? [] };
      }
  }

  /** `undefined`: no carrier took it, and it is not charged. */
  #of(
    message: GuardedMessage,
    batch: ReadBatch,
    details: readonly DetailedReport[],
  ): Margin | undefined {
    const { channel, recipient, provider } = message;
    const price = priceOf(message, batch, details);
    // Carriers charge for what they have taken, whatever the rule of the account.
    const isCarried = provider !== null && chargeStateOf(message, 'sent') === 'charged';
    const cost = this.#costOf(message, batch, details, isCarried);
    if (!isCarried && price === 0n && !cost) return undefined;
    return {
      ...keyOf(batch),
      channel,
      carrier: provider ?? '',
      country: NUMBER.test(recipient) ? countryOfNumber(recipient) : '',
      costCurrency: cost?.currency ?? '',
      messages: 1,
      parts: batch.units,
      price,
      cost: cost?.amount ?? 0n,
    };
  }

  /** `undefined`: it is not known. */
  #costOf(
    { channel, recipient, provider, answer }: GuardedMessage,
    { currency, units }: ReadBatch,
    details: readonly DetailedReport[],
    isCarried: boolean,
  ): CarrierCost | undefined {
    const usual = channel === ORDERS ? currency : undefined;
    const reported = details
      .map((report) => reportedCost(report.details, usual))
      .findLast((cost) => cost !== undefined);
    if (reported || !isCarried) return reported;
    const answered = reportedCost(answer, usual);
    if (answered) return answered;
    const isPriced = channel !== ORDERS && !this.channels.find(channel)?.isTimed;
    const prices = this.#prices.get(provider ?? '');
    if (!isPriced || recipient === '' || prices?.currency === undefined) return undefined;
    const amount = prices.amountOf(NUMBER.test(recipient) ? recipient : '', units);
    return amount === undefined ? undefined : { amount, currency: prices.currency };
  }
}

interface ReadBatch extends Omit<PricedBatch, 'rates'> {
  readonly rates: BatchRates;
  /** What it was charged, less its messages so far. */
  left: bigint;
}

interface PricedMessage {
  readonly message: GuardedMessage;
  readonly batch: ReadBatch;
  readonly details: readonly DetailedReport[];
}

function readBatch(batch: PricedBatch): ReadBatch {
  return { ...batch, rates: new BatchRates(batch.rates), left: batch.charged };
}

/** Of what is charged for no known message. */
function keyOf({ accountId, channel, currency, acceptedAt }: ReadBatch) {
  const month = monthOf(acceptedAt);
  return { month, accountId, channel, currency, carrier: '', country: '', costCurrency: '' };
}

/** What the account is charged for a message. */
function priceOf(
  message: GuardedMessage,
  { messages, charged, chargeAt, rates, units }: ReadBatch,
  details: readonly DetailedReport[],
): bigint {
  // Another recipient may have been denied, which costs nothing.
  const isDenied = message.status === 'rejected' && message.provider === null;
  if (messages === 1) return isDenied ? 0n : charged;
  if (chargeStateOf(message, chargeAt) !== 'charged') return 0n;
  const rate = rates.of(message.recipient);
  if (!rate) return 0n;
  const last = details.find(({ status }) => status === message.status);
  return chargeOf(rate, units, secondsOf(last?.details));
}

/** The smallest id of a batch that was accepted at a time. */
function idAt(at: number): string {
  const digits = at.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** What a carrier charges for a message. */
interface CarrierCost {
  /** Millionths. */
  readonly amount: bigint;
  readonly currency: string;
}

/** Fields of an answer or a report of a carrier. */
type Details = GuardedMessage['answer'];

/** Digits of the finest price, and of an amount. */
const FINE = 12;
const MILLIONTHS = 6;

const FORM = /^(\d{1,12})(?:\.(\d+))?$/;

/** The cost that a carrier reports in its own words. @param currency where the report names none */
function reportedCost(details: Details, currency?: string): CarrierCost | undefined {
  const given = details?.['cost'];
  const named = details?.['currency'] ?? currency;
  const cost = unitsOf(String(given ?? ''), FINE);
  if (cost === undefined || typeof named !== 'string' || !/^[A-Z]{3}$/.test(named))
    return undefined;
  return { amount: rounded(cost), currency: named };
}

/** Further digits are cut. */
function unitsOf(text: string, digits: number): bigint | undefined {
  const [, whole = '', fraction = ''] = FORM.exec(text) ?? [];
  if (whole === '') return undefined;
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
}

function rounded(fine: bigint): bigint {
  const step = 10n ** BigInt(FINE - MILLIONTHS);
  return (fine + step / 2n) / step;
}
