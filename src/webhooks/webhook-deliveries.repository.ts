import type { AttemptResult, DueDelivery } from './webhook-attempt.js';
import type { Sql, WebhookDatabase } from './webhook-database.js';

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

/** `due_at` of what was not tried yet, as 0 is, and was asked for anew. */
export const ASKED_ANEW = -1;

/** How many of each kind a page may hold. */
export interface PageSize {
  readonly first: number;
  readonly retries: number;
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

/** Deliveries and their attempts in the database. */
export class WebhookDeliveriesRepository {
  readonly #result;
  readonly #attempt;
  readonly #recordResults: string;
  readonly #recordAttempts: string;
  readonly #endpointsDue: string;

  constructor(private readonly database: WebhookDatabase) {
    const { dialect } = database;
    this.#result = dialect.rows(RESULT);
    this.#attempt = dialect.rows(ATTEMPT);
    // Not what has ended meanwhile: a late failure of another process takes nothing back, nor one of
    // before a redelivery the redelivery.
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
    // A scalar subquery: one look into the index per endpoint, however long the backlog.
    this.#endpointsDue = `SELECT e.id FROM gateway_webhook_endpoint e
      WHERE e.disabled_at IS NULL
        AND (e.lease_owner = ? OR e.lease_owner IS NULL OR e.lease_until < ${dialect.now})
        AND (SELECT 1 FROM gateway_webhook_delivery d
          WHERE d.endpoint_id = e.id AND d.due_at <= ? LIMIT 1) = 1`;
  }

  /**
   * What is due for one endpoint: events not tried yet, in their order, then retries by their time.
   *
   * @param now epoch milliseconds
   */
  async due(endpointId: string, now: number, size: PageSize): Promise<DueDelivery[]> {
    const first = (dueAt: number) =>
      `SELECT * FROM (SELECT ${DELIVERY_COLUMNS} FROM gateway_webhook_delivery
          WHERE endpoint_id = ? AND due_at = ${dueAt} ORDER BY position LIMIT ${size.first}) AS f`;
    const rows = await this.database.all<DeliveryRow>(
      `${first(ASKED_ANEW)} UNION ALL ${first(0)}
        UNION ALL
        SELECT * FROM (SELECT ${DELIVERY_COLUMNS} FROM gateway_webhook_delivery
          WHERE endpoint_id = ? AND due_at > 0 AND due_at <= ?
          ORDER BY due_at, position LIMIT ${size.retries}) AS r`,
      [endpointId, endpointId, endpointId, now],
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
    return [
      ...inOrder(due.filter(({ dueAt }) => dueAt <= 0)).slice(0, size.first),
      ...due
        .filter(({ dueAt }) => dueAt > 0)
        .toSorted((a, b) => a.dueAt - b.dueAt || a.position - b.position),
    ];
  }

  async isDue(endpointId: string, now: number): Promise<boolean> {
    const rows = await this.database.all(
      'SELECT 1 AS due FROM gateway_webhook_delivery WHERE endpoint_id = ? AND due_at <= ? LIMIT 1',
      [endpointId, now],
    );
    return rows.length > 0;
  }

  /** Enabled endpoints with something due that no other process works on. */
  async endpointsDue(now: number, owner: string): Promise<string[]> {
    const rows = await this.database.all<{ id: string }>(this.#endpointsDue, [owner, now]);
    return rows.map(({ id }) => id);
  }

  async record(sql: Sql, results: readonly AttemptResult[]): Promise<void> {
    // In order of position, so that two processes lock the same rows in the same order.
    const ordered = results.toSorted((a, b) => a.delivery.position - b.delivery.position);
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
        results.map((result) => [
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
  }
}

/** The parts come as they were written, but SQL does not promise it. */
function inOrder(due: readonly DueDelivery[]): DueDelivery[] {
  return due.toSorted((a, b) => a.position - b.position);
}
