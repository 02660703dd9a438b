import { GroupCommit } from '../database/group-commit.js';
import type { StoreDatabase } from '../database/store-database.js';
import { readContent } from '../rows/stored-content.js';
import type { TraceContext } from '../../ports/tracing.js';

/** Reads the trace contexts of batches, many per query; used only with tracing. */
export class TraceContexts {
  readonly #ids;
  readonly #select: string;
  readonly #group: GroupCommit<string, TraceContext | undefined>;

  constructor(private readonly database: StoreDatabase) {
    const { dialect } = database;
    this.#ids = dialect.rows({ v_id: 'uuid' });
    this.#select = `SELECT b.id, b.content FROM ${this.#ids.keyed}
      ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id
      WHERE ${dialect.residual('b.content IS NOT NULL')}`;
    this.#group = new GroupCommit((take) => this.#read(take()), {
      maxItems: 1_000,
      isItemError: () => false,
    });
  }

  of(batchId: string): Promise<TraceContext | undefined> {
    return this.#group.add(batchId);
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }

  async #read(ids: readonly string[]): Promise<(TraceContext | undefined)[]> {
    const rows = await this.database.all<{ id: string; content: string }>(
      this.#select,
      this.#ids.bind([...new Set(ids)].map((id) => [id])),
    );
    const traces = new Map(rows.map(({ id, content }) => [id, readContent(content).trace]));
    return ids.map((id) => traces.get(id));
  }
}
