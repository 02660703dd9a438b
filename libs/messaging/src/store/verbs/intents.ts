import { fastOrSlow } from '../database/concurrent-change.error.js';
import { LaneGroup } from '../database/group-commit.js';
import { type Intent, isFresh } from '../rows/intent.js';
import type { Lanes } from './lanes.js';
import { IntendSlowPath, type ResumedSubmission } from '../slow-path/intend.js';
import type { StoreDatabase } from '../database/store-database.js';
import type { BatchCompletion } from '../upkeep/completion.js';

/** Largest number of messages in one flush. */
const MESSAGES = 2_000;

/** A lane that starts more messages runs alone, and delays no other lane. */
const HEAVY = 500;

/** Another process holds the lane: this one must stop working on it. */
export class LaneLostError extends Error {}

/**
 * Records the intent of requests before they start: `queued → sending`, fenced. The requests may
 * start after the commit. After a crash the intents show which requests may have been sent.
 */
export class Intents {
  readonly #slow: IntendSlowPath;
  readonly #group: LaneGroup<Intent, ReadonlySet<string>>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly lanes: Lanes,
    private readonly completion: BatchCompletion,
  ) {
    this.#slow = new IntendSlowPath(database.dialect, completion);
    this.#group = new LaneGroup({
      many: (intents) => this.#many(intents),
      alone: (intent) => this.#alone(intent),
      most: MESSAGES,
      weight: weightOf,
    });
  }

  /**
   * @returns ids of the batches that may start; the others were cancelled, rescheduled or reported
   *   meanwhile
   * @throws LaneLostError where another process holds the lane
   */
  async record(intent: Intent): Promise<ReadonlySet<string>> {
    if (!isFresh(intent)) return this.#alone(intent);
    if (weightOf(intent) <= HEAVY) return this.#group.add(intent);
    return (await this.#many([intent])).get(intent.lane) ?? this.#alone(intent);
  }

  /**
   * Takes over open submissions of a former holder, or repeats a submission: the same bytes under
   * the same id.
   * @returns ids of the open submissions; a former holder may have recorded the others meanwhile
   * @throws LaneLostError where another process holds the lane
   */
  async resume(
    lane: string,
    fence: number,
    submissions: readonly ResumedSubmission[],
  ): Promise<ReadonlySet<string>> {
    const open = await this.database.transaction((tx) =>
      this.#slow.resume(tx, { lane, fence }, this.lanes.holder, submissions),
    );
    if (!open) throw new LaneLostError(lane);
    return open;
  }

  #many(intents: readonly Intent[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const { database, lanes } = this;
    const { intend } = database.fastPaths;
    return fastOrSlow(
      intend && (() => database.fastPath((sql) => intend(sql, intents, lanes.holder))),
      async () =>
        (await database.transaction((tx) => this.#slow.intend(tx, intents, lanes.holder, 'skip')))
          .live,
    );
  }

  async #alone(intent: Intent): Promise<ReadonlySet<string>> {
    const { live, completed } = await this.database.transaction((tx) =>
      this.#slow.intend(tx, [intent], this.lanes.holder, 'wait'),
    );
    const batches = live.get(intent.lane);
    if (!batches) throw new LaneLostError(intent.lane);
    this.completion.publish(completed);
    return batches;
  }
}

function weightOf({ submissions }: Intent): number {
  let weight = 1;
  for (const { recipients } of submissions) weight += recipients.length;
  return weight;
}
