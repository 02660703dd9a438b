import type { MessageStatusChanged } from '@dundun/messaging';
import { WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { amountText } from '../money.js';
import { RateCards } from '../rate-cards/rate-cards.service.js';
import { BatchRates, chargeOf, reportedChargeOf, reservationOf } from './batch-rates.js';
import { chargeStateOf } from './charge-state.js';
import { type ChargedBatch, ChargeStore } from './charge.store.js';
import { RecentBatches } from './recent-batches.js';
import { reportedAfter, reportedBy, secondsOf } from './reported-price.js';

/** A price in the interface: a JSON number with its currency. */
export interface Cost {
  readonly cost: number;
  readonly currency: string;
}

/** Millionths. */
interface Price {
  readonly amount: bigint;
  readonly currency: string;
}

/** `null`: not known, or the account is not charged. */
type CostFields = Cost | { readonly cost: null; readonly currency: null };

/** A message whose account may be charged for it. */
export interface CostedMessage {
  readonly batchId: string;
  readonly channel: string;
  /** Address key. */
  readonly recipient: string;
  readonly status: string;
  /** Number of the change to the status. @default of a message that a carrier had */
  readonly sequence?: number | null | undefined;
  /** Details of the report of this change. @default none */
  readonly details?: MessageStatusChanged['details'] | null;
  /** Billed seconds of a call. @default those of `details` */
  readonly seconds?: number | null | undefined;
}

/** What messages cost the accounts that are charged for them, or may still cost. */
@Injectable()
export class MessageCosts {
  constructor(
    private readonly store: ChargeStore,
    private readonly cards: RateCards,
    private readonly queues: WorkQueues,
    private readonly recent: RecentBatches,
  ) {}

  /** Of a batch to one recipient that this process has just accepted. */
  async ofAccepted({
    tenant,
    batchId,
    recipient,
  }: Pick<CostedMessage, 'batchId' | 'recipient'> & { readonly tenant: string }): Promise<
    Cost | undefined
  > {
    const known = this.recent.get(batchId);
    const rate = known?.rates.of(recipient);
    if (known && rate) return costOf(reservationOf(rate, known.units), known.currency);
    if (!this.cards.pays(tenant)) return undefined;
    return (await this.ofBatches([batchId])).get(batchId);
  }

  /** Of whole batches, without those of their messages that cost nothing; by batch. Free batches are left out. */
  async ofBatches(batches: readonly string[]): Promise<ReadonlyMap<string, Cost>> {
    const found = await this.store.find(batches);
    return new Map(
      found.map((batch) => [batch.batch, costOf(batch.reserved + batch.charged, batch.currency)]),
    );
  }

  /** Of each message as it is now. The result has none for messages that are free. */
  async ofMessages(
    messages: readonly CostedMessage[],
  ): Promise<(message: CostedMessage) => Cost | undefined> {
    const priceOf = await this.pricesOf(messages);
    return (message) => shown(priceOf(message));
  }

  /** The same as exact amounts. */
  async pricesOf(
    messages: readonly CostedMessage[],
  ): Promise<(message: CostedMessage) => Price | undefined> {
    const batches = read(await this.store.find(messages.map(({ batchId }) => batchId)));
    return (message) => {
      const batch = batches.get(message.batchId);
      if (!batch) return undefined;
      // Exact, whatever its reports said. Another recipient may have been denied, which costs nothing.
      if (batch.messages === 1 && message.status !== 'rejected')
        return { amount: batch.reserved + batch.charged, currency: batch.currency };
      return priceAt(message, batch);
    };
  }

  /** Of each message at the time of a report. */
  async ofReports(
    reports: readonly CostedMessage[],
  ): Promise<(report: CostedMessage) => Cost | undefined> {
    const batches = read(await this.store.find(reports.map(({ batchId }) => batchId)));
    return (report) => {
      const batch = batches.get(report.batchId);
      return batch && shown(priceAt(report, batch));
    };
  }

  /** Of changes of accounts that pay now, as their transaction sees them: one read for all. */
  async ofChanges(
    changes: readonly MessageStatusChanged[],
    manager: EntityManager,
  ): Promise<(change: MessageStatusChanged) => Cost | undefined> {
    const paid = changes.filter(({ tenant }) => this.cards.pays(tenant));
    if (paid.length === 0) return () => undefined;
    const sql = this.queues.database.join(manager);
    const batches = read(
      await this.store.find(
        paid.map(({ batchId }) => batchId),
        sql,
      ),
    );
    return (change) => {
      const batch = batches.get(change.batchId);
      return batch && shown(priceAt(change, batch));
    };
  }
}

/** The fields of an answer. @param cost `undefined`: the account is not charged, or the cost is not known */
export function costFields(cost: Cost | undefined): CostFields {
  return cost ?? { cost: null, currency: null };
}

type ReadBatch = Omit<ChargedBatch, 'rates'> & { readonly rates: BatchRates };

function read(found: readonly ChargedBatch[]): ReadonlyMap<string, ReadBatch> {
  return new Map(found.map((one) => [one.batch, { ...one, rates: new BatchRates(one.rates) }]));
}

/** `undefined`: the recipient was erased, and the batch has several rates. */
function priceAt(message: CostedMessage, batch: ReadBatch): Price | undefined {
  const { channel, status, sequence, details, seconds = secondsOf(details) } = message;
  const state = chargeStateOf({ channel, status, statuses: sequence ?? 2 }, batch.chargeAt);
  const { currency } = batch;
  if (state === 'released') return { amount: 0n, currency };
  const rate = batch.rates.of(message.recipient);
  if (!rate) return undefined;
  if (state === 'open') return { amount: reservationOf(rate, batch.units), currency };
  const reported = batch.messages === 1 ? reportedAfter(batch.reported, reportedBy(details)) : null;
  const amount =
    reported === null
      ? chargeOf(rate, batch.units, seconds ?? undefined)
      : reportedChargeOf(batch.rates, rate, reported, batch.units);
  return { amount, currency };
}

function shown(price: Price | undefined): Cost | undefined {
  return price && costOf(price.amount, price.currency);
}

function costOf(amount: bigint, currency: string): Cost {
  return { cost: Number(amountText(amount)), currency };
}
