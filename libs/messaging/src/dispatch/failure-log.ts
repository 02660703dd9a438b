import { keepNewest } from '../message/keep-newest.js';
import { Logger } from '@nestjs/common';
import { isLogged } from '../ports/log-sampling.js';
import type { PreparedSubmission } from './submissions.js';

/** Counts of the oldest batches are dropped: a cancelled batch never succeeds. */
const MAX_BATCHES = 10_000;

/**
 * Logs the failures of a provider since it last accepted a request, and those of a batch that fails
 * while others are accepted: the first, the tenth, the hundredth …
 */
export class FailureLog {
  readonly #logger = new Logger('Provider');
  /** Since the last success. */
  #failures = 0;
  readonly #byBatch = new Map<string, number>();

  constructor(private readonly provider: string) {}

  passed(batch: string): void {
    this.#failures = 0;
    this.#byBatch.delete(batch);
  }

  /** @param foreign an error that is no `SubmitFailure`, logged with its stack */
  failed(
    { batch, submission }: Pick<PreparedSubmission, 'batch' | 'submission'>,
    { code, message, uncertain }: { code: string; message: string; uncertain: boolean },
    foreign: unknown,
  ): void {
    const own = (this.#byBatch.get(batch) ?? 0) + 1;
    this.#byBatch.delete(batch);
    this.#byBatch.set(batch, own);
    keepNewest(this.#byBatch, MAX_BATCHES);
    const n = ++this.#failures === 1 ? own : this.#failures;
    if (!isLogged(n)) return;
    const doubt = uncertain ? '; the provider may have accepted it' : '';
    const line = `${this.provider}: submission ${submission.id} failed, failure ${n} in a row: ${code}: ${message}${doubt}`;
    if (foreign === undefined) this.#logger.warn(line);
    else this.#logger.error(line, foreign instanceof Error ? foreign.stack : undefined);
  }
}
