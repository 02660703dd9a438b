import type { BatchCompletion, CompletedBatch } from './upkeep/completion.js';
import type { DeferredMessage, IntendedSubmission, Intent } from './intent.js';
import {
  batchRow,
  byId,
  type IntentStatements,
  intentStatements,
  messageRows,
  submissionRows,
} from './intent.statements.js';
import { IntentsTogether } from './intents-together.js';
import { LaneGroup } from './lane-group.js';
import type { Lanes } from './lanes.js';
import type { StoreDatabase, Transaction } from './store-database.js';
import { ConcurrentChangeError } from './concurrent-change.error.js';
import { areLoneIntents, intendLone } from './sqlite/intents.js';

/** Weight of what is written down in one flush at most, in messages. */
const MESSAGES = 2_000;

/** A lane that starts more goes by itself, and holds nobody up. */
const MANY = 500;

/** Somebody else holds the lane: stop. */
export class LaneLostError extends Error {}

/**
 * Writes what is about to start, before it starts: `queued → sending`, fenced. After its commit the
 * requests may go out; a process that finds them after a crash knows exactly what may have gone.
 */
export class IntentRecorder {
  readonly #sql: IntentStatements;
  readonly #group: LaneGroup<Intent, ReadonlySet<string>>;
  readonly #onSqlite: boolean;

  constructor(
    private readonly database: StoreDatabase,
    private readonly lanes: Lanes,
    private readonly completion: BatchCompletion,
  ) {
    this.#sql = intentStatements(database.dialect);
    this.#onSqlite = database.dialect.kind === 'sqlite';
    const intents = new IntentsTogether(database, lanes.leases, this.#sql);
    this.#group = new LaneGroup({
      together: (group) => intents.record(group),
      alone: (intent) => this.#recordAlone(intent),
      most: MESSAGES,
      weight: weightOf,
      heavy: MANY,
    });
  }

  /**
   * @returns ids of the batches that may start; the others were cancelled, rescheduled or reported
   * delivered after all meanwhile
   * @throws LaneLostError where the fence no longer holds
   */
  record(intent: Intent): Promise<ReadonlySet<string>> {
    return isFresh(intent) ? this.#group.add(intent) : this.#recordAlone(intent);
  }

  async #recordAlone(intent: Intent): Promise<ReadonlySet<string>> {
    const { atOnce } = this.#sql;
    if (atOnce && isFresh(intent)) return this.#recordAtOnce(atOnce, intent);
    const all = new Set(intent.batches.map(({ id }) => id));
    const { live, completed } = await this.#recordStepwise(intent, () =>
      Promise.resolve(all),
    ).catch((error: unknown) => {
      if (!(error instanceof ConcurrentChangeError)) throw error;
      return this.#recordStepwise(intent, (tx) => this.#lock(tx, intent));
    });
    this.completion.publish(completed);
    return live;
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
  ): Promise<{ live: ReadonlySet<string>; completed: readonly CompletedBatch[] }> {
    return this.database.transaction(async (tx) => {
      if (!(await this.lanes.renewWithin(tx, intent.lane, intent.fence)))
        throw new LaneLostError(intent.lane);
      const live = await liveOf(tx);
      const batches = intent.batches.filter(({ id }) => live.has(id)).toSorted(byId);
      if (batches.length === 0) return { live, completed: [] };
      const submissions = intent.submissions.filter(({ batch }) => live.has(batch));
      if (this.#onSqlite && areLoneIntents(batches, submissions)) {
        await intendLone(tx, intent, batches, submissions);
        return { live, completed: [] };
      }
      const { updateBatches, batches: rows } = this.#sql;
      if ((await tx.run(updateBatches, rows.bind(batches.map(batchRow)))) !== batches.length)
        throw new ConcurrentChangeError();
      if (submissions.length > 0) await this.#insert(tx, intent, submissions);
      const deferred = intent.deferred.filter(({ batch }) => live.has(batch));
      if (deferred.length > 0) await this.#defer(tx, deferred);
      const exhausted = exhaustedOf(intent).filter((id) => live.has(id));
      const at = intent.firstSentAt * 1_000;
      return { live, completed: await this.completion.exhausted(tx, exhausted, at) };
    });
  }

  /** Batches that are as planned, and so is each of their messages that is to start again. */
  async #lock(tx: Transaction, { batches, submissions }: Intent): Promise<Set<string>> {
    const { lockBatches, ids } = this.#sql;
    const rows = await tx.all<{ id: string; revision: number }>(
      lockBatches,
      ids.bind(batches.map(({ id }) => [id])),
    );
    const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
    const reported = await this.#reported(tx, submissions);
    return new Set(
      batches.flatMap(({ id, revision }) =>
        revisions.get(id) === revision && !reported.has(id) ? [id] : [],
      ),
    );
  }

  /** Batches with a message to start again that is not queued any more. */
  async #reported(
    tx: Transaction,
    submissions: readonly IntendedSubmission[],
  ): Promise<ReadonlySet<string>> {
    const { lockQueued, messages } = this.#sql;
    const { again } = messageRows(submissions);
    if (again.length === 0) return new Set();
    const missing = new Map<string, number>();
    for (const { batch, recipients } of submissions)
      for (const { requeued } of recipients)
        if (requeued) missing.set(batch, (missing.get(batch) ?? 0) + 1);
    for (const { batch } of await tx.all<{ batch: string }>(lockQueued, messages.bind(again)))
      missing.set(batch, (missing.get(batch) as number) - 1);
    return new Set([...missing].flatMap(([batch, count]) => (count > 0 ? [batch] : [])));
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
    // One that was reported meanwhile must not start.
    if (again.length > 0 && (await tx.run(updateMessages, messages.bind(again))) !== again.length)
      throw new ConcurrentChangeError();
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

function weightOf({ submissions }: Intent): number {
  let weight = 1;
  for (const { recipients } of submissions) weight += recipients.length;
  return weight;
}

/** None of its messages has a row yet, and there is one of each batch. */
function isFresh(intent: Intent): boolean {
  return (
    intent.deferred.length === 0 &&
    exhaustedOf(intent).length === 0 &&
    intent.submissions.every(({ recipients }) => recipients.every(({ requeued }) => !requeued))
  );
}

/** Batches of which nothing starts, now or later: what was left of them was reported before it could. */
function exhaustedOf({ batches, submissions }: Intent): string[] {
  const starting = new Set(submissions.map(({ batch }) => batch));
  return batches.flatMap(({ id, pending }) => (pending || starting.has(id) ? [] : [id]));
}
