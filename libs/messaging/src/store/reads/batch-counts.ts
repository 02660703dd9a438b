import type { StatusCounts } from '../../message/views.js';
import type { RowSource } from '../database/dialect.js';
import type { StoreDatabase } from '../database/store-database.js';
import { COUNT_KIND, LARGE_BATCH } from '../rows/batch-counts.js';
import { stateOf } from '../rows/batch-state.js';

export interface CountedBatch {
  readonly id: string;
  readonly state: number;
  readonly recipients: number;
}

type Counts = ReadonlyMap<string, StatusCounts>;

interface StatusRow {
  readonly batch: string;
  readonly status: number;
  readonly messages: string | number;
}

export function isLarge({ recipients }: CountedBatch): boolean {
  return recipients > LARGE_BATCH;
}

export function hasEnded(batch: CountedBatch): boolean {
  const state = stateOf(batch);
  return state === 'completed' || state === 'cancelled';
}

/** Messages of batches by status: stored for large ones that have ended, else counted. */
export class BatchCounts {
  readonly #ids: RowSource;

  constructor(private readonly database: StoreDatabase) {
    this.#ids = database.dialect.rows({ v_id: 'uuid' });
  }

  /**
   * Of those that have stored counts: not of a batch that ended before counts were stored, or whose
   * last recipient was erased.
   */
  async stored(batches: readonly CountedBatch[]): Promise<Counts> {
    const large = batches.filter((batch) => isLarge(batch) && hasEnded(batch));
    if (large.length === 0) return new Map();
    const rows = await this.database.all<StatusRow & { kind: number }>(
      `SELECT c.batch, c.status, sum(c.messages) AS messages, max(c.kind) AS kind
       FROM ${this.#ids.keyed} ${this.database.dialect.join} messaging_batch_count c ON c.batch = v_id
       GROUP BY c.batch, c.status`,
      this.#ids.bind(large.map(({ id }) => [id])),
    );
    const ends = new Set(
      rows.flatMap(({ batch, kind }) => (kind === COUNT_KIND.end ? [batch] : [])),
    );
    return this.#sum(
      large.filter(({ id }) => ends.has(id)),
      rows,
    );
  }

  /** Reads the status of each message. */
  async count(batches: readonly CountedBatch[]): Promise<Counts> {
    if (batches.length === 0) return new Map();
    const rows = await this.database.all<StatusRow>(
      `SELECT m.batch, m.status, count(*) AS messages
       FROM ${this.#ids.keyed} ${this.database.dialect.join} messaging_message m ON m.batch = v_id
       GROUP BY m.batch, m.status`,
      this.#ids.bind(batches.map(({ id }) => [id])),
    );
    return this.#sum(batches, rows);
  }

  /** A recipient without a message row is queued, or cancelled with its batch. */
  #sum(batches: readonly CountedBatch[], rows: readonly StatusRow[]): Counts {
    const counts = new Map<string, StatusCounts>(batches.map(({ id }) => [id, {}]));
    for (const { batch, status, messages } of rows) {
      const own = counts.get(batch);
      if (!own || Number(messages) === 0) continue;
      const name = this.database.channels.nameOf(status);
      own[name] = (own[name] ?? 0) + Number(messages);
    }
    for (const batch of batches) {
      const own = counts.get(batch.id) as StatusCounts;
      const started = Object.values(own).reduce<number>((sum, n = 0) => sum + n, 0);
      const rest = notStartedStatus(batch);
      if (started < batch.recipients) own[rest] = (own[rest] ?? 0) + batch.recipients - started;
    }
    return counts;
  }
}

export function notStartedStatus(batch: { readonly state: number }): 'cancelled' | 'queued' {
  return stateOf(batch) === 'cancelled' ? 'cancelled' : 'queued';
}
