import { BatchRates } from './batch-rates.js';
import type { AcceptedBatch, ChargedBatch } from './charge.store.js';

/** A batch with its rates read. */
export type ReadBatch = Omit<ChargedBatch, 'rates'> & { readonly rates: BatchRates };

/** What a batch keeps for its life. */
type AcceptedTerms = Omit<AcceptedBatch, 'rates' | 'reserved'> & { readonly rates: BatchRates };

/** Batches that are remembered: those of the last seconds of a busy process, a few MB. */
const MOST = 20_000;

/** Rates that are remembered: most batches have those of a few others. */
const MOST_RATES = 1_000;

/** The batches that this process has accepted or read last, so that it needs no read to charge them. */
export class RecentBatches {
  readonly #batches = new Map<string, AcceptedTerms>();
  readonly #rates = new Map<string, BatchRates>();

  add(one: AcceptedBatch): void {
    const { batch, accountId, channel, chargeAt, units } = one;
    const { currency, messages, spender, acceptedAt } = one;
    const rates = this.ratesOf(one.rates);
    const terms = { batch, accountId, channel, chargeAt, units, currency, messages, rates };
    this.#batches.delete(batch);
    this.#batches.set(batch, { ...terms, spender, acceptedAt });
    if (this.#batches.size <= MOST) return;
    for (const oldest of this.#batches.keys()) {
      this.#batches.delete(oldest);
      return;
    }
  }

  get(batch: string): AcceptedTerms | undefined {
    return this.#batches.get(batch);
  }

  /** @param batch another process, or a report, has changed how it is charged */
  forget(batch: string): void {
    this.#batches.delete(batch);
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
}
