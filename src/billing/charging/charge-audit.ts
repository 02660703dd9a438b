import { setImmediate as turn } from 'node:timers/promises';
import { MessagingService } from '@dundun/messaging';
import {
  type DetailedReport,
  type GuardedMessage,
  MessageHistory,
} from '@dundun/messaging/operations';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Difference } from '../ledger/ledger-audit.js';
import { amountText } from '../money.js';
import { BatchRates, chargeOf, reportedChargeOf, reservationOf } from './batch-rates.js';
import { chargeStateOf } from './charge-state.js';
import { type ChargedBatch, ChargeStore, type StoredBatch } from './charge.store.js';
import { reportedAfter, reportedBy, secondsOf } from './reported-price.js';

/** Batches of a statement, ended ones among them. */
const PAGE = 1_000;

/** Batches whose messages are read together. */
const TOGETHER = 50;

/** Most differences that are named. */
const MOST = 100;

interface Sums {
  reserved: bigint;
  charged: bigint;
  /** A recipient was erased, and the batch has several rates: the rate of its message is not known. */
  isUnknown: boolean;
}

/** Reports with further data, by message. */
type Details = ReadonlyMap<string, readonly DetailedReport[]>;

/** Recomputes what batches have reserved and charged from the statuses of their messages. */
@Injectable()
export class ChargeAudit {
  constructor(
    private readonly messaging: MessagingService,
    private readonly history: MessageHistory,
    private readonly store: ChargeStore,
  ) {}

  /**
   * Compares every batch that may still change, page by page, with a turn for other work after each.
   * Batches at work change meanwhile: one that differs is compared again with its row locked.
   */
  async differences(): Promise<readonly Difference[]> {
    const found: Difference[] = [];
    let page: readonly StoredBatch[] | undefined;
    do {
      page = await this.store.page(page?.at(-1)?.batch ?? '', PAGE);
      for (const batch of page)
        if (batch.isEnded && batch.reserved !== 0n)
          found.push(differenceOf(batch, 'reserved', batch.reserved, 0n));
      const open = page.filter(({ isEnded }) => !isEnded);
      for (let from = 0; from < open.length && found.length < MOST; from += TOGETHER) {
        found.push(...(await this.#compare(open.slice(from, from + TOGETHER))));
        await turn();
      }
      await turn();
    } while (page.length === PAGE && found.length < MOST);
    return found.slice(0, MOST);
  }

  async #compare(batches: readonly ChargedBatch[]): Promise<readonly Difference[]> {
    const computed = await this.#compute(batches);
    const found: Difference[] = [];
    for (const batch of batches)
      if (differencesOf(batch, computed.get(batch.batch)).length > 0)
        found.push(...(await this.#again(batch.batch)));
    return found;
  }

  /** While its row is locked, no change of a status that moves its money commits. */
  #again(id: string): Promise<readonly Difference[]> {
    return this.messaging.transaction(async (manager) => {
      const [batch] = await this.store.charged(this.store.join(manager), [id]);
      if (!batch) return [];
      return differencesOf(batch, (await this.#compute([batch], manager)).get(id));
    });
  }

  async #compute(
    batches: readonly ChargedBatch[],
    manager?: EntityManager,
  ): Promise<ReadonlyMap<string, Sums>> {
    const known = new Map(
      batches.map((batch) => [batch.batch, { ...batch, rates: new BatchRates(batch.rates) }]),
    );
    const detailed = [...known.values()].filter(({ rates }) => rates.needsDetails);
    const details = await this.#details(
      detailed.map(({ batch }) => batch),
      manager,
    );
    const sums = new Map<string, Sums>();
    for await (const page of this.history.guardedMessages([...known.keys()], manager))
      for (const message of page) {
        const batch = known.get(message.batchId);
        if (!batch) continue;
        const own = sums.get(message.batchId) ?? { reserved: 0n, charged: 0n, isUnknown: false };
        sums.set(message.batchId, own);
        add(message, batch, details.get(message.messageId) ?? [], own);
      }
    return sums;
  }

  async #details(batches: readonly string[], manager?: EntityManager): Promise<Details> {
    if (batches.length === 0) return new Map();
    const found = new Map<string, DetailedReport[]>();
    for (const report of await this.history.detailedReports(batches, manager)) {
      if (report.messageId === null) continue;
      const own = found.get(report.messageId);
      if (own) own.push(report);
      else found.set(report.messageId, [report]);
    }
    return found;
  }
}

type ReadBatch = Omit<ChargedBatch, 'rates'> & { readonly rates: BatchRates };

function add(
  message: GuardedMessage,
  { rates, units, chargeAt, messages }: ReadBatch,
  details: readonly DetailedReport[],
  sums: Sums,
): void {
  const state = chargeStateOf(message, chargeAt);
  if (state === 'released') return;
  const rate = rates.of(message.recipient);
  if (!rate) {
    sums.isUnknown = true;
    return;
  }
  if (state === 'open') {
    sums.reserved += reservationOf(rate, units);
    return;
  }
  const reported =
    messages === 1
      ? details.reduce<string | null>(
          (before, one) => reportedAfter(before, reportedBy(one.details)),
          null,
        )
      : null;
  if (reported !== null) sums.charged += reportedChargeOf(rates, rate, reported, units);
  else {
    const last = details.find(({ status }) => status === message.status);
    sums.charged += chargeOf(rate, units, secondsOf(last?.details));
  }
}

function differencesOf(batch: ChargedBatch, computed: Sums | undefined): Difference[] {
  const { reserved, charged, isUnknown } = computed ?? {
    reserved: 0n,
    charged: 0n,
    isUnknown: false,
  };
  if (isUnknown) return [];
  const compared = [
    ['reserved', batch.reserved, reserved],
    ['charged', batch.charged, charged],
  ] as const;
  return compared.flatMap(([what, stored, sum]) =>
    stored === sum ? [] : differenceOf(batch, what, stored, sum),
  );
}

function differenceOf(
  { accountId, batch }: ChargedBatch,
  what: 'reserved' | 'charged',
  stored: bigint,
  computed: bigint,
): Difference {
  return {
    account: accountId,
    what: `${what} of batch ${batch}`,
    stored: amountText(stored),
    computed: amountText(computed),
  };
}
