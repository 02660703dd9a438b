import { STATUS_RANK } from '../../message/status.js';
import { isOpen } from '../rows/batch-state.js';
import type { Dialect } from '../database/dialect.js';
import {
  batchRow,
  exhaustedOf,
  INTENT_ROWS,
  type Intent,
  messageRows,
  submissionRows,
} from '../rows/intent.js';
import type { HeldLane, LaneHolder, LockWait } from '../rows/lease.js';
import type { Sql, Transaction } from '../database/sql.js';
import type { BatchCompletion, CompletedBatch } from '../upkeep/completion.js';
import { LanesSlowPath } from './lanes.js';

/** The results of intents, by lane. */
export interface Intended {
  /**
   * Ids of the batches that may start. A lane without an entry is lost, or was skipped for a locked
   * row.
   */
  readonly live: ReadonlyMap<string, ReadonlySet<string>>;
  /** Completed batches: they had no message left to start. */
  readonly completed: readonly CompletedBatch[];
}

/** A submission that is sent again unchanged. */
export interface ResumedSubmission {
  readonly batch: string;
  readonly n: number;
  readonly attempt: number;
}

/** Records intents of every kind in one transaction, on every database: locks, reads, writes. */
export class IntendSlowPath {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #lanes: LanesSlowPath;

  constructor(
    dialect: Dialect,
    private readonly completion: BatchCompletion,
  ) {
    this.#sql = statementsFor(dialect);
    this.#lanes = new LanesSlowPath(dialect);
  }

  /**
   * With `skip`, a lane with a locked batch is skipped whole: otherwise its later batches would go
   * first.
   */
  async intend(
    tx: Transaction,
    intents: readonly Intent[],
    holder: LaneHolder,
    locked: LockWait,
  ): Promise<Intended> {
    const ours = await this.#lanes.renew(tx, intents, holder, locked);
    const held = intents.filter(({ lane }) => ours.has(lane));
    const revisions = await this.#lockBatches(tx, held, locked);
    const whole =
      locked === 'wait'
        ? held
        : held.filter(({ batches }) => batches.every(({ id }) => revisions.has(id)));
    const reported = await this.#reported(tx, whole);
    const live = new Map(
      whole.map(({ lane, batches }) => [
        lane,
        new Set(
          batches.flatMap(({ id, revision }) =>
            revisions.get(id) === revision && !reported.has(id) ? [id] : [],
          ),
        ),
      ]),
    );
    const completed: CompletedBatch[] = [];
    await this.#write(tx, whole, (lane, batch) => live.get(lane)?.has(batch) === true);
    for (const intent of whole) {
      const exhausted = exhaustedOf(intent).filter((id) => live.get(intent.lane)?.has(id));
      completed.push(
        ...(await this.completion.exhausted(tx, exhausted, intent.firstSentAt * 1_000)),
      );
    }
    return { live, completed };
  }

  /** @returns the submissions that are still open, by `{batch}-s{n}`; `undefined`: the lane is lost */
  async resume(
    tx: Transaction,
    lane: HeldLane,
    holder: LaneHolder,
    submissions: readonly ResumedSubmission[],
  ): Promise<ReadonlySet<string> | undefined> {
    const ours = await this.#lanes.renew(tx, [lane], holder, 'wait');
    if (ours.size === 0) return undefined;
    const { keys, lockOpen, resumed, resume } = this.#sql;
    const rows = await tx.all<{ batch: string; n: number }>(
      lockOpen,
      keys.bind(submissions.map(({ batch, n }) => [batch, n])),
    );
    const open = new Set(rows.map(({ batch, n }) => `${batch}-s${n}`));
    const again = submissions.filter(({ batch, n }) => open.has(`${batch}-s${n}`));
    if (again.length > 0)
      await tx.run(
        resume,
        resumed.bind(again.map(({ batch, n, attempt }) => [batch, n, lane.fence, attempt])),
      );
    return open;
  }

  /** Locks the batches. @returns their revisions, -1 for ended batches */
  async #lockBatches(
    tx: Sql,
    intents: readonly Intent[],
    locked: LockWait,
  ): Promise<Map<string, number>> {
    const ids = intents.flatMap(({ batches }) => batches.map(({ id }) => [id]));
    if (ids.length === 0) return new Map();
    const rows = await tx.all<{ id: string; revision: number; open: number | string }>(
      this.#sql.lockBatches[locked],
      this.#sql.ids.bind(ids),
    );
    return new Map(rows.map(({ id, revision, open }) => [id, Number(open) === 1 ? revision : -1]));
  }

  /**
   * Batches with a message to repeat that is no longer queued, because a report arrived meanwhile.
   */
  async #reported(tx: Sql, intents: readonly Intent[]): Promise<ReadonlySet<string>> {
    const again = intents.flatMap((intent) => messageRows(intent).again);
    if (again.length === 0) return new Set();
    const missing = new Map<string, number>();
    for (const [batch] of again as [string][]) missing.set(batch, (missing.get(batch) ?? 0) + 1);
    const queued = await tx.all<{ batch: string }>(
      this.#sql.lockQueued,
      this.#sql.messages.bind(again),
    );
    for (const { batch } of queued) missing.set(batch, (missing.get(batch) as number) - 1);
    return new Set([...missing].flatMap(([batch, count]) => (count > 0 ? [batch] : [])));
  }

  async #write(
    tx: Sql,
    intents: readonly Intent[],
    isLive: (lane: string, batch: string) => boolean,
  ): Promise<void> {
    const { batches, submissions, messages, deferred } = this.#sql;
    const all = (rowsOf: (intent: Intent, live: (batch: string) => boolean) => unknown[][]) =>
      intents.flatMap((intent) => rowsOf(intent, (batch) => isLive(intent.lane, batch)));
    const run = async (statement: string, source: typeof batches, rows: unknown[][]) => {
      if (rows.length > 0) await tx.run(statement, source.bind(rows));
    };
    const started = all((intent, live) =>
      intent.batches.filter(({ id }) => live(id)).map(batchRow),
    );
    await run(this.#sql.startBatches, batches, started);
    await run(this.#sql.insertSubmissions, submissions, all(submissionRows));
    await run(
      this.#sql.insertMessages,
      messages,
      all((intent, live) => messageRows(intent, live).fresh),
    );
    await run(
      this.#sql.restartMessages,
      messages,
      all((intent, live) => messageRows(intent, live).again),
    );
    const later = (requeued: boolean) =>
      all((intent, live) =>
        intent.deferred
          .filter((message) => live(message.batch) && message.requeued === requeued)
          .map((m) => [m.batch, m.position, m.attempts, m.recipient, m.dueAt]),
      );
    await run(this.#sql.insertDeferred, deferred, later(false));
    await run(this.#sql.updateDeferred, deferred, later(true));
  }
}

/** SQL assignments for the start of a batch. */
export const STARTED = 'state = v_state, parked_until = coalesce(v_park, parked_until)';

/** SQL: target columns and source of an intent's INSERT. */
export const INTO_SUBMISSIONS = `INSERT INTO messaging_submission
    (batch, n, first_position, last_position, attempt, fence, provider, first_sent_at, content)
  SELECT v_batch, v_n, v_first, v_last, v_attempt, v_fence, v_provider, v_sent_at, v_content`;
export const INTO_MESSAGES = `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
  SELECT v_batch, v_position, v_n, ${STATUS_RANK.sending}, v_attempt, v_recipient`;

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const batches = dialect.rows(INTENT_ROWS.batches);
  const submissions = dialect.rows(INTENT_ROWS.submissions);
  const messages = dialect.rows(INTENT_ROWS.messages);
  const deferred = dialect.rows({
    v_batch: 'uuid',
    v_position: 'int',
    v_attempt: 'int',
    v_recipient: 'key',
    v_due: 'bigint',
  });
  const keys = dialect.rows({ v_batch: 'uuid', v_n: 'int' });
  const resumed = dialect.rows({
    v_batch: 'uuid',
    v_n: 'int',
    v_fence: 'bigint',
    v_attempt: 'int',
  });
  const primary = dialect.forceIndex('PRIMARY');
  const selectBatches = `SELECT b.id, b.revision, CASE WHEN ${isOpen('b')} THEN 1 ELSE 0 END AS open
    FROM ${ids.keyed} ${dialect.join} messaging_batch b ${primary} ON b.id = v_id ORDER BY b.id`;
  const isQueued = (message: string) =>
    dialect.residual(`${message}.status = ${STATUS_RANK.queued}`);
  const isOpenSubmission = (submission: string) =>
    dialect.residual(`${submission}.outcome IS NULL`);
  const updateMessages = (rows: typeof messages, set: string) =>
    dialect.updateFrom({
      table: 'messaging_message',
      rows,
      set,
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${isQueued('messaging_message')}`,
    });
  return {
    ids,
    batches,
    submissions,
    messages,
    deferred,
    keys,
    resumed,
    lockBatches: {
      wait: `${selectBatches} ${dialect.forUpdate('b')}`,
      skip: `${selectBatches} ${dialect.skipLocked('b')}`,
    },
    lockQueued: `SELECT m.batch FROM ${messages.keyed}
      ${dialect.join} messaging_message m ${primary} ON m.batch = v_batch AND m.position = v_position
        AND ${isQueued('m')}
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    lockOpen: `SELECT s.batch, s.n FROM ${keys.keyed}
      ${dialect.join} messaging_submission s ${primary} ON s.batch = v_batch AND s.n = v_n
        AND ${isOpenSubmission('s')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    startBatches: dialect.updateFrom({
      table: 'messaging_batch',
      rows: batches,
      set: STARTED,
      where: 'messaging_batch.id = v_id',
    }),
    insertSubmissions: `${INTO_SUBMISSIONS} FROM ${submissions.sql}`,
    insertMessages: `${INTO_MESSAGES} FROM ${messages.sql}`,
    restartMessages: updateMessages(
      messages,
      `status = ${STATUS_RANK.sending}, submission = v_n, error_code = NULL, due_at = NULL`,
    ),
    insertDeferred: `INSERT INTO messaging_message (batch, position, status, attempt, recipient, due_at)
      SELECT v_batch, v_position, ${STATUS_RANK.queued}, v_attempt, v_recipient, v_due FROM ${deferred.sql}`,
    updateDeferred: updateMessages(deferred, 'due_at = v_due'),
    resume: dialect.updateFrom({
      table: 'messaging_submission',
      rows: resumed,
      set: 'fence = v_fence, attempt = v_attempt',
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${isOpenSubmission('messaging_submission')}`,
    }),
  };
}
