import { STATUS_RANK } from '../message/status.js';
import type { Transaction } from './store-database.js';
import type { Outcome } from './outcome.js';
import type { OutcomeStatements } from './outcome.statements.js';
import { digestId } from './report-hash.js';
import { SUBMISSION_OUTCOME } from './outcome.js';
import { type HeldMessage, raise, type StatusChange } from './status.js';
import type { StatusWriter } from './status-writer.js';
import { sortSteps } from './step-back.js';

interface Held extends HeldMessage {
  readonly submission: number;
}

/** Records outcomes of every kind: the messages they meet are held and looked at first. */
export class HeldRecorder {
  readonly #sql: OutcomeStatements;

  constructor(
    sql: OutcomeStatements,
    private readonly writer: StatusWriter,
  ) {
    this.#sql = sql;
  }

  /** @param at epoch microseconds */
  async record(
    tx: Transaction,
    outcomes: readonly Outcome[],
    at: number,
  ): Promise<readonly StatusChange[]> {
    const { facts, back, cancelled } = await sortSteps(tx, this.#sql, outcomes);
    const held = await this.#close(tx, [...facts, ...back], at);
    const changes = await this.#raise(tx, facts, held, cancelled, at);
    if (back.length > 0) await this.#setBack(tx, back, held);
    return changes;
  }

  /** Closes the submissions and holds their messages. */
  async #close(
    tx: Transaction,
    outcomes: readonly Outcome[],
    at: number,
  ): Promise<Map<string, Held[]>> {
    const { submissions, closeSubmissions, holdMessages } = this.#sql;
    const rows = submissions.bind(
      heaviest(outcomes).map((o) => [
        o.batch,
        o.n,
        o.firstPosition,
        o.lastPosition,
        SUBMISSION_OUTCOME[o.result],
        o.reference ?? null,
        o.errorCode ?? null,
        o.details ? JSON.stringify(o.details) : null,
        at,
      ]),
    );
    const held = new Map<string, Held[]>();
    if (outcomes.length === 0) return held;
    await tx.run(closeSubmissions, rows);
    for (const message of await tx.all<Held>(holdMessages, rows)) {
      const key = `${message.batch}-s${message.submission}`;
      const others = held.get(key);
      if (others) others.push(message);
      else held.set(key, [message]);
    }
    return held;
  }

  async #raise(
    tx: Transaction,
    outcomes: readonly Outcome[],
    held: Map<string, Held[]>,
    cancelled: ReadonlySet<string>,
    at: number,
  ): Promise<StatusChange[]> {
    const changes: StatusChange[] = [];
    const log: unknown[][] = [];
    const references: unknown[][] = [];
    for (const outcome of outcomes) {
      for (const message of held.get(`${outcome.batch}-s${outcome.n}`) ?? []) {
        const messageId = outcome.messageIds?.get(message.position);
        if (messageId) {
          references.push([message.batch, message.position, messageId]);
          message.reference = messageId;
        }
        const rejection = outcome.rejected?.get(message.position);
        const rank = rejection
          ? STATUS_RANK.rejected
          : rankOf(outcome, cancelled.has(outcome.batch));
        if (rank === undefined) continue;
        const change = raise(message, rank, at, rejection ?? outcome.errorCode ?? null);
        if (!change) continue;
        changes.push(change);
        if (change.sequence > 0) log.push(logRow(change, outcome, at));
      }
    }
    await this.writer.write(tx, changes);
    await this.writer.log(tx, log);
    if (references.length > 0)
      await tx.run(this.#sql.setReferences, this.#sql.references.bind(references));
    return changes;
  }

  async #setBack(
    tx: Transaction,
    outcomes: readonly Outcome[],
    held: Map<string, Held[]>,
  ): Promise<void> {
    const rows: unknown[][] = [];
    // Only batches that have something to send again: one without would never leave the plan.
    const parks = new Map<string, number>();
    for (const { batch, n, attempts, errorCode, parkFor } of outcomes)
      for (const message of held.get(`${batch}-s${n}`) ?? []) {
        if (message.status !== STATUS_RANK.sending) continue;
        rows.push([batch, message.position, attempts ?? null, errorCode ?? null]);
        parks.set(batch, Math.max(parks.get(batch) ?? 0, parkFor ?? 0));
      }
    if (rows.length === 0) return;
    await tx.run(this.#sql.setBack, this.#sql.back.bind(rows));
    await tx.run(
      this.#sql.reopenBatches,
      this.#sql.parks.bind([...parks].map(([batch, wait]) => [batch, Math.round(wait * 1_000)])),
    );
  }
}

/** One of each submission: an acceptance, where it is told beside a doubt, has the reference to remember. */
function heaviest(outcomes: readonly Outcome[]): Outcome[] {
  const bySubmission = new Map<string, Outcome>();
  for (const outcome of outcomes) {
    const key = `${outcome.batch}-s${outcome.n}`;
    if (outcome.result === 'accepted' || !bySubmission.has(key)) bySubmission.set(key, outcome);
  }
  return [...bySubmission.values()];
}

function rankOf({ result, exhausted }: Outcome, cancelled: boolean): number | undefined {
  switch (result) {
    case 'accepted':
      return STATUS_RANK.sent;
    case 'rejected':
      return STATUS_RANK.rejected;
    case 'unknown':
      return STATUS_RANK.unknown;
    case 'expired':
      return STATUS_RANK.expired;
    case 'refused':
      if (exhausted) return STATUS_RANK.failed;
      return cancelled ? STATUS_RANK.cancelled : undefined;
    case 'withdrawn':
      return cancelled ? STATUS_RANK.cancelled : undefined;
  }
}

function logRow(
  { message, status, sequence, errorCode }: StatusChange,
  outcome: Outcome,
  at: number,
): unknown[] {
  return [
    digestId('submit', message.batch, message.position, status),
    message.tenant,
    message.batch,
    message.position,
    outcome.provider,
    outcome.reference ?? null,
    outcome.messageIds?.get(message.position) ?? null,
    message.recipient,
    status,
    'submit',
    errorCode,
    null,
    at,
    sequence,
  ];
}
