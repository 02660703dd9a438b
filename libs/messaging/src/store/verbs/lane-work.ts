import { LaneGroup } from '../database/group-commit.js';
import type { StoreDatabase } from '../database/store-database.js';
import { BATCH_STATE } from '../rows/batch-state.js';
import {
  mergeChunks,
  type OpenRow,
  type OpenSubmission,
  openSubmissionsOf,
  type PlannedBatch,
  plannedOf,
  type PlannedRecipient,
  type PlanRow,
  type SetBack,
} from '../rows/planned-batch.js';
import { dueIn, type NextDueRow, planStatements } from './plan.js';
import { MOST_PLANNED, type PlanRequest } from '../store.js';

/** Largest number of messages in one flush of plans. */
const MESSAGES = 16_000;

/** Largest number of lanes in one flush of next-due queries. */
const LANES = 500;

export class LaneWork {
  readonly #sql: ReturnType<typeof planStatements>;
  /** Set where the driver plans many lanes at once. */
  readonly #planning: LaneGroup<PlanRequest, PlannedBatch[]> | undefined;
  readonly #looking: LaneGroup<{ readonly lane: string }, number | undefined> | undefined;

  constructor(private readonly database: StoreDatabase) {
    this.#sql = planStatements(database.dialect);
    const { plan, nextDue } = database.fastPaths;
    if (plan)
      this.#planning = new LaneGroup({
        many: async (requests) => this.#planned(requests, await plan(database, requests)),
        alone: (request) => this.#plan(this.#sql.plan, request),
        most: MESSAGES,
        weight: ({ limit }) => limit,
        heavy: MOST_PLANNED,
      });
    if (nextDue)
      this.#looking = new LaneGroup({
        many: (lanes) =>
          nextDue(
            database,
            lanes.map(({ lane }) => lane),
          ),
        alone: ({ lane }) => this.#nextDue(lane),
        most: LANES,
      });
  }

  /** The lane's next due messages, at most `limit`, in the order of sending. */
  plan(lane: string, limit: number): Promise<PlannedBatch[]> {
    const request = { lane, limit };
    return this.#planning?.add(request) ?? this.#plan(this.#sql.plan, request);
  }

  /** The message to try while others fail: preferably of a batch that was never parked. */
  probe(lane: string): Promise<PlannedBatch[]> {
    return this.#plan(this.#sql.probe, { lane, limit: 1 });
  }

  /** Milliseconds until the lane's next work; `undefined`: it has none. */
  nextDue(lane: string): Promise<number | undefined> {
    return this.#looking?.add({ lane }) ?? this.#nextDue(lane);
  }

  /** Open submissions of a former holder of the lane, oldest first. */
  async open(lane: string): Promise<OpenSubmission[]> {
    return openSubmissionsOf(await this.database.all<OpenRow>(this.#sql.open, [lane]));
  }

  async #nextDue(lane: string): Promise<number | undefined> {
    const { nextDue } = this.#sql;
    const [row] = await this.database.all<NextDueRow>(nextDue, [lane, lane, lane, lane]);
    return row && dueIn(row);
  }

  async #plan(statement: string, { lane, limit }: PlanRequest): Promise<PlannedBatch[]> {
    const params = [lane, limit, lane, limit, lane, limit, lane, limit, limit, limit];
    const batches = mergeChunks(await this.database.all<PlanRow>(statement, params));
    return plannedOf(batches, await this.#setBackOf(batches), limit);
  }

  async #planned(
    requests: readonly PlanRequest[],
    rows: readonly PlanRow[],
  ): Promise<Map<string, PlannedBatch[]>> {
    const batches = mergeChunks(rows);
    const setBack = await this.#setBackOf(batches);
    const byLane = new Map(requests.map(({ lane }) => [lane, [] as PlanRow[]]));
    for (const batch of batches) byLane.get(batch.lane)?.push(batch);
    return new Map(
      requests.map(({ lane, limit }) => [lane, plannedOf(byLane.get(lane) ?? [], setBack, limit)]),
    );
  }

  async #setBackOf(batches: readonly PlanRow[]): Promise<SetBack> {
    const ids = batches
      .filter(({ state }) => state === BATCH_STATE.retrying || state === BATCH_STATE.deferred)
      .map(({ id }) => [id]);
    const requeued = new Map<string, PlannedRecipient[]>();
    if (ids.length === 0) return { requeued, deferred: new Map() };
    const { ids: source, requeued: due, deferred: later } = this.#sql;
    for (const { batch, ...message } of await this.database.all<RequeuedRow>(
      due,
      source.bind(ids),
    )) {
      const list = requeued.get(batch) ?? [];
      list.push({ ...message, requeued: true });
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

interface RequeuedRow extends Omit<PlannedRecipient, 'requeued'> {
  readonly batch: string;
}
