import type { Intent } from './intent.js';
import { batchRow, byId, messageRows, submissionRows } from './intent.statements.js';
import type { IntentStatements } from './intent.statements.js';
import type { LaneLeases } from './lane-leases.js';
import type { StoreDatabase, Transaction } from './store-database.js';
import { BATCH_STATE } from './batch-state.js';

/**
 * Writes down what is about to start in many lanes, none of whose messages has a row yet. Each lane is
 * fenced by itself: one that is lost, or whose rows somebody else has locked, is left out and untouched.
 */
export class IntentsTogether {
  constructor(
    private readonly database: StoreDatabase,
    private readonly leases: LaneLeases,
    private readonly sql: IntentStatements,
  ) {}

  /** @returns by lane, ids of the batches that may start */
  async record(intents: readonly Intent[]): Promise<Map<string, ReadonlySet<string>>> {
    const { atOnceTogether } = this.sql;
    // One alone has a shorter way.
    if (intents.length === 1) return new Map();
    return atOnceTogether
      ? this.#recordAtOnce(atOnceTogether(this.leases.held), intents)
      : this.database.transaction((tx) => this.#recordStepwise(tx, intents));
  }

  async #recordAtOnce(
    statement: string,
    intents: readonly Intent[],
  ): Promise<Map<string, ReadonlySet<string>>> {
    const { together, submissions, messages } = this.sql;
    const answers = await this.database.standalone.all<{ lane: string; gone: string | null }>(
      statement,
      [
        ...this.leases.heldRows(intents),
        ...together.bind(
          intents.flatMap(({ lane, batches }) =>
            batches.map((batch) => [...batchRow(batch), lane, batches.length]),
          ),
        ),
        ...submissions.bind(
          intents.flatMap((intent) => submissionRows(intent, intent.submissions)),
        ),
        ...messages.bind(intents.flatMap((intent) => messageRows(intent.submissions).fresh)),
      ],
    );
    const gone = new Map(answers.map(({ lane, gone: ids }) => [lane, new Set(ids?.split(' '))]));
    return new Map(
      intents.flatMap(({ lane, batches }) => {
        const without = gone.get(lane);
        if (!without) return [];
        const live = batches.flatMap(({ id }) => (without.has(id) ? [] : [id]));
        return [[lane, new Set(live)] as const];
      }),
    );
  }

  async #recordStepwise(
    tx: Transaction,
    intents: readonly Intent[],
  ): Promise<Map<string, ReadonlySet<string>>> {
    const ours = await this.leases.renewWithin(tx, intents);
    const held = intents.filter(({ lane }) => ours.has(lane));
    const free = await this.#lockFree(tx, held);
    const whole = held.filter(({ batches }) => batches.every(({ id }) => free.has(id)));
    const live = new Set(
      whole
        .flatMap(({ batches }) => batches.filter((b) => free.get(b.id) === b.revision))
        .map(({ id }) => id),
    );
    if (live.size > 0) await this.#insert(tx, whole, live);
    return new Map(
      whole.map(({ lane, batches }) => [
        lane,
        new Set(batches.flatMap(({ id }) => (live.has(id) ? [id] : []))),
      ]),
    );
  }

  /** Revisions of the batches nobody else has locked; -1 where nothing of it may start. */
  async #lockFree(tx: Transaction, intents: readonly Intent[]): Promise<Map<string, number>> {
    const { lockFreeBatches, ids } = this.sql;
    const rows = await tx.all<{ id: string; revision: number; state: number }>(
      lockFreeBatches,
      ids.bind(intents.flatMap(({ batches }) => batches.map(({ id }) => [id]))),
    );
    return new Map(
      rows.map(({ id, revision, state }) => [id, state <= BATCH_STATE.draining ? revision : -1]),
    );
  }

  async #insert(
    tx: Transaction,
    intents: readonly Intent[],
    live: ReadonlySet<string>,
  ): Promise<void> {
    const { updateBatches, batches, insertSubmissions, insertMessages } = this.sql;
    const started = intents.flatMap((intent) => intent.batches.filter(({ id }) => live.has(id)));
    await tx.run(updateBatches, batches.bind(started.toSorted(byId).map(batchRow)));
    const submitted = intents.map((intent) => ({
      intent,
      submissions: intent.submissions.filter(({ batch }) => live.has(batch)),
    }));
    const rows = submitted.flatMap(({ intent, submissions }) =>
      submissionRows(intent, submissions),
    );
    const messages = submitted.flatMap(({ submissions }) => messageRows(submissions).fresh);
    if (rows.length === 0) return;
    await tx.run(insertSubmissions, this.sql.submissions.bind(rows));
    await tx.run(insertMessages, this.sql.messages.bind(messages));
  }
}
