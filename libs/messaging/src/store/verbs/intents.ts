import { submissionIdOf } from '../../message/ids.js';
import { STATUS_RANK } from '../../message/status.js';
import { fastOrSlow } from '../database/concurrent-change.error.js';
import { type Columns, type Dialect, inserter, into, updater } from '../database/dialect.js';
import { LaneGroup } from '../database/group-commit.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { isLive } from '../rows/batch-state.js';
import {
  BATCHES,
  batchRows,
  type DeferredMessage,
  exhaustedOf,
  type Intent,
  type IntendedBatch,
  type IntendedRecipient,
  type IntendedSubmission,
  isFresh,
  messageRows,
  MESSAGES,
  STARTED,
  submissionRows,
  SUBMISSIONS,
} from '../rows/intent.js';
import type { LockWait } from '../rows/lease.js';
import { isQueued } from '../rows/status.js';
import { triesWriter } from '../rows/tries.js';
import type { BatchCompletion, CompletedBatch } from '../upkeep/completion.js';
import type { Lanes } from './lanes.js';

/** Largest number of messages in one flush. */
const MOST = 2_000;

/** A lane that starts more messages runs alone, and delays no other lane. */
const HEAVY = 500;

/** Another process holds the lane: this one must stop working on it. */
export class LaneLostError extends Error {}

interface Intended {
  /** Batches that may start; a lane without an entry is lost, or was skipped for a locked row. */
  readonly live: ReadonlyMap<string, ReadonlySet<string>>;
  /** Completed batches: they had no message left to start. */
  readonly completed: readonly CompletedBatch[];
}

type ResumedSubmission = Pick<
  IntendedSubmission,
  'batch' | 'n' | 'firstPosition' | 'lastPosition' | 'attempt'
>;

/**
 * Records the intent of requests before they start: `queued → sending`, fenced. The requests may
 * start after the commit. After a crash the intents show which requests may have been sent.
 */
export class Intents {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #group: LaneGroup<Intent, ReadonlySet<string>>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly lanes: Lanes,
    private readonly completion: BatchCompletion,
  ) {
    this.#sql = statementsFor(database.dialect);
    this.#group = new LaneGroup({
      many: (intents) => this.#many(intents),
      alone: (intent) => this.#alone(intent),
      most: MOST,
      weight: weightOf,
    });
  }

  /**
   * @returns the batches that may start: not cancelled, rescheduled or reported meanwhile
   * @throws LaneLostError where another process holds the lane
   */
  async record(given: Intent): Promise<ReadonlySet<string>> {
    const intent = this.#sealed(given);
    if (!isFresh(intent)) return this.#alone(intent);
    if (weightOf(intent) <= HEAVY) return this.#group.add(intent);
    return (await this.#many([intent])).get(intent.lane) ?? this.#alone(intent);
  }

  #sealed(intent: Intent): Intent {
    if (intent.submissions.every(({ content }) => content === null)) return intent;
    const { seals } = this.database;
    const submissions = intent.submissions.map((submission) => {
      const { batch, content } = submission;
      return content ? { ...submission, content: seals.seal(batch, content) } : submission;
    });
    return { ...intent, submissions };
  }

  /**
   * Repeats submissions, also those of a former holder: the same bytes under the same id.
   * @returns ids of those without an outcome; a former holder may have recorded the others meanwhile
   * @throws LaneLostError where another process holds the lane
   */
  async resume(
    lane: string,
    fence: number,
    submissions: readonly ResumedSubmission[],
  ): Promise<ReadonlySet<string>> {
    return this.database.transaction(async (tx) => {
      const ours = await this.lanes.renewWithin(tx, [{ lane, fence }], 'wait');
      if (ours.size === 0) throw new LaneLostError(lane);
      const { keys, lockUnanswered, resume, countTries } = this.#sql;
      const rows = await tx.all<{ batch: string; n: number }>(
        lockUnanswered,
        keys.bind(submissions),
      );
      const unanswered = new Set(rows.map(({ batch, n }) => submissionIdOf(batch, n)));
      const again = submissions.filter(({ batch, n }) => unanswered.has(submissionIdOf(batch, n)));
      await resume(
        tx,
        again.map((submission) => ({ ...submission, fence })),
      );
      await countTries(
        tx,
        again.map((submission) => ({ ...submission, attempts: submission.attempt })),
      );
      return unanswered;
    });
  }

  #many(intents: readonly Intent[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const { database, lanes } = this;
    const { intend } = database.fastPaths;
    return fastOrSlow(
      intend && (() => database.fastPath((sql) => intend(sql, intents, lanes.holder))),
      async () => (await database.transaction((tx) => this.#intend(tx, intents, 'skip'))).live,
    );
  }

  async #alone(intent: Intent): Promise<ReadonlySet<string>> {
    const { live, completed } = await this.database.transaction((tx) =>
      this.#intend(tx, [intent], 'wait'),
    );
    const batches = live.get(intent.lane);
    if (!batches) throw new LaneLostError(intent.lane);
    this.completion.publish(completed);
    return batches;
  }

  /** With `skip`, a lane with a locked batch is skipped whole: no later batch may overtake it. */
  async #intend(tx: Transaction, intents: readonly Intent[], locked: LockWait): Promise<Intended> {
    const ours = await this.lanes.renewWithin(tx, intents, locked);
    const owned = intents.filter(({ lane }) => ours.has(lane));
    const revisions = await this.#lockBatches(tx, owned, locked);
    const whole = owned.filter(
      ({ batches }) => locked === 'wait' || batches.every(({ id }) => revisions.has(id)),
    );
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
    const started = whole.map((intent) => startedOf(intent, live.get(intent.lane)!));
    await this.#write(tx, started);
    const completed: CompletedBatch[] = [];
    for (const intent of started)
      completed.push(
        ...(await this.completion.exhausted(tx, exhaustedOf(intent), intent.firstSentAt * 1_000)),
      );
    return { live, completed };
  }

  /** @returns the revisions, -1 for ended batches */
  async #lockBatches(
    tx: Sql,
    intents: readonly Intent[],
    locked: LockWait,
  ): Promise<Map<string, number>> {
    const batches = intents.flatMap((intent) => intent.batches);
    if (batches.length === 0) return new Map();
    const rows = await tx.all<{ id: string; revision: number; live: number | string }>(
      this.#sql.lockBatches[locked],
      this.#sql.ids.bind(batches),
    );
    return new Map(rows.map(({ id, revision, live }) => [id, Number(live) === 1 ? revision : -1]));
  }

  /** Batches with a message to repeat for which a report arrived meanwhile. */
  async #reported(tx: Sql, intents: readonly Intent[]): Promise<ReadonlySet<string>> {
    const again = intents.flatMap(messageRows).filter(([{ requeued }]) => requeued);
    if (again.length === 0) return new Set();
    const missing = new Map<string, number>();
    for (const [, { batch }] of again) missing.set(batch, (missing.get(batch) ?? 0) + 1);
    const queued = await tx.all<{ batch: string }>(
      this.#sql.lockQueued,
      this.#sql.messages.bind(again),
    );
    for (const { batch } of queued) missing.set(batch, (missing.get(batch) as number) - 1);
    return new Set([...missing].flatMap(([batch, count]) => (count > 0 ? [batch] : [])));
  }

  async #write(tx: Sql, intents: readonly Intent[]): Promise<void> {
    const sql = this.#sql;
    const messages = intents.flatMap(messageRows);
    const deferred = intents.flatMap((intent) => intent.deferred);
    await sql.startBatches(tx, intents.flatMap(batchRows));
    await sql.insertSubmissions(tx, intents.flatMap(submissionRows));
    const hasRow = ({ requeued }: IntendedRecipient) => requeued;
    const isNew = ({ requeued }: IntendedRecipient) => !requeued;
    await sql.insertMessages(
      tx,
      messages.filter(([message]) => isNew(message)),
    );
    await sql.restartMessages(
      tx,
      messages.filter(([message]) => hasRow(message)),
    );
    await sql.insertDeferred(tx, deferred.filter(isNew));
    await sql.updateDeferred(tx, deferred.filter(hasRow));
  }
}

function startedOf(intent: Intent, live: ReadonlySet<string>): Intent {
  if (live.size === intent.batches.length) return intent;
  const isLive = ({ batch }: { readonly batch: string }) => live.has(batch);
  return {
    ...intent,
    batches: intent.batches.filter(({ id }) => live.has(id)),
    submissions: intent.submissions.filter(isLive),
    deferred: intent.deferred.filter(isLive),
  };
}

function weightOf({ submissions }: Intent): number {
  let weight = 1;
  for (const { recipients } of submissions) weight += recipients.length;
  return weight;
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows<IntendedBatch>({ v_id: ['uuid', ({ id }) => id] });
  const messages = dialect.rows(MESSAGES);
  const deferred: Columns<DeferredMessage> = {
    v_batch: ['uuid', ({ batch }) => batch],
    v_position: ['int', ({ position }) => position],
    v_attempt: ['int', ({ attempts }) => attempts],
    v_recipient: ['key', ({ recipient }) => recipient],
    v_due_at: ['bigint', ({ dueAt }) => dueAt],
    v_error_code: ['key', ({ reason }) => reason],
  };
  const key = {
    v_batch: ['uuid', ({ batch }) => batch],
    v_n: ['int', ({ n }) => n],
  } satisfies Columns<Pick<ResumedSubmission, 'batch' | 'n'>>;
  const keys = dialect.rows(key);
  const primary = dialect.forceIndex('PRIMARY');
  const selectBatches = `SELECT b.id, b.revision, CASE WHEN ${isLive('b')} THEN 1 ELSE 0 END AS live
    FROM ${ids.keyed} ${dialect.join} messaging_batch b ${primary} ON b.id = v_id ORDER BY b.id`;
  const isUnanswered = (submission: string) => dialect.residual(`${submission}.outcome IS NULL`);
  const updateMessages = <T>(columns: Columns<T>, set: string) =>
    updater(dialect, columns, {
      table: 'messaging_message',
      set,
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.residual(isQueued('messaging_message'))}`,
    });
  const insertMessages = <T>(columns: Columns<T>, status: number) =>
    inserter(dialect, into('message', columns, 'status'), columns, {
      values: `${Object.keys(columns).join(', ')}, ${status}`,
    });
  return {
    ids,
    messages,
    keys,
    lockBatches: {
      wait: `${selectBatches} ${dialect.forUpdate('b')}`,
      skip: `${selectBatches} ${dialect.skipLocked('b')}`,
    },
    lockQueued: `SELECT m.batch FROM ${messages.keyed}
      ${dialect.join} messaging_message m ${primary} ON m.batch = v_batch AND m.position = v_position
        AND ${dialect.residual(isQueued('m'))}
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    lockUnanswered: `SELECT s.batch, s.n FROM ${keys.keyed}
      ${dialect.join} messaging_submission s ${primary} ON s.batch = v_batch AND s.n = v_n
        AND ${isUnanswered('s')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    startBatches: updater(dialect, BATCHES, {
      table: 'messaging_batch',
      set: STARTED,
      where: 'messaging_batch.id = v_id',
    }),
    insertSubmissions: inserter(dialect, into('submission', SUBMISSIONS), SUBMISSIONS),
    insertMessages: insertMessages(MESSAGES, STATUS_RANK.sending),
    restartMessages: updateMessages(
      MESSAGES,
      `status = ${STATUS_RANK.sending}, submission = v_submission, attempt = v_attempt, due_at = NULL`,
    ),
    insertDeferred: insertMessages(deferred, STATUS_RANK.queued),
    updateDeferred: updateMessages(
      deferred,
      'due_at = v_due_at, error_code = coalesce(v_error_code, messaging_message.error_code)',
    ),
    countTries: triesWriter(dialect),
    resume: updater<ResumedSubmission & { readonly fence: number }>(
      dialect,
      {
        ...key,
        v_fence: ['bigint', ({ fence }) => fence],
        v_attempt: ['int', ({ attempt }) => attempt],
      },
      {
        table: 'messaging_submission',
        set: 'fence = v_fence, attempt = v_attempt',
        where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
          AND ${isUnanswered('messaging_submission')}`,
      },
    ),
  };
}
