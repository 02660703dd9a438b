import {
  GroupCommit,
  isDataError,
  type QueueDatabase,
  type Sql,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { HealthChange } from './endpoint-health.js';
import type { AttemptOutcome, DueDelivery } from './webhook-client.js';
import { numberOf, type WebhookDeliveryEntity } from './webhooks.tables.js';

/** Rows per insert: its parameters stay far below the packet size of every server. */
const MAX_ROWS = 2_000;

/** Attempts per transaction. */
const MAX_RESULTS = 500;

/** Rows deleted or made due per transaction. */
const SLICE = 1_000;

const SLICES_AT_ONCE = 20;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Largest difference of the clocks of processes, in ms: an id may be older than the row's time. */
const CLOCK_SKEW = 60_000;

export interface RecordedAttempt extends AttemptOutcome {
  readonly endpointId: string;
  readonly delivery: DueDelivery;
  /** Time of the next attempt, epoch milliseconds; `null`: delivered or exhausted. */
  readonly nextAt: number | null;
  readonly change: HealthChange | undefined;
}

type NewDelivery = Pick<
  WebhookDeliveryEntity,
  'id' | 'endpointId' | 'messageId' | 'sequence' | 'payload' | 'createdAt'
>;

/** The deliveries to send again; with neither field, the undelivered ones. */
export interface Redelivery {
  /** All deliveries created at or after this time, delivered or not. */
  readonly since?: Date | undefined;
  /** One delivery, by its `webhook-id`. */
  readonly deliveryId?: string | undefined;
}

/** Times are epoch milliseconds of the gateway's clock. */
@Injectable()
export class WebhookDeliveryStore {
  readonly #database: QueueDatabase;
  readonly #new;
  readonly #result;
  readonly #attempt;
  readonly #recordResults: string;
  readonly #recording = new GroupCommit<RecordedAttempt, void>(
    (take) => this.#database.transaction((tx) => this.#record(tx, take())),
    { maxItems: MAX_RESULTS, isItemError: isDataError },
  );

  constructor({ database }: WorkQueues) {
    this.#database = database;
    const { dialect } = database;
    this.#new = dialect.rows({
      v_id: 'uuid',
      v_endpoint: 'uuid',
      v_message: 'key',
      v_sequence: 'int',
      v_payload: 'text',
      v_created: 'bigint',
    });
    this.#result = dialect.rows({
      v_position: 'bigint',
      v_revision: 'int',
      v_attempts: 'int',
      v_due: 'bigint',
      v_delivered: 'bigint',
    });
    this.#attempt = dialect.rows({
      v_endpoint: 'uuid',
      v_delivery: 'uuid',
      v_message: 'key',
      v_attempt: 'int',
      v_started: 'bigint',
      v_duration: 'int',
      v_status: 'int',
      v_error: 'key',
      v_response: 'text',
    });
    // A late failure of a former lease holder overrides neither a success nor a redelivery request.
    this.#recordResults = dialect.updateFrom({
      table: 'gateway_webhook_delivery',
      rows: this.#result,
      set: 'attempts = v_attempts, revision = v_revision + 1, due_at = v_due, delivered_at = v_delivered',
      where: `gateway_webhook_delivery.position = v_position
        AND gateway_webhook_delivery.due_at IS NOT NULL
        AND (v_delivered IS NOT NULL OR gateway_webhook_delivery.revision = v_revision)`,
    });
  }

  /** @param sql the transaction of the status changes */
  async insert(sql: Sql, deliveries: readonly NewDelivery[]): Promise<void> {
    const rows = deliveries.map((one) => [
      one.id,
      one.endpointId,
      one.messageId,
      one.sequence,
      one.payload,
      one.createdAt,
    ]);
    for (let from = 0; from < rows.length; from += MAX_ROWS)
      await sql.run(
        `INSERT INTO gateway_webhook_delivery
            (id, endpoint_id, message_id, sequence, payload, created_at, due_at)
          SELECT v_id, v_endpoint, v_message, v_sequence, v_payload, v_created, 0
          FROM ${this.#new.sql}`,
        this.#new.bind(rows.slice(from, from + MAX_ROWS)),
      );
  }

  /** First those without an attempt in order of position, then retries by time. */
  async due(
    endpointId: string,
    now: number,
    size: { readonly first: number; readonly retries: number },
  ): Promise<DueDelivery[]> {
    const page = (condition: string, order: string) =>
      `SELECT * FROM (
        SELECT position, id, message_id AS "messageId", sequence, payload, attempts, revision, due_at
        FROM gateway_webhook_delivery WHERE endpoint_id = ? AND ${condition}
        ORDER BY ${order} LIMIT ?) AS page`;
    const rows = await this.#database.all<DueDelivery>(
      `${page('due_at = 0', 'position')}
        UNION ALL ${page('due_at > 0 AND due_at <= ?', 'due_at, position')}
        ORDER BY due_at, position`,
      [endpointId, size.first, endpointId, now, size.retries],
    );
    return rows.map((row) => ({ ...row, position: numberOf(row.position) }));
  }

  /** The first of each enabled endpoint, or of one: one index lookup each, for any backlog. */
  async firstDue(
    until: number,
    endpointId?: string,
  ): Promise<{ id: string; dueAt: number; createdAt: number }[]> {
    const first = (column: string) =>
      `(SELECT d.${column} FROM gateway_webhook_delivery d WHERE d.endpoint_id = e.id
        AND d.due_at <= ? ORDER BY d.due_at, d.position LIMIT 1)`;
    const one = endpointId === undefined ? [] : [endpointId];
    const rows = await this.#database.all<{ id: string; due: string | null; created: string }>(
      `SELECT e.id, ${first('due_at')} AS due, ${first('created_at')} AS created
        FROM gateway_webhook_endpoint e
        WHERE e.disabled_at IS NULL ${one.length > 0 ? 'AND e.id = ?' : ''}`,
      [until, until, ...one],
    );
    return rows.flatMap(({ id, due, created }) =>
      due === null ? [] : [{ id, dueAt: Number(due), createdAt: Number(created) }],
    );
  }

  /** Resolves once the attempt is committed; attempts of all endpoints share transactions. */
  record(attempt: RecordedAttempt): Promise<void> {
    return this.#recording.add(attempt);
  }

  async #record(sql: Sql, group: readonly RecordedAttempt[]): Promise<void[]> {
    // Every process locks deliveries in the order of their positions.
    const ordered = group.toSorted((a, b) => a.delivery.position - b.delivery.position);
    await sql.run(
      this.#recordResults,
      this.#result.bind(
        ordered.map(({ delivery, nextAt, error, startedAt, duration }) => [
          delivery.position,
          delivery.revision,
          delivery.attempts + 1,
          nextAt,
          error === null ? startedAt + duration : null,
        ]),
      ),
    );
    await sql.run(
      `INSERT INTO gateway_webhook_attempt
          (endpoint_id, delivery_id, message_id, attempt, started_at, duration, status, error, response)
        SELECT v_endpoint, v_delivery, v_message, v_attempt, v_started, v_duration, v_status, v_error,
          v_response
        FROM ${this.#attempt.sql}`,
      this.#attempt.bind(
        group.map(({ endpointId, delivery, ...outcome }) => [
          endpointId,
          delivery.id,
          delivery.messageId,
          delivery.attempts + 1,
          outcome.startedAt,
          outcome.duration,
          outcome.status,
          outcome.error,
          outcome.response,
        ]),
      ),
    );
    for (const { id, url, failingSince, disabled } of lastChanges(group))
      await sql.run(
        `UPDATE gateway_webhook_endpoint SET failing_since = ?,
          disabled_reason = COALESCE(disabled_reason, ?), disabled_at = COALESCE(disabled_at, ?)
          WHERE id = ? AND url = ?`,
        [failingSince, disabled?.reason ?? null, disabled?.at ?? null, id, url],
      );
    return group.map(() => undefined);
  }

  /** Makes deliveries due at once, like retries, so that they do not delay new ones. */
  async redeliver(
    endpointId: string,
    { deliveryId, since }: Redelivery,
    now: number,
  ): Promise<number> {
    const from = since?.getTime() ?? 0;
    let condition = 'delivered_at IS NULL AND created_at >= ?';
    if (since) condition = 'created_at >= ?';
    if (deliveryId !== undefined) condition = 'id = ?';
    const where = `endpoint_id = ? AND id > ? AND ${condition}`;
    let after = from > CLOCK_SKEW ? idOfTime(from - CLOCK_SKEW) : FIRST_ID;
    for (let count = 0; ;) {
      const params = [endpointId, after, deliveryId ?? from];
      const slice = await this.#database.all<{ readonly id: string }>(
        `SELECT id FROM gateway_webhook_delivery WHERE ${where} ORDER BY id LIMIT ${SLICE}`,
        params,
      );
      const last = slice.at(-1);
      if (!last) return count;
      // A delivery without an attempt keeps its place.
      await this.#database.transaction((tx) =>
        tx.run(
          `UPDATE gateway_webhook_delivery SET attempts = 0, revision = revision + 1,
              delivered_at = NULL, due_at = CASE WHEN due_at = 0 THEN due_at ELSE ? END
            WHERE ${where} AND id <= ?`,
          [now, ...params, last.id],
        ),
      );
      count += slice.length;
      after = last.id;
    }
  }

  /** Deletes deliveries and attempts of a deleted endpoint; the retention deletes a long rest. */
  async removeOf(endpointId: string): Promise<void> {
    for (const table of ['gateway_webhook_delivery', 'gateway_webhook_attempt'])
      for (let slice = 0; slice < SLICES_AT_ONCE; slice++) {
        const oldest = `SELECT position FROM ${table} WHERE endpoint_id = ? LIMIT ${SLICE}`;
        if ((await this.#delete(table, oldest, endpointId)) < SLICE) break;
      }
  }

  async purge(before: number, signal: AbortSignal): Promise<void> {
    for (const [table, time] of [
      ['gateway_webhook_delivery', 'created_at'],
      ['gateway_webhook_attempt', 'started_at'],
    ] as const)
      while (!signal.aborted) {
        // Positions grow with time, so no index over time is needed.
        const oldest = `SELECT position FROM (SELECT position, ${time} FROM ${table}
          ORDER BY position LIMIT ${SLICE}) AS oldest WHERE ${time} < ?`;
        if ((await this.#delete(table, oldest, before)) < SLICE) break;
      }
  }

  #delete(table: string, positions: string, param: string | number): Promise<number> {
    // MySQL accepts no LIMIT directly within IN.
    const sql = `DELETE FROM ${table} WHERE position IN (SELECT position FROM (${positions}) AS slice)`;
    return this.#database.transaction((tx) => tx.run(sql, [param]));
  }
}

/** By endpoint and URL, in the order in which every process locks endpoints. */
function lastChanges(group: readonly RecordedAttempt[]): HealthChange[] {
  const last = new Map<string, HealthChange>();
  for (const { change } of group) {
    const key = `${change?.id} ${change?.url}`;
    if (change) last.set(key, { ...last.get(key), ...change });
  }
  return [...last.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The smallest UUIDv7 of a millisecond. */
function idOfTime(milliseconds: number): string {
  const hex = Math.trunc(milliseconds).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
