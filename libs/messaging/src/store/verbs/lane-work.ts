import { LaneGroup } from '../database/group-commit.js';
import {
  mergeChunks,
  type OpenSubmission,
  type PlannedBatch,
  plannedOf,
  type PlanRow,
} from '../rows/planned-batch.js';
import { PlanSlowPath } from '../slow-path/plan.js';
import { MOST_PLANNED, type PlanRequest } from '../store.js';
import type { StoreDatabase } from '../database/store-database.js';

/** Largest number of messages in one flush of plans. */
const MESSAGES = 16_000;

/** Largest number of lanes in one flush of next-due queries. */
const LANES = 500;

/** The work of lanes: plans, and open submissions of former holders. */
export class LaneWork {
  readonly #slow: PlanSlowPath;
  /** Set where the driver plans many lanes at once. */
  readonly #planning: LaneGroup<PlanRequest, PlannedBatch[]> | undefined;
  readonly #looking: LaneGroup<{ readonly lane: string }, number | undefined> | undefined;

  constructor(private readonly database: StoreDatabase) {
    const slow = new PlanSlowPath(database.dialect);
    this.#slow = slow;
    const { plan, nextDue } = database.fastPaths;
    if (plan)
      this.#planning = new LaneGroup({
        many: async (requests) => this.#planned(requests, await plan(database, requests)),
        alone: ({ lane, limit }) => slow.plan(database, lane, limit),
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
        alone: ({ lane }) => slow.nextDue(database, lane),
        most: LANES,
      });
  }

  /** The lane's next due messages, at most `limit`, in the order of sending. */
  plan(lane: string, limit: number): Promise<PlannedBatch[]> {
    return this.#planning?.add({ lane, limit }) ?? this.#slow.plan(this.database, lane, limit);
  }

  /** The message to try while others fail: preferably of a batch that was never parked. */
  probe(lane: string): Promise<PlannedBatch[]> {
    return this.#slow.probe(this.database, lane);
  }

  /** Milliseconds until the lane's next work; `undefined`: it has none. */
  nextDue(lane: string): Promise<number | undefined> {
    return this.#looking?.add({ lane }) ?? this.#slow.nextDue(this.database, lane);
  }

  /** Open submissions of a former holder of the lane, oldest first. */
  open(lane: string): Promise<OpenSubmission[]> {
    return this.#slow.openSubmissions(this.database, lane);
  }

  async #planned(
    requests: readonly PlanRequest[],
    rows: readonly PlanRow[],
  ): Promise<Map<string, PlannedBatch[]>> {
    const batches = mergeChunks(rows);
    const setBack = await this.#slow.setBackOf(this.database, batches);
    const byLane = new Map(requests.map(({ lane }) => [lane, [] as PlanRow[]]));
    for (const batch of batches) byLane.get(batch.lane)?.push(batch);
    return new Map(
      requests.map(({ lane, limit }) => [lane, plannedOf(byLane.get(lane) ?? [], setBack, limit)]),
    );
  }
}
