import { BATCH_STATE } from './batch-state.js';
import { LaneGroup } from './lane-group.js';
import type { StoreDatabase } from './store-database.js';
import { type OpenSubmission, openSubmissions } from './open-submissions.js';
import { MANY, planStatements } from './plan.statements.js';
import {
  mergeChunks,
  type PlannedBatch,
  plannedOf,
  type PlannedRecipient,
  type PlanRow,
  type SetBack,
} from './planned-batch.js';

interface Wanted {
  readonly lane: string;
  readonly limit: number;
}

/** Messages asked for in one flush of plans. */
const MESSAGES = 16_000;

/** Lanes in one flush of looks. */
const LANES = 500;

/** Reads what lanes have to do, in the order it must be done: class, available_at, id, position. */
export class LaneWork {
  readonly #sql: ReturnType<typeof planStatements>;
  readonly #planning: LaneGroup<Wanted, PlannedBatch[]> | undefined;
  readonly #looking: LaneGroup<{ readonly lane: string }, number | undefined> | undefined;

  constructor(private readonly database: StoreDatabase) {
    this.#sql = planStatements(database.dialect);
    const { atOnce } = this.#sql;
    if (!atOnce) return;
    this.#planning = new LaneGroup({
      together: (wanted) => this.#planAll(atOnce.plan, wanted),
      alone: (wanted) => this.#planAlone(wanted),
      most: MESSAGES,
      weight: ({ limit }) => limit,
      heavy: MANY,
    });
    this.#looking = new LaneGroup({
      together: (lanes) => this.#nextDueOfAll(atOnce.nextDue, lanes),
      alone: ({ lane }) => this.#nextDueAlone(lane),
      most: LANES,
    });
  }

  /** The lane's next due messages, at most `limit` of them. */
  plan(lane: string, limit: number): Promise<PlannedBatch[]> {
    return this.#planning?.add({ lane, limit }) ?? this.#planAlone({ lane, limit });
  }

  /** The message to try where others fail: one of a batch that was never put aside, if there is one. */
  probe(lane: string): Promise<PlannedBatch[]> {
    return this.#planAlone({ lane, limit: 1 }, this.#sql.probe);
  }

  /** When the lane has something to do next, in milliseconds from now; `undefined`: nothing is known. */
  nextDue(lane: string): Promise<number | undefined> {
    return this.#looking?.add({ lane }) ?? this.#nextDueAlone(lane);
  }

  /** What a former holder of the lane left open, oldest first. */
  open(lane: string): Promise<OpenSubmission[]> {
    return openSubmissions(this.database, lane);
  }

  async #planAll(sql: string, wanted: readonly Wanted[]): Promise<Map<string, PlannedBatch[]>> {
    const rows = await this.database.all<PlanRow & { lane: string }>(
      sql,
      this.#sql.lanes.bind(wanted.map(({ lane, limit }) => [lane, limit])),
    );
    const batches = mergeChunks(rows);
    const setBack = await this.#setBackOf(batches);
    const byLane = new Map(wanted.map(({ lane }) => [lane, [] as PlanRow[]]));
    for (const batch of batches) byLane.get(batch.lane)?.push(batch);
    return new Map(
      wanted.map(({ lane, limit }) => [lane, plannedOf(byLane.get(lane) ?? [], setBack, limit)]),
    );
  }

  async #planAlone({ lane, limit }: Wanted, sql = this.#sql.plan): Promise<PlannedBatch[]> {
    const rows = await this.database.all<PlanRow>(sql, this.#sql.planParameters(lane, limit));
    const batches = mergeChunks(rows);
    return plannedOf(batches, await this.#setBackOf(batches), limit);
  }

  async #nextDueOfAll(
    sql: string,
    lanes: readonly { readonly lane: string }[],
  ): Promise<Map<string, number | undefined>> {
    const rows = await this.database.all<NextDue & { lane: string }>(
      sql,
      this.#sql.lanes.bind(lanes.map(({ lane }) => [lane, null])),
    );
    return new Map(rows.map((row) => [row.lane, millisecondsOf(row)]));
  }

  async #nextDueAlone(lane: string): Promise<number | undefined> {
    const { nextDue, nextDueParameters } = this.#sql;
    const [row] = await this.database.all<NextDue>(nextDue, nextDueParameters(lane));
    return row && millisecondsOf(row);
  }

  async #setBackOf(batches: readonly PlanRow[]): Promise<SetBack> {
    const ids = batches
      .filter(({ state }) => state === BATCH_STATE.retrying || state === BATCH_STATE.deferred)
      .map(({ id }) => [id]);
    const requeued = new Map<string, PlannedRecipient[]>();
    if (ids.length === 0) return { requeued, deferred: new Map() };
    const { ids: source, requeued: due, deferred: later } = this.#sql;
    const messages = await this.database.all<MessageRow>(due, source.bind(ids));
    for (const { batch, position, recipient, attempt } of messages) {
      const list = requeued.get(batch) ?? [];
      list.push({ position, recipient, requeued: true, attempts: attempt });
      requeued.set(batch, list);
    }
    const deferred = await this.database.all<{ batch: string; due_at: string | number }>(
      later,
      source.bind(ids),
    );
    return {
      requeued,
      deferred: new Map(deferred.map(({ batch, due_at }) => [batch, Number(due_at)])),
    };
  }
}

interface MessageRow {
  readonly batch: string;
  readonly position: number;
  readonly recipient: string;
  readonly attempt: number;
}

interface NextDue {
  /** Microseconds. */
  readonly due_in: string | number | null;
}

function millisecondsOf({ due_in }: NextDue): number | undefined {
  return due_in === null ? undefined : Number(due_in) / 1_000;
}
