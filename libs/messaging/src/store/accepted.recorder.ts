import { STATUS_RANK } from '../message/status.js';
import { type AcceptedAnswer, acceptedAtOnce, acceptedSteps } from './accepted.statements.js';
import { ConcurrentChangeError } from './concurrent-change.error.js';
import type { Dialect } from './dialect.js';
import type { Sql } from './store-database.js';
import type { PlainOutcome, SettledOutcomes } from './outcome.js';
import { areLone, recordLone } from './sqlite/acceptances.js';
import type { StatusChange } from './status.js';

/**
 * Records acceptances without reading anything: `sending → sent` of every message of an open
 * submission, with its line in the log, and the batches that are complete with it. One statement on
 * PostgreSQL, a few on the others.
 */
export class AcceptedRecorder {
  readonly #steps: ReturnType<typeof acceptedSteps>;
  readonly #atOnce: ReturnType<typeof acceptedAtOnce> | undefined;
  readonly #onSqlite: boolean;

  constructor(
    dialect: Dialect,
    /** Completes batches, by id; resolves with how many there were to complete. */
    private readonly complete: (sql: Sql, ids: readonly string[], at: number) => Promise<number>,
    /** Milliseconds after completion until missing reports are asked after. */
    private readonly pollAfter: number,
  ) {
    this.#steps = acceptedSteps(dialect);
    this.#onSqlite = dialect.kind === 'sqlite';
    this.#atOnce = dialect.kind === 'postgres' ? acceptedAtOnce(dialect) : undefined;
  }

  /** It needs no transaction around it. */
  get atOnce(): boolean {
    return this.#atOnce !== undefined;
  }

  /**
   * @param at epoch microseconds
   * @throws ConcurrentChangeError where the transaction has to be rolled back
   */
  record(sql: Sql, outcomes: readonly PlainOutcome[], at: number): Promise<SettledOutcomes> {
    const sorted = outcomes.toSorted(inLockOrder);
    return this.#atOnce
      ? this.#recordAtOnce(this.#atOnce, sql, sorted, at)
      : this.#recordStepwise(sql, sorted, at);
  }

  async #recordAtOnce(
    { sql: statement, rows }: ReturnType<typeof acceptedAtOnce>,
    sql: Pick<Sql, 'all'>,
    outcomes: readonly PlainOutcome[],
    at: number,
  ): Promise<SettledOutcomes> {
    const expected = messagesOf(outcomes);
    const answer = await sql.all<AcceptedAnswer>(statement, [
      ...rows.bind(outcomes.map((outcome, index) => rowOf(outcome, index, at))),
      this.pollAfter * 1_000,
      expected,
    ]);
    const indexes = (kind: AcceptedAnswer['kind']) =>
      new Set(answer.flatMap((row) => (row.kind === kind ? [row.index] : [])));
    const missed = indexes('missed');
    const incomplete = indexes('incomplete');
    const named = indexes('named');
    const raised =
      answer.find(({ kind }) => kind === 'raised')?.index === expected
        ? undefined
        : new Set(
            answer.flatMap(({ kind, index, position }) =>
              kind === 'message' ? [placeOf(outcomes[index] as PlainOutcome, position)] : [],
            ),
          );
    // A report that the statement waited for has raised the message, which has not been given its id.
    const isUnnamed = (outcome: PlainOutcome, index: number) =>
      outcome.messageIds?.size === 1 &&
      raised?.has(placeOf(outcome, outcome.firstPosition)) === false &&
      !named.has(index);
    return {
      changes: () => changesOf(outcomes, at, (place) => raised?.has(place) ?? true),
      completed: outcomes.filter(
        ({ intended }, index) => intended.whole && !missed.has(index) && !incomplete.has(index),
      ),
      missed: outcomes.filter((outcome, index) => missed.has(index) || isUnnamed(outcome, index)),
    };
  }

  async #recordStepwise(
    sql: Sql,
    outcomes: readonly PlainOutcome[],
    at: number,
  ): Promise<SettledOutcomes> {
    if (this.#onSqlite && areLone(outcomes)) {
      await recordLone(sql, outcomes, at, at + this.pollAfter * 1_000);
      return {
        changes: () => changesOf(outcomes, at, () => true),
        completed: outcomes,
        missed: [],
      };
    }
    const { close, log, ahead, raise, rows } = this.#steps;
    const params = rows.bind(outcomes.map((outcome, index) => rowOf(outcome, index, at)));
    if ((await sql.run(close, params)) !== outcomes.length) throw new ConcurrentChangeError();
    const logged = await sql.run(log, params);
    const reported =
      logged === messagesOf(outcomes)
        ? []
        : await sql.all<{ batch: string; position: number }>(ahead, params);
    if ((await sql.run(raise, params)) !== logged) throw new ConcurrentChangeError();
    // Those ahead would be left without their ids.
    if (reported.length > 0 && outcomes.some(({ messageIds }) => messageIds?.size))
      throw new ConcurrentChangeError();
    const before = new Set(reported.map(({ batch, position }) => `${batch}-${position}`));
    const completed = outcomes.filter(({ intended }) => intended.whole);
    const ids = completed.map(({ batch }) => batch);
    if (ids.length > 0 && (await this.complete(sql, ids, at)) !== ids.length)
      throw new ConcurrentChangeError();
    return {
      changes: () => changesOf(outcomes, at, (place) => !before.has(place)),
      completed,
      missed: [],
    };
  }
}

function inLockOrder(a: PlainOutcome, b: PlainOutcome): number {
  if (a.batch !== b.batch) return a.batch < b.batch ? -1 : 1;
  return a.n - b.n;
}

function rowOf(outcome: PlainOutcome, index: number, at: number): unknown[] {
  const { batch, n, firstPosition, lastPosition, reference, messageIds, details, provider } =
    outcome;
  const { submission, whole } = outcome.intended;
  return [
    index,
    batch,
    n,
    firstPosition,
    lastPosition,
    reference ?? null,
    messageIds?.get(firstPosition) ?? null,
    details ? JSON.stringify(details) : null,
    submission.tenant,
    provider,
    whole ? 1 : 0,
    at,
  ];
}

function messagesOf(outcomes: readonly PlainOutcome[]): number {
  return outcomes.reduce((sum, { intended }) => sum + intended.positions.length, 0);
}

function placeOf({ batch }: PlainOutcome, position: number | null): string {
  return `${batch}-${position}`;
}

function changesOf(
  outcomes: readonly PlainOutcome[],
  at: number,
  isRaised: (place: string) => boolean,
): StatusChange[] {
  const changes: StatusChange[] = [];
  for (const { batch, intended, messageIds } of outcomes) {
    const { positions, submission } = intended;
    positions.forEach((position, member) => {
      if (!isRaised(`${batch}-${position}`)) return;
      changes.push({
        message: {
          batch,
          position,
          recipient: submission.recipients[member] as string,
          tenant: submission.tenant,
          channel: submission.channel,
          sender: submission.sender,
          delivery_report: submission.deliveryReport === 'yes' ? 1 : 0,
          status: STATUS_RANK.sent,
          sequence: 1,
          error_code: null,
          reference: messageIds?.get(position) ?? null,
        },
        previous: STATUS_RANK.sending,
        status: STATUS_RANK.sent,
        sequence: 1,
        errorCode: null,
        at,
      });
    });
  }
  return changes;
}
