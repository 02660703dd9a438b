import { STATUS_RANK } from '../message/status.js';
import type { Columns, Dialect } from './dialect.js';
import type { Lanes } from './lanes.js';
import type { LedgerDatabase, Transaction } from './ledger-database.js';
import { BATCH_PHASE } from './schema.js';

/** The lane's work, as a slice of it is about to start. */
export interface IntendedBatch {
  readonly id: string;
  /** As planned: a cancel or reschedule since then has raised it, and the batch is left out. */
  readonly revision: number;
  /** Recipients are left to start after this slice. */
  readonly pending: boolean;
  /** Messages set back to `queued` are left after this slice. */
  readonly requeued: boolean;
  /** Nothing but deferred messages is left after this slice: until the first is due, epoch microseconds. */
  readonly parkUntil: number | null;
}

/** A message policy does not let go yet. */
export interface DeferredMessage extends IntendedRecipient {
  readonly batch: string;
  readonly attempts: number;
  /** Epoch microseconds. */
  readonly dueAt: number;
}

export interface IntendedSubmission {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly attempt: number;
  /** JSON of what goes out in place of the batch's content. */
  readonly content: string | null;
  readonly recipients: readonly IntendedRecipient[];
}

export interface IntendedRecipient {
  readonly position: number;
  readonly recipient: string;
  /** A row exists already, set back to `queued`. */
  readonly requeued: boolean;
}

export interface Intent {
  readonly lane: string;
  readonly fence: number;
  readonly transport: string;
  /** Epoch milliseconds. */
  readonly firstSentAt: number;
  readonly batches: readonly IntendedBatch[];
  readonly submissions: readonly IntendedSubmission[];
  readonly deferred: readonly DeferredMessage[];
}

/** Somebody else holds the lane: stop. */
export class LaneLostError extends Error {}

const ID = { v_id: 'uuid' } as const satisfies Columns;
const BATCH = {
  v_id: 'uuid',
  v_pending: 'int',
  v_requeued: 'int',
  v_park: 'bigint',
} as const satisfies Columns;
const DEFERRED = {
  v_batch: 'uuid',
  v_position: 'int',
  v_attempt: 'int',
  v_recipient: 'key',
  v_due: 'bigint',
} as const satisfies Columns;
const SUBMISSION = {
  v_batch: 'uuid',
  v_n: 'int',
  v_first: 'int',
  v_last: 'int',
  v_attempt: 'int',
  v_fence: 'bigint',
  v_transport: 'key',
  v_sent_at: 'bigint',
  v_content: 'text',
} as const satisfies Columns;
const MESSAGE = {
  v_batch: 'uuid',
  v_position: 'int',
  v_n: 'int',
  v_attempt: 'int',
  v_recipient: 'key',
} as const satisfies Columns;

/**
 * Writes what is about to start, before it starts: `queued → sending`, fenced. After its commit the
 * requests may go out; a process that finds them after a crash knows exactly what may have gone.
 */
export class IntentRecorder {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    private readonly database: LedgerDatabase,
    private readonly lanes: Lanes,
  ) {
    this.#sql = statementsFor(database.dialect);
  }

  /**
   * @returns ids of the batches that may start; the others were cancelled or rescheduled meanwhile
   * @throws LaneLostError where the fence no longer holds
   */
  record(intent: Intent): Promise<ReadonlySet<string>> {
    return this.database.transaction(async (tx) => {
      if (!(await this.lanes.renewWithin(tx, intent.lane, intent.fence)))
        throw new LaneLostError(intent.lane);
      const live = await this.#lock(tx, intent.batches);
      const batches = intent.batches.filter(({ id }) => live.has(id));
      const submissions = intent.submissions.filter(({ batch }) => live.has(batch));
      if (batches.length === 0) return live;
      await tx.run(
        this.#sql.updateBatches,
        this.#sql.batches.bind(
          batches.map((b) => [b.id, b.pending ? 1 : 0, b.requeued ? 1 : 0, b.parkUntil]),
        ),
      );
      if (submissions.length > 0) {
        await this.#insertSubmissions(tx, intent, submissions);
        await this.#writeMessages(tx, submissions);
      }
      const deferred = intent.deferred.filter(({ batch }) => live.has(batch));
      if (deferred.length > 0) await this.#defer(tx, deferred);
      return live;
    });
  }

  /**
   * Takes over submissions a former holder left open, or starts one again: the same bytes under the same id.
   * @returns ids of those that are open; a former holder may have recorded the others meanwhile
   * @throws LaneLostError where the fence no longer holds
   */
  resume(
    lane: string,
    fence: number,
    submissions: readonly { batch: string; n: number; attempt: number }[],
  ): Promise<ReadonlySet<string>> {
    return this.database.transaction(async (tx) => {
      if (!(await this.lanes.renewWithin(tx, lane, fence))) throw new LaneLostError(lane);
      const rows = await tx.all<{ batch: string; n: number }>(
        this.#sql.lockOpen,
        this.#sql.keys.bind(submissions.map(({ batch, n }) => [batch, n])),
      );
      const open = new Set(rows.map(({ batch, n }) => `${batch}-s${n}`));
      const resumed = submissions.filter(({ batch, n }) => open.has(`${batch}-s${n}`));
      if (resumed.length > 0)
        await tx.run(
          this.#sql.resume,
          this.#sql.resumed.bind(
            resumed.map(({ batch, n, attempt }) => [batch, n, fence, attempt]),
          ),
        );
      return open;
    });
  }

  async #lock(tx: Transaction, batches: readonly IntendedBatch[]): Promise<Set<string>> {
    const { lockBatches, ids } = this.#sql;
    const rows = await tx.all<{ id: string; revision: number }>(
      lockBatches,
      ids.bind(batches.map(({ id }) => [id])),
    );
    const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
    return new Set(batches.filter((b) => revisions.get(b.id) === b.revision).map(({ id }) => id));
  }

  async #insertSubmissions(
    tx: Transaction,
    { fence, transport, firstSentAt }: Intent,
    submissions: readonly IntendedSubmission[],
  ): Promise<void> {
    const { insertSubmissions, submissions: rows } = this.#sql;
    await tx.run(
      insertSubmissions,
      rows.bind(
        submissions.map((s) => [
          s.batch,
          s.n,
          s.firstPosition,
          s.lastPosition,
          s.attempt,
          fence,
          transport,
          firstSentAt * 1_000,
          s.content,
        ]),
      ),
    );
  }

  async #defer(tx: Transaction, messages: readonly DeferredMessage[]): Promise<void> {
    const { deferred, insertDeferred, updateDeferred } = this.#sql;
    for (const requeued of [false, true]) {
      const rows = messages
        .filter((message) => message.requeued === requeued)
        .map((m) => [m.batch, m.position, m.attempts, m.recipient, m.dueAt]);
      if (rows.length > 0)
        await tx.run(requeued ? updateDeferred : insertDeferred, deferred.bind(rows));
    }
  }

  async #writeMessages(tx: Transaction, submissions: readonly IntendedSubmission[]): Promise<void> {
    const { insertMessages, updateMessages, messages } = this.#sql;
    const fresh: unknown[][] = [];
    const again: unknown[][] = [];
    for (const { batch, n, attempt, recipients } of submissions)
      for (const { position, recipient, requeued } of recipients)
        if (requeued) again.push([batch, position, n, attempt, recipient]);
        else fresh.push([batch, position, n, attempt - 1, recipient]);
    if (fresh.length > 0) await tx.run(insertMessages, messages.bind(fresh));
    if (again.length > 0) await tx.run(updateMessages, messages.bind(again));
  }
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows(ID);
  const batches = dialect.rows(BATCH);
  const submissions = dialect.rows(SUBMISSION);
  const messages = dialect.rows(MESSAGE);
  const deferred = dialect.rows(DEFERRED);
  const keys = dialect.rows({ v_batch: 'uuid', v_n: 'int' });
  const resumed = dialect.rows({
    v_batch: 'uuid',
    v_n: 'int',
    v_fence: 'bigint',
    v_attempt: 'int',
  });
  return {
    keys,
    lockOpen: `SELECT s.batch, s.n FROM ${keys.sql}
      ${dialect.join} messaging_submission s ${dialect.by('PRIMARY')} ON s.batch = v_batch AND s.n = v_n
        AND ${dialect.also('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    resumed,
    resume: dialect.updateFrom({
      table: 'messaging_submission',
      rows: resumed,
      set: 'fence = v_fence, attempt = v_attempt',
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${dialect.also('messaging_submission.outcome IS NULL')}`,
    }),
    ids,
    batches,
    submissions,
    messages,
    lockBatches: `SELECT b.id, b.revision FROM ${ids.sql} ${dialect.join} messaging_batch b ${dialect.by('PRIMARY')} ON b.id = v_id
      WHERE ${dialect.also(`b.phase IN (${BATCH_PHASE.accepted}, ${BATCH_PHASE.sending})`)}
      ORDER BY b.id ${dialect.forUpdate('b')}`,
    updateBatches: dialect.updateFrom({
      table: 'messaging_batch',
      rows: batches,
      set: `phase = ${BATCH_PHASE.sending}, pending = v_pending, requeued = v_requeued,
        parked_until = coalesce(v_park, parked_until), deferred = CASE WHEN v_park IS NULL THEN 0 ELSE 1 END`,
      where: 'messaging_batch.id = v_id',
    }),
    insertSubmissions: `INSERT INTO messaging_submission
        (batch, n, first_position, last_position, attempt, fence, transport, first_sent_at, content)
      SELECT v_batch, v_n, v_first, v_last, v_attempt, v_fence, v_transport, v_sent_at, v_content FROM ${submissions.sql}`,
    insertMessages: `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
      SELECT v_batch, v_position, v_n, ${STATUS_RANK.sending}, v_attempt, v_recipient FROM ${messages.sql}`,
    deferred,
    insertDeferred: `INSERT INTO messaging_message (batch, position, status, attempt, recipient, due_at)
      SELECT v_batch, v_position, ${STATUS_RANK.queued}, v_attempt, v_recipient, v_due FROM ${deferred.sql}`,
    updateDeferred: dialect.updateFrom({
      table: 'messaging_message',
      rows: deferred,
      set: 'due_at = v_due',
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.also(`messaging_message.status = ${STATUS_RANK.queued}`)}`,
    }),
    updateMessages: dialect.updateFrom({
      table: 'messaging_message',
      rows: messages,
      set: `status = ${STATUS_RANK.sending}, submission = v_n, error_code = NULL, due_at = NULL`,
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.also(`messaging_message.status = ${STATUS_RANK.queued}`)}`,
    }),
  };
}
