import { BATCH_COMPLETED } from '../message/events.js';
import type { Channel } from '../message/message.js';
import { STATUS_RANK } from '../message/status.js';
import type { Clock } from '../ports/clock.js';
import type { EventPublisher } from '../ports/event-publisher.js';
import { isUnavailable } from './database-errors.js';
import { GroupCommit } from './group-commit.js';
import type { LedgerDatabase, Transaction } from './ledger-database.js';
import { digestId } from './report-hash.js';
import type { Outcome } from './outcome.js';
import { outcomeStatements } from './outcome.statements.js';
import { SUBMISSION_OUTCOME } from './schema.js';
import { type HeldMessage, raise, type StatusChange } from './status-change.js';
import type { StatusWriter } from './status-writer.js';
import { sortSteps } from './step-back.js';

/** What may have been sent is asked after soon, in milliseconds. */
const UNKNOWN_POLL_AFTER = 5_000;

interface Held extends HeldMessage {
  readonly submission: number;
}

/**
 * Records submit outcomes, many to a commit, not fenced: `sending → sent | rejected | failed |
 * unknown`, and the one step back, `sending → queued`, after a definite refusal.
 */
export class OutcomeRecorder {
  readonly #sql: ReturnType<typeof outcomeStatements>;
  readonly #group: GroupCommit<Outcome, void>;

  constructor(
    private readonly database: LedgerDatabase,
    private readonly writer: StatusWriter,
    private readonly events: EventPublisher,
    private readonly clock: Clock,
    /** Milliseconds after completion until missing reports are asked after. */
    private readonly pollAfter: number,
    private readonly onReferences: (references: readonly string[]) => Promise<void>,
  ) {
    this.#sql = outcomeStatements(database.dialect);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 2_000,
      weight: ({ firstPosition, lastPosition }) => 1 + (lastPosition - firstPosition) / 2,
      // A listener may throw whatever it likes.
      isItemError: (error) => !isUnavailable(error),
    });
  }

  record(outcome: Outcome): Promise<void> {
    return this.#group.add(outcome);
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }

  async #flush(take: () => readonly Outcome[]): Promise<void[]> {
    const { changes, completed } = await this.database.transaction(async (tx) => {
      const outcomes = take();
      const at = this.clock.now() * 1_000;
      const { facts, back, cancelled } = await sortSteps(tx, this.#sql, outcomes);
      const held = await this.#close(tx, [...facts, ...back], at);
      const changes = await this.#raise(tx, facts, held, cancelled, at);
      if (back.length > 0) await this.#setBack(tx, back, held);
      return { changes, completed: await this.#complete(tx, outcomes, at) };
    });
    this.writer.publish(changes);
    for (const batch of completed)
      this.events.publish(BATCH_COMPLETED, {
        tenant: batch.tenant,
        channel: batch.channel as Channel,
        batchId: batch.id,
      });
    const references = take().flatMap(({ reference, messageIds }) => [
      ...(reference === undefined ? [] : [reference]),
      ...(messageIds?.values() ?? []),
    ]);
    // A failure here loses nothing: the sweep matches what still waits.
    if (references.length > 0) void this.onReferences(references).catch(() => undefined);
    return take().map(() => undefined);
  }

  /** Closes the submissions and holds their messages. */
  async #close(
    tx: Transaction,
    outcomes: readonly Outcome[],
    at: number,
  ): Promise<Map<string, Held[]>> {
    const { submissions, closeSubmissions, holdMessages } = this.#sql;
    const rows = submissions.bind(
      outcomes.map((o) => [
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

  async #complete(
    tx: Transaction,
    outcomes: readonly Outcome[],
    at: number,
  ): Promise<{ id: string; tenant: string; channel: string }[]> {
    const ids = [...new Set(outcomes.map(({ batch }) => batch))].sort().map((id) => [id]);
    const rows = this.#sql.ids.bind(ids);
    const done = await tx.all<{ id: string; tenant: string; channel: string }>(
      this.#sql.selectCompleted,
      rows,
    );
    if (done.length === 0) return done;
    const unknown = new Set(
      outcomes.flatMap(({ batch, result }) => (result === 'unknown' ? [batch] : [])),
    );
    const pollAt = (id: string) =>
      at +
      (unknown.has(id) ? Math.min(this.pollAfter, UNKNOWN_POLL_AFTER) : this.pollAfter) * 1_000;
    await tx.run(
      this.#sql.complete,
      this.#sql.completed.bind(done.map(({ id }) => [id, at, pollAt(id)])),
    );
    return done;
  }
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
    outcome.transport,
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
