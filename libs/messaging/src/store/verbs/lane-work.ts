import type { Dialect } from '../database/dialect.js';
import { LaneGroup } from '../database/group-commit.js';
import type { BatchData } from '../reads/batch-data.js';
import type { StoreDatabase } from '../database/store-database.js';
import { BATCH_STATE, PRIORITY } from '../rows/batch-state.js';
import {
  mergeChunks,
  type UnansweredRow,
  type UnansweredSubmission,
  unansweredOf,
  type PlannedBatch,
  plannedOf,
  type PlannedRecipient,
  type PlanRow,
  type SetBack,
} from '../rows/planned-batch.js';
import { isQueued } from '../rows/status.js';
import { MOST_PLANNED, type PlanRequest } from '../store.js';
import { headColumns, planOf } from './plan.js';

/** Largest number of messages in one flush of plans. */
const MESSAGES = 16_000;

/** Largest number of lanes in one flush of next-due queries. */
const LANES = 500;

type Micros = string | number;

interface NextDueRow {
  readonly lane: string;
  readonly now: Micros;
  /** The first due times by priority, of new and of deferred batches. */
  readonly [head: `due${number}`]: Micros | null;
}

interface RequeuedRow extends Omit<PlannedRecipient, 'requeued'> {
  readonly batch: string;
}

/** Reads the work of lanes in the order of sending: priority, available_at, id, position. */
export class LaneWork {
  readonly #sql: ReturnType<typeof statementsFor>;
  /** Set where the driver plans many lanes at once. */
  readonly #planning: LaneGroup<PlanRequest, PlannedBatch[]> | undefined;
  readonly #looking: LaneGroup<{ readonly lane: string }, number | undefined>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly data: BatchData,
  ) {
    this.#sql = statementsFor(database.dialect);
    const { plan } = database.fastPaths;
    if (plan)
      this.#planning = new LaneGroup({
        many: async (requests) => this.#planned(requests, await plan(database, requests)),
        alone: (request) => this.#plan(this.#sql.plan, request),
        most: MESSAGES,
        weight: ({ limit }) => limit,
      });
    this.#looking = new LaneGroup({
      many: (lanes) => this.#nextDue(lanes),
      alone: async (lane) => (await this.#nextDue([lane])).get(lane.lane),
      most: LANES,
    });
  }

  /** The lane's next due messages, at most `limit`, in the order of sending. */
  plan(lane: string, limit: number): Promise<PlannedBatch[]> {
    const request = { lane, limit };
    if (!this.#planning || limit > MOST_PLANNED) return this.#plan(this.#sql.plan, request);
    return this.#planning.add(request);
  }

  /** The message to try while others fail: preferably of a batch that was never deferred. */
  probe(lane: string): Promise<PlannedBatch[]> {
    return this.#plan(this.#sql.probe, { lane, limit: 1 });
  }

  /** Milliseconds until the lane's next work; `undefined`: it has none. */
  nextDue(lane: string): Promise<number | undefined> {
    return this.#looking.add({ lane });
  }

  /** Unanswered submissions of a former holder of the lane, oldest first. */
  async unanswered(lane: string): Promise<UnansweredSubmission[]> {
    const rows = await this.database.all<UnansweredRow>(this.#sql.unanswered, [lane]);
    const unanswered = unansweredOf(rows, await this.data.reader(rows));
    return this.#withPersonal(unanswered, ({ batch }) => batch);
  }

  async #nextDue(
    lanes: readonly { readonly lane: string }[],
  ): Promise<Map<string, number | undefined>> {
    const { nextDue, lanes: source } = this.#sql;
    const rows = await this.database.all<NextDueRow>(nextDue, source.bind(lanes));
    return new Map(
      rows.map(({ lane, now, ...heads }) => {
        const due = Object.values(heads).flatMap((at) => (at === null ? [] : [Number(at)]));
        return [lane, due.length === 0 ? undefined : (Math.min(...due) - Number(now)) / 1_000];
      }),
    );
  }

  async #plan(statement: string, request: PlanRequest): Promise<PlannedBatch[]> {
    const { lane, limit } = request;
    const params = [lane, limit, lane, limit, lane, limit, lane, limit, limit, limit];
    const rows = await this.database.all<PlanRow>(statement, params);
    return (await this.#planned([request], rows)).get(lane)!;
  }

  async #planned(
    requests: readonly PlanRequest[],
    rows: readonly PlanRow[],
  ): Promise<Map<string, PlannedBatch[]>> {
    const batches = mergeChunks(rows);
    const setBack = await this.#setBackOf(batches);
    const byLane = new Map(requests.map(({ lane }) => [lane, [] as PlanRow[]]));
    for (const batch of batches) byLane.get(batch.lane)!.push(batch);
    const read = await this.data.reader(batches.map(({ id, content }) => ({ batch: id, content })));
    const planned = new Map<string, PlannedBatch[]>();
    for (const { lane, limit } of requests) {
      const own = plannedOf(byLane.get(lane)!, setBack, limit, read);
      planned.set(lane, await this.#withPersonal(own, ({ id }) => id));
    }
    return planned;
  }

  /** Adds names and variables to the recipients of the batches that have any. */
  async #withPersonal<T extends PlannedBatch | UnansweredSubmission>(
    all: T[],
    idOf: (one: T) => string,
  ): Promise<T[]> {
    if (!all.some(({ hasPersonal }) => hasPersonal)) return all;
    const places = all.flatMap((one) =>
      one.hasPersonal ? one.recipients.map(({ position }) => ({ batch: idOf(one), position })) : [],
    );
    const personal = (await this.data.personal(places)).values();
    return all.map((one) => {
      if (!one.hasPersonal) return one;
      const recipients = one.recipients.map((recipient) => {
        return { ...recipient, personal: personal.next().value };
      });
      return { ...one, recipients };
    });
  }

  async #setBackOf(batches: readonly PlanRow[]): Promise<SetBack> {
    const setBack = batches.filter(
      ({ state }) => state === BATCH_STATE.retrying || state === BATCH_STATE.deferred,
    );
    const requeued = new Map<string, PlannedRecipient[]>();
    if (setBack.length === 0) return { requeued, deferred: new Map() };
    const { ids, requeued: due, deferred: later } = this.#sql;
    // First, or a message that becomes due between the queries would be in neither.
    const deferred = await this.database.all<{ batch: string; dueAt: Micros }>(
      later,
      ids.bind(setBack),
    );
    const rows = await this.database.all<RequeuedRow>(due, ids.bind(setBack));
    for (const { batch, ...message } of rows) {
      const list = requeued.get(batch) ?? [];
      list.push({ ...message, requeued: true });
      requeued.set(batch, list);
    }
    return {
      requeued,
      deferred: new Map(deferred.map(({ batch, dueAt }) => [batch, Number(dueAt)])),
    };
  }
}

function statementsFor(dialect: Dialect) {
  const { now } = dialect;
  const ids = dialect.rows<PlanRow>({ v_id: ['uuid', ({ id }) => id] });
  const lanes = dialect.rows<{ readonly lane: string }>({ v_lane: ['key', ({ lane }) => lane] });
  const queued = `${ids.keyed} ${dialect.join} messaging_message m
    ON m.batch = v_id AND ${isQueued('m')}`;
  const heads = Object.values(PRIORITY).flatMap((priority) => {
    const head = (column: string, condition: string) =>
      `(SELECT b.${column} FROM messaging_batch b ${dialect.forceIndex('messaging_batch_queue')}
        WHERE ${dialect.hasWork('b')} AND b.lane = v_lane AND b.priority = ${priority} AND ${condition}
        ORDER BY b.${column} LIMIT 1)`;
    return [head('available_at', 'b.parked_until = 0'), head('parked_until', 'b.parked_until > 0')];
  });
  return {
    ids,
    lanes,
    plan: planOf(dialect, '?', '?'),
    probe: planOf(dialect, '?', '?', { deferredLast: true }),
    nextDue: `SELECT v_lane AS lane, ${now} AS now, ${heads.map((head, n) => `${head} AS due${n}`).join(', ')}
      FROM ${lanes.sql}`,
    requeued: `SELECT m.batch, m.position, m.recipient, m.attempt AS attempts, m.counted_failures AS "countedFailures", m.refused_by AS "refusedBy" FROM ${queued}
      AND (m.due_at IS NULL OR m.due_at <= ${now}) ORDER BY m.batch, m.position`,
    deferred: `SELECT m.batch, min(m.due_at) AS "dueAt" FROM ${queued} AND m.due_at > ${now} GROUP BY m.batch`,
    unanswered: `SELECT s.batch, s.n, s.provider, s.first_position AS "firstPosition", s.last_position AS "lastPosition",
        s.attempt, s.first_sent_at AS "firstSentAt", s.error_code AS "errorCode", s.error_text AS "errorText", ${headColumns(dialect)}, coalesce(s.content, b.content) AS content,
        m.position, m.recipient, m.counted_failures AS "countedFailures"
      FROM messaging_submission s ${dialect.join} messaging_batch b ON b.id = s.batch
      JOIN messaging_message m ON m.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position
        AND m.submission = s.n
      WHERE s.outcome IS NULL AND b.lane = ?
      ORDER BY b.priority, b.available_at, s.batch, s.n, m.position`,
  };
}
