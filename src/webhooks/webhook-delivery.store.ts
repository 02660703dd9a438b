import type { Page } from '@dundun/messaging';
import {
  GroupCommit,
  isDataError,
  type QueueDatabase,
  type Sql,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import { invalidFields } from '../http/api-error.js';
import type { HealthChange } from './endpoint-health.js';
import type { AttemptResult, DueDelivery } from './webhook-attempt.js';
import type { WebhookAttemptEntity } from './webhooks.tables.js';

const NEW = {
  v_id: 'uuid',
  v_endpoint: 'uuid',
  v_message: 'key',
  v_sequence: 'int',
  v_payload: 'text',
  v_created: 'bigint',
} as const;

const RESULT = {
  v_position: 'bigint',
  v_was_due: 'bigint',
  v_attempts: 'int',
  v_due: 'bigint',
  v_delivered: 'bigint',
} as const;

const ATTEMPT = {
  v_endpoint: 'uuid',
  v_delivery: 'uuid',
  v_message: 'key',
  v_attempt: 'int',
  v_started: 'bigint',
  v_duration: 'int',
  v_status: 'int',
  v_error: 'key',
  v_response: 'text',
} as const;

const DELIVERY_COLUMNS = 'position, id, message_id, sequence, payload, attempts, due_at';

/** `due_at` after a redelivery request for a delivery without an attempt; before, it is 0. */
const REQUESTED_AGAIN = -1;

/** Rows per insert: its parameters stay far below the packet size of every server. */
const MAX_ROWS = 2_000;

/** Attempts per transaction. */
const MAX_RESULTS = 500;

/** Rows deleted or made due per transaction. */
const SLICE = 1_000;

/** Rows that the deletion of an endpoint deletes; the retention deletes the rest. */
const DELETED_AT_ONCE = 20_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Largest difference of the clocks of processes, in ms: an id may be older than the row's time. */
const CLOCK_SKEW = 60_000;

/** Number of rows of each kind in a page of due deliveries. */
export interface PageSize {
  readonly first: number;
  readonly retries: number;
}

/** An attempt to record, and the change of its endpoint's state, if any. */
export interface RecordedAttempt {
  readonly result: AttemptResult;
  readonly change: HealthChange | undefined;
}

/** A new delivery. */
export interface NewDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly messageId: string;
  readonly sequence: number;
  readonly payload: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

interface DeliveryRow {
  readonly position: string | number;
  readonly id: string;
  readonly message_id: string;
  readonly sequence: number;
  readonly payload: string;
  readonly attempts: number;
  readonly due_at: string | number;
}

type Positioned = Pick<DeliveryRow, 'position' | 'id'>;

/** Every statement on deliveries and attempts. Times are epoch milliseconds of the gateway's clock. */
@Injectable()
export class WebhookDeliveryStore {
  readonly #database: QueueDatabase;
  readonly #new;
  readonly #result;
  readonly #attempt;
  readonly #again;
  readonly #insert: string;
  readonly #recordResults: string;
  readonly #recordAttempts: string;
  readonly #makeDue: string;
  readonly #recording = new GroupCommit<RecordedAttempt, void>(
    (take) => this.#database.transaction((tx) => this.#record(tx, take())),
    { maxItems: MAX_RESULTS, isItemError: isDataError },
  );

  constructor({ database }: WorkQueues) {
    this.#database = database;
    const { dialect } = database;
    this.#new = dialect.rows(NEW);
    this.#result = dialect.rows(RESULT);
    this.#attempt = dialect.rows(ATTEMPT);
    this.#again = dialect.rows({ v_position: 'bigint', v_due: 'bigint' });
    this.#insert = `INSERT INTO gateway_webhook_delivery
        (id, endpoint_id, message_id, sequence, payload, created_at, attempts, due_at)
      SELECT v_id, v_endpoint, v_message, v_sequence, v_payload, v_created, 0, 0
      FROM ${this.#new.sql}`;
    // A late failure of a former lease holder overrides neither a success nor a redelivery request.
    this.#recordResults = dialect.updateFrom({
      table: 'gateway_webhook_delivery',
      rows: this.#result,
      set: 'attempts = v_attempts, due_at = v_due, delivered_at = v_delivered',
      where: `gateway_webhook_delivery.position = v_position
        AND gateway_webhook_delivery.due_at IS NOT NULL
        AND (v_delivered IS NOT NULL OR gateway_webhook_delivery.due_at = v_was_due)`,
    });
    this.#recordAttempts = `INSERT INTO gateway_webhook_attempt
        (endpoint_id, delivery_id, message_id, attempt, started_at, duration, status, error, response)
      SELECT v_endpoint, v_delivery, v_message, v_attempt, v_started, v_duration, v_status, v_error,
        v_response
      FROM ${this.#attempt.sql}`;
    this.#makeDue = dialect.updateFrom({
      table: 'gateway_webhook_delivery',
      rows: this.#again,
      // A delivery without an attempt keeps its position; the other value makes the record of an
      // attempt in flight not match.
      set: `attempts = 0, delivered_at = NULL, due_at = CASE gateway_webhook_delivery.due_at
        WHEN 0 THEN ${REQUESTED_AGAIN} WHEN ${REQUESTED_AGAIN} THEN 0 ELSE v_due END`,
      where: 'gateway_webhook_delivery.position = v_position',
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
      await sql.run(this.#insert, this.#new.bind(rows.slice(from, from + MAX_ROWS)));
  }

  /**
   * The endpoint's due deliveries: first those without an attempt in order of position, then
   * retries by time.
   */
  async due(endpointId: string, now: number, size: PageSize): Promise<DueDelivery[]> {
    const first = (dueAt: number) =>
      `SELECT * FROM (SELECT ${DELIVERY_COLUMNS} FROM gateway_webhook_delivery
          WHERE endpoint_id = ? AND due_at = ${dueAt} ORDER BY position LIMIT ?) AS f`;
    const rows = await this.#database.all<DeliveryRow>(
      `${first(REQUESTED_AGAIN)} UNION ALL ${first(0)}
        UNION ALL
        SELECT * FROM (SELECT ${DELIVERY_COLUMNS} FROM gateway_webhook_delivery
          WHERE endpoint_id = ? AND due_at > 0 AND due_at <= ?
          ORDER BY due_at, position LIMIT ?) AS r`,
      [endpointId, size.first, endpointId, size.first, endpointId, now, size.retries],
    );
    const due = rows.map((row) => ({
      position: Number(row.position),
      id: row.id,
      messageId: row.message_id,
      sequence: row.sequence,
      payload: row.payload,
      attempts: row.attempts,
      dueAt: Number(row.due_at),
    }));
    // SQL does not guarantee the order of a UNION's rows.
    return [
      ...due
        .filter(({ dueAt }) => dueAt <= 0)
        .toSorted((a, b) => a.position - b.position)
        .slice(0, size.first),
      ...due
        .filter(({ dueAt }) => dueAt > 0)
        .toSorted((a, b) => a.dueAt - b.dueAt || a.position - b.position),
    ];
  }

  /**
   * Due time of the endpoint's next delivery; `undefined`: none is due, or the endpoint is
   * disabled.
   */
  async nextDueAt(endpointId: string): Promise<number | undefined> {
    const [row] = await this.#database.all<{ due_at: string | number | null }>(
      `SELECT (SELECT d.due_at FROM gateway_webhook_delivery d
          WHERE d.endpoint_id = e.id AND d.due_at IS NOT NULL ORDER BY d.due_at LIMIT 1) AS due_at
        FROM gateway_webhook_endpoint e WHERE e.id = ? AND e.disabled_at IS NULL`,
      [endpointId],
    );
    return row?.due_at === null || row === undefined ? undefined : Number(row.due_at);
  }

  /**
   * Enabled endpoints with a delivery due until `until`: one index lookup each, regardless of the
   * backlog.
   */
  async endpointsDue(until: number): Promise<{ readonly id: string; readonly dueAt: number }[]> {
    const rows = await this.#database.all<{ id: string; due_at: string | number | null }>(
      `SELECT e.id, (SELECT d.due_at FROM gateway_webhook_delivery d
          WHERE d.endpoint_id = e.id AND d.due_at <= ? ORDER BY d.due_at LIMIT 1) AS due_at
        FROM gateway_webhook_endpoint e WHERE e.disabled_at IS NULL`,
      [until],
    );
    return rows
      .filter(({ due_at }) => due_at !== null)
      .map(({ id, due_at }) => ({ id, dueAt: Number(due_at) }));
  }

  /** Age of the oldest due delivery of all enabled endpoints, in milliseconds. */
  async lag(now: number): Promise<number> {
    const rows = await this.#database.all<{ oldest: string | number | null }>(
      `SELECT (SELECT d.created_at FROM gateway_webhook_delivery d
          WHERE d.endpoint_id = e.id AND d.due_at <= ? ORDER BY d.due_at, d.position LIMIT 1) AS oldest
        FROM gateway_webhook_endpoint e WHERE e.disabled_at IS NULL`,
      [now],
    );
    return Math.max(0, ...rows.map(({ oldest }) => (oldest === null ? 0 : now - Number(oldest))));
  }

  /** Resolves once the attempt is committed; attempts of all endpoints share transactions. */
  record(attempt: RecordedAttempt): Promise<void> {
    return this.#recording.add(attempt);
  }

  async #record(sql: Sql, group: readonly RecordedAttempt[]): Promise<void[]> {
    // Every process locks deliveries in the order of their positions.
    const ordered = group
      .map(({ result }) => result)
      .toSorted((a, b) => a.delivery.position - b.delivery.position);
    await sql.run(
      this.#recordResults,
      this.#result.bind(
        ordered.map(({ delivery, nextAt, error, startedAt, duration }) => [
          delivery.position,
          delivery.dueAt,
          delivery.attempts + 1,
          nextAt,
          error === null ? startedAt + duration : null,
        ]),
      ),
    );
    await sql.run(
      this.#recordAttempts,
      this.#attempt.bind(
        group.map(({ result }) => [
          result.endpointId,
          result.delivery.id,
          result.delivery.messageId,
          result.delivery.attempts + 1,
          result.startedAt,
          result.duration,
          result.status,
          result.error,
          result.response,
        ]),
      ),
    );
    for (const change of lastChanges(group)) await recordChange(sql, change);
    return group.map(() => undefined);
  }

  /**
   * Attempts of one endpoint, newest first.
   *
   * @throws ApiError 422 on `cursor`
   */
  async attempts(
    endpointId: string,
    { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<Page<WebhookAttemptEntity>> {
    const before = cursor === undefined ? [] : [positionOf(cursor)];
    const found = await this.#database.all<Omit<WebhookAttemptEntity, 'startedAt'> & StartedAt>(
      `SELECT position, endpoint_id AS "endpointId", delivery_id AS "deliveryId",
          message_id AS "messageId", attempt, started_at AS "startedAt", duration, status, error, response
        FROM gateway_webhook_attempt
        WHERE endpoint_id = ? ${before.length > 0 ? 'AND position < ?' : ''}
        ORDER BY position DESC LIMIT ${Math.trunc(limit) + 1}`,
      [endpointId, ...before],
    );
    const data = found.slice(0, limit).map((row) => ({ ...row, startedAt: Number(row.startedAt) }));
    const last = data.at(-1);
    return { data, nextCursor: last && found.length > limit ? cursorOf(last.position) : null };
  }

  /** The position of the endpoint's delivery. */
  async find(endpointId: string, deliveryId: string): Promise<number | undefined> {
    const [row] = await this.#database.all<Positioned>(
      'SELECT position, id FROM gateway_webhook_delivery WHERE endpoint_id = ? AND id = ?',
      [endpointId, deliveryId],
    );
    return row && Number(row.position);
  }

  /**
   * Makes the endpoint's deliveries due again: those created since a time or, without a time, the
   * undelivered ones.
   * @returns the number of deliveries
   */
  async redeliver(endpointId: string, since: number | undefined, now: number): Promise<number> {
    const from = since ?? 0;
    const condition =
      since === undefined ? 'delivered_at IS NULL AND created_at >= ?' : 'created_at >= ?';
    let after = from > CLOCK_SKEW ? idOfTime(from - CLOCK_SKEW) : FIRST_ID;
    for (let count = 0; ;) {
      const slice = await this.#database.all<Positioned>(
        `SELECT position, id FROM gateway_webhook_delivery
          WHERE endpoint_id = ? AND id > ? AND ${condition} ORDER BY id LIMIT ${SLICE}`,
        [endpointId, after, from],
      );
      await this.makeDue(
        slice.map(({ position }) => Number(position)),
        now,
      );
      count += slice.length;
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) return count;
      after = last.id;
    }
  }

  /** Due like retries, next to new deliveries, so that a backlog does not delay new ones. */
  async makeDue(positions: readonly number[], now: number): Promise<void> {
    if (positions.length === 0) return;
    const rows = positions.toSorted((a, b) => a - b).map((position) => [position, now]);
    await this.#database.transaction((tx) => tx.run(this.#makeDue, this.#again.bind(rows)));
  }

  /** Deletes deliveries and attempts of a deleted endpoint. */
  async removeOf(endpointId: string): Promise<void> {
    for (const table of ['gateway_webhook_delivery', 'gateway_webhook_attempt'])
      for (let gone = SLICE, all = 0; gone === SLICE && all < DELETED_AT_ONCE; all += gone)
        gone = await this.#database.transaction((tx) =>
          tx.run(
            `DELETE FROM ${table} WHERE position IN (SELECT position FROM
              (SELECT position FROM ${table} WHERE endpoint_id = ? LIMIT ${SLICE}) AS slice)`,
            [endpointId],
          ),
        );
  }

  /** Deletes deliveries and attempts older than a time, oldest first. */
  async purge(before: number, signal?: AbortSignal): Promise<void> {
    await this.#purge('gateway_webhook_delivery', 'created_at', before, signal);
    await this.#purge('gateway_webhook_attempt', 'started_at', before, signal);
  }

  /** Positions grow with time: the oldest rows come first, so no index over time is needed. */
  async #purge(table: string, time: string, before: number, signal?: AbortSignal): Promise<void> {
    for (let gone = SLICE; gone === SLICE && !signal?.aborted;)
      gone = await this.#database.transaction((tx) =>
        tx.run(
          `DELETE FROM ${table} WHERE position IN (SELECT position FROM
            (SELECT position, ${time} FROM ${table} ORDER BY position LIMIT ${SLICE}) AS oldest
            WHERE ${time} < ?)`,
          [before],
        ),
      );
  }
}

interface StartedAt {
  readonly startedAt: string | number;
}

/**
 * The last change of each endpoint and URL, in the order in which every process locks endpoints.
 */
function lastChanges(group: readonly RecordedAttempt[]): HealthChange[] {
  const last = new Map<string, HealthChange>();
  for (const { change } of group) {
    const key = `${change?.id} ${change?.url}`;
    if (change) last.set(key, { ...last.get(key), ...change });
  }
  return [...last.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

async function recordChange(
  sql: Sql,
  { id, url, failingSince, disabled }: HealthChange,
): Promise<void> {
  await sql.run('UPDATE gateway_webhook_endpoint SET failing_since = ? WHERE id = ? AND url = ?', [
    failingSince,
    id,
    url,
  ]);
  if (disabled)
    await sql.run(
      `UPDATE gateway_webhook_endpoint SET disabled_at = ?, disabled_reason = ?
        WHERE id = ? AND url = ? AND disabled_at IS NULL`,
      [disabled.at, disabled.reason, id, url],
    );
}

/** The smallest UUIDv7 of a millisecond. */
function idOfTime(milliseconds: number): string {
  const hex = Math.trunc(milliseconds).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

function cursorOf(position: string): string {
  return Buffer.from(`a${position}`).toString('base64url');
}

function positionOf(cursor: string): string {
  const position = /^a(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (position === undefined)
    throw invalidFields([
      { path: 'cursor', message: 'must be the next_cursor of the page before' },
    ]);
  return position;
}
