import { BatchPurge } from './batch-purge.js';
import type { StoreDatabase } from './store-database.js';
import { BATCH_PHASE } from './schema.js';

/** Milliseconds after a batch has ended; `undefined`: for ever. */
export interface RetentionSettings {
  /** Texts and phone numbers. */
  readonly content: number | undefined;
  /** Everything. */
  readonly messages: number | undefined;
}

/** Messages and reports of one transaction. */
const ROWS = 2_000;

/**
 * Forgets what has ended: first texts and phone numbers, keeping the counts, then the batch. A batch is
 * left alone while reports may still be asked for, and deleted only past the idempotency window. One
 * that is too large for a transaction is forgotten bit by bit, and may be read half gone meanwhile.
 */
export class Retention {
  readonly #erasing: BatchPurge;
  readonly #deleting: BatchPurge;

  constructor(
    database: StoreDatabase,
    private readonly settings: RetentionSettings,
    /** Milliseconds during which a batch is still needed: idempotency, late reports. */
    private readonly needed: number,
    rows = ROWS,
  ) {
    const ended = `b.phase IN (${BATCH_PHASE.completed}, ${BATCH_PHASE.cancelled}) AND b.poll_at IS NULL
      AND b.completed_at < ${database.dialect.now} - ?`;
    this.#erasing = new BatchPurge(
      database,
      {
        of: `${ended} AND b.content IS NOT NULL`,
        set: {
          message: "recipient = ''",
          report: 'recipient = NULL',
          submission: 'content = NULL',
          batch_chunk: undefined,
          batch: 'content = NULL',
        },
      },
      rows,
    );
    this.#deleting = new BatchPurge(
      database,
      {
        of: `${ended} AND b.content IS NULL`,
        set: {
          message: undefined,
          report: undefined,
          submission: undefined,
          batch_chunk: undefined,
          batch: undefined,
        },
      },
      rows,
    );
  }

  get enabled(): boolean {
    return this.settings.content !== undefined || this.settings.messages !== undefined;
  }

  /**
   * Goes a step on, in a transaction each for what is erased and what is deleted.
   * @param limit batches a transaction takes at most
   * @returns false: nothing is left to forget
   */
  async purge(limit: number): Promise<boolean> {
    const { content, messages } = this.settings;
    const keepContent = Math.min(content ?? Infinity, messages ?? Infinity);
    const erased = Number.isFinite(keepContent) && (await this.#erasing.step(keepContent, limit));
    const deleted =
      messages !== undefined && (await this.#deleting.step(Math.max(messages, this.needed), limit));
    return erased || deleted;
  }
}
