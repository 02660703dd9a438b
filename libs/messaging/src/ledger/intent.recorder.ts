import type { DeferredMessage, IntendedBatch, IntendedSubmission, Intent } from './intent.js';
import { intentStatements } from './intent.statements.js';
import type { Lanes } from './lanes.js';
import type { LedgerDatabase, Transaction } from './ledger-database.js';
import { OvertakenError } from './overtaken.error.js';

/** Somebody else holds the lane: stop. */
export class LaneLostError extends Error {}

/**
 * Writes what is about to start, before it starts: `queued → sending`, fenced. After its commit the
 * requests may go out; a process that finds them after a crash knows exactly what may have gone.
 */
export class IntentRecorder {
  readonly #sql: ReturnType<typeof intentStatements>;

  constructor(
    private readonly database: LedgerDatabase,
    private readonly lanes: Lanes,
  ) {
    this.#sql = intentStatements(database.dialect);
  }

  /**
   * @returns ids of the batches that may start; the others were cancelled or rescheduled meanwhile
   * @throws LaneLostError where the fence no longer holds
   */
  async record(intent: Intent): Promise<ReadonlySet<string>> {
    const { atOnce } = this.#sql;
    if (atOnce && isFresh(intent)) return this.#recordAtOnce(atOnce, intent);
    const all = new Set(intent.batches.map(({ id }) => id));
    try {
      return await this.#recordStepwise(intent, () => Promise.resolve(all));
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error;
      return this.#recordStepwise(intent, (tx) => this.#lock(tx, intent.batches));
    }
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

  async #recordAtOnce(
    statement: (renewal: string) => string,
    intent: Intent,
  ): Promise<ReadonlySet<string>> {
    const { batches, submissions, messages } = this.#sql;
    const renewal = this.lanes.renewal(intent.lane, intent.fence);
    const [answer] = await this.database.standalone.all<{ held: number; gone: string | null }>(
      statement(renewal.sql),
      [
        ...renewal.params,
        ...batches.bind(intent.batches.toSorted(byId).map(batchRow)),
        ...submissions.bind(submissionRows(intent, intent.submissions)),
        ...messages.bind(messageRows(intent.submissions).fresh),
      ],
    );
    if (answer?.held !== 1) throw new LaneLostError(intent.lane);
    const gone = new Set(answer.gone?.split(' '));
    return new Set(intent.batches.flatMap(({ id }) => (gone.has(id) ? [] : [id])));
  }

  async #recordStepwise(
    intent: Intent,
    liveOf: (tx: Transaction) => Promise<ReadonlySet<string>>,
  ): Promise<ReadonlySet<string>> {
    return this.database.transaction(async (tx) => {
      if (!(await this.lanes.renewWithin(tx, intent.lane, intent.fence)))
        throw new LaneLostError(intent.lane);
      const live = await liveOf(tx);
      const batches = intent.batches.filter(({ id }) => live.has(id)).toSorted(byId);
      if (batches.length === 0) return live;
      const { updateBatches, batches: rows } = this.#sql;
      if ((await tx.run(updateBatches, rows.bind(batches.map(batchRow)))) !== batches.length)
        throw new OvertakenError();
      const submissions = intent.submissions.filter(({ batch }) => live.has(batch));
      if (submissions.length > 0) await this.#insert(tx, intent, submissions);
      const deferred = intent.deferred.filter(({ batch }) => live.has(batch));
      if (deferred.length > 0) await this.#defer(tx, deferred);
      return live;
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

  async #insert(
    tx: Transaction,
    intent: Intent,
    submissions: readonly IntendedSubmission[],
  ): Promise<void> {
    const { insertSubmissions, insertMessages, updateMessages, messages } = this.#sql;
    const rows = submissionRows(intent, submissions);
    await tx.run(insertSubmissions, this.#sql.submissions.bind(rows));
    const { fresh, again } = messageRows(submissions);
    if (fresh.length > 0) await tx.run(insertMessages, messages.bind(fresh));
    if (again.length > 0) await tx.run(updateMessages, messages.bind(again));
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
}

/** None of its messages has a row yet. */
function isFresh({ submissions, deferred }: Intent): boolean {
  return (
    deferred.length === 0 &&
    submissions.every(({ recipients }) => recipients.every(({ requeued }) => !requeued))
  );
}

function byId(a: IntendedBatch, b: IntendedBatch): number {
  return a.id < b.id ? -1 : 1;
}

function batchRow({ id, revision, pending, requeued, parkUntil }: IntendedBatch): unknown[] {
  return [id, revision, pending ? 1 : 0, requeued ? 1 : 0, parkUntil];
}

function submissionRows(
  { fence, transport, firstSentAt }: Intent,
  submissions: readonly IntendedSubmission[],
): unknown[][] {
  return submissions.map((s) => [
    s.batch,
    s.n,
    s.firstPosition,
    s.lastPosition,
    s.attempt,
    fence,
    transport,
    firstSentAt * 1_000,
    s.content,
  ]);
}

function messageRows(submissions: readonly IntendedSubmission[]) {
  const fresh: unknown[][] = [];
  const again: unknown[][] = [];
  for (const { batch, n, attempt, recipients } of submissions)
    for (const { position, recipient, requeued } of recipients)
      if (requeued) again.push([batch, position, n, attempt, recipient]);
      else fresh.push([batch, position, n, attempt - 1, recipient]);
  return { fresh, again };
}
