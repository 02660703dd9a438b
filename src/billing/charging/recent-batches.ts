import { Injectable } from '@nestjs/common';
import { BatchRates } from './batch-rates.js';
import type { AcceptedBatch, ChargedBatch } from './charge.store.js';

/** A batch with its rates read. */
export type ReadBatch = Omit<ChargedBatch, 'rates'> & { readonly rates: BatchRates };

/** What a batch keeps for its life. */
type AcceptedTerms = Omit<AcceptedBatch, 'batch' | 'rates' | 'reserved'> & {
  readonly rates: BatchRates;
};

/** Batches of each half that are remembered: those of the last seconds of a busy process, a few MB. */
const MOST = 10_000;

/** Rates that are remembered: most batches have those of a few others. */
const MOST_RATES = 1_000;

/** Accounts whose last terms are remembered. */
const MOST_ACCOUNTS = 1_000;

/** The batches that this process has accepted or read last, so that it needs no read to charge them. */
@Injectable()
export class RecentBatches {
  /**
   * Two halves, because a map that drops its first entry for each new one has to look for it behind all
   * those that it has dropped.
   */
  #young = new Map<string, AcceptedTerms>();
  #old = new Map<string, AcceptedTerms>();
  readonly #rates = new Map<string, BatchRates>();
  /** By account. */
  readonly #terms = new Map<string, AcceptedTerms>();

  add(one: AcceptedBatch): void {
    if (this.#young.size >= MOST) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(one.batch, this.#termsOf(one));
  }

  get(batch: string): AcceptedTerms | undefined {
    return this.#young.get(batch) ?? this.#old.get(batch);
  }

  /** @param batch another process, or a report, has changed how it is charged */
  forget(batch: string): void {
    this.#young.delete(batch);
    this.#old.delete(batch);
  }

  /** @param written as `writeRates()` has written them */
  ratesOf(written: string): BatchRates {
    const known = this.#rates.get(written);
    if (known) return known;
    const read = new BatchRates(written);
    if (this.#rates.size >= MOST_RATES) this.#rates.clear();
    this.#rates.set(written, read);
    return read;
  }

  /** Batches that were accepted together share one object: what lives long costs the garbage collector most. */
  #termsOf(one: AcceptedBatch): AcceptedTerms {
    const { accountId, channel, chargeAt, units, currency, messages, spender, acceptedAt } = one;
    const rates = this.ratesOf(one.rates);
    const last = this.#terms.get(accountId);
    if (
      last?.acceptedAt === acceptedAt &&
      last.channel === channel &&
      last.chargeAt === chargeAt &&
      last.units === units &&
      last.currency === currency &&
      last.messages === messages &&
      last.rates === rates &&
      last.spender === spender
    )
      return last;
    const terms = { accountId, channel, chargeAt, units, currency, messages, rates };
    const own: AcceptedTerms = { ...terms, spender, acceptedAt };
    if (this.#terms.size >= MOST_ACCOUNTS) this.#terms.clear();
    this.#terms.set(accountId, own);
    return own;
  }
}
