import {
  GroupCommit,
  isDataError,
  type QueueDatabase,
  type Sql,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { ActiveEndpoint, AttemptOutcome, DueDelivery } from './webhook-client.js';
import { Secrets } from '../secrets/secrets.js';
import {
  type DisabledReason,
  numberOf,
  WEBHOOK_SECRETS,
  type WebhookDeliveryEntity,
} from './webhooks.tables.js';
import type { CallerKinds, ChosenKinds, MadeFor } from './webhook-kinds.js';

/** Rows per insert: its parameters stay far below the packet size of every server. */
const MAX_ROWS = 2_000;

/** Attempts per transaction. */
const MAX_RESULTS = 500;

/** Rows deleted or made due per transaction. */
const SLICE = 1_000;

/** Slices of each table that are deleted with their endpoint. */
const SLICES_AT_ONCE = 20;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export interface HealthChange {
  /** First failure since the last success, epoch milliseconds. */
  readonly failingSince: number | null;
  readonly disabled?: { readonly at: number; readonly reason: DisabledReason };
}

export interface RecordedAttempt {
  readonly endpoint: ActiveEndpoint;
  readonly delivery: DueDelivery;
  readonly outcome: AttemptOutcome;
  /** Time of the next attempt, epoch milliseconds; `null`: delivered or exhausted. */
  readonly nextAt: number | null;
  /** Applied unless the endpoint has another URL by now. */
  readonly change: HealthChange | undefined;
}

type NewDelivery = Pick<
  WebhookDeliveryEntity,
  'id' | 'endpointId' | 'messageId' | 'sequence' | 'type' | 'payload' | 'createdAt'
>;

/** An enabled endpoint. */
export interface Receiver extends ChosenKinds {
  readonly id: string;
}

interface ReceiverRow {
  readonly account: string;
  readonly id: string;
  /** JSON. */
  readonly events: string | null;
  readonly maker: MadeFor;
}

/** The deliveries to send again; with neither field, the undelivered ones. */
export interface Redelivery {
  /** All deliveries created at or after this time, delivered or not. */
  readonly since?: Date | undefined;
  /** One delivery, by its `webhook-id`. */
  readonly deliveryId?: string | undefined;
  /** Deliveries of other kinds stay: the webhook may have had them before. @default 'all' */
  readonly caller?: CallerKinds | undefined;
}

/** Times are epoch milliseconds of the gateway's clock. */
@Injectable()
export class WebhookDeliveryStore {
  readonly #database: QueueDatabase;
  readonly #accounts;
  readonly #new;
  readonly #result;
  readonly #attempt;
  readonly #recordResults: string;
  readonly #recording = new GroupCommit<RecordedAttempt, void>(
    (take) => this.#database.transaction((tx) => this.#record(tx, take())),
    { maxItems: MAX_RESULTS, isItemError: isDataError },
  );

  constructor(
    { database }: WorkQueues,
    private readonly secrets: Secrets,
  ) {
    this.#database = database;
    const { dialect } = database;
    this.#accounts = dialect.rows<string>({ v_account: ['key', (account) => account] });
    this.#new = dialect.rows<NewDelivery>({
      v_id: ['uuid', ({ id }) => id],
      v_endpoint: ['uuid', ({ endpointId }) => endpointId],
      v_message: ['key', ({ messageId }) => messageId],
      v_sequence: ['int', ({ sequence }) => sequence],
      v_type: ['key', ({ type }) => type],
      v_payload: ['text', ({ payload }) => payload],
      v_created: ['bigint', ({ createdAt }) => createdAt],
    });
    this.#result = dialect.rows<RecordedAttempt>({
      v_position: ['bigint', ({ delivery }) => delivery.position],
      v_revision: ['int', ({ delivery }) => delivery.revision],
      v_attempts: ['int', ({ delivery }) => delivery.attempts + 1],
      v_due: ['bigint', ({ nextAt }) => nextAt],
      v_delivered: ['bigint', ({ outcome }) => deliveredAt(outcome)],
    });
    this.#attempt = dialect.rows<RecordedAttempt>({
      v_endpoint: ['uuid', ({ endpoint }) => endpoint.id],
      v_delivery: ['uuid', ({ delivery }) => delivery.id],
      v_message: ['key', ({ delivery }) => delivery.messageId],
      v_attempt: ['int', ({ delivery }) => delivery.attempts + 1],
      v_started: ['bigint', ({ outcome }) => outcome.startedAt],
      v_duration: ['int', ({ outcome }) => outcome.duration],
      v_status: ['int', ({ outcome }) => outcome.status],
      v_error: ['key', ({ outcome }) => outcome.error],
      v_response: ['text', ({ outcome }) => outcome.response],
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

  /** The enabled endpoints of accounts. @param sql the transaction of the status changes */
  async receivers(sql: Sql, accounts: Iterable<string>): Promise<Map<string, Receiver[]>> {
    const rows = await sql.all<ReceiverRow>(
      `SELECT e.account_id AS account, e.id, e.events, e.made_for AS maker
        FROM ${this.#accounts.sql} JOIN gateway_webhook_endpoint e ON e.account_id = v_account
        WHERE e.disabled_at IS NULL ORDER BY e.account_id, e.slot`,
      this.#accounts.bind([...accounts]),
    );
    const found = new Map<string, Receiver[]>();
    for (const { account, id, events, maker: madeFor } of rows) {
      const chosen = events === null ? null : (JSON.parse(events) as readonly string[]);
      found.set(account, [...(found.get(account) ?? []), { id, events: chosen, madeFor }]);
    }
    return found;
  }

  /** Due at once. @param manager the transaction of the status changes */
  async insert(manager: EntityManager, deliveries: readonly NewDelivery[]): Promise<void> {
    const sql = this.#database.join(manager);
    for (let from = 0; from < deliveries.length; from += MAX_ROWS)
      await sql.run(
        `INSERT INTO gateway_webhook_delivery
            (id, endpoint_id, message_id, sequence, type, payload, created_at)
          SELECT ${this.#new.names.join(', ')} FROM ${this.#new.sql}`,
        this.#new.bind(deliveries.slice(from, from + MAX_ROWS)),
      );
  }

  /** With its secrets decrypted. `null`: disabled or deleted. @throws UnreadableSecretError */
  async endpoint(id: string): Promise<ActiveEndpoint | null> {
    const [row] = await this.#database.all<ActiveEndpoint>(
      `SELECT id, url, secret, previous_secrets AS "previousSecrets",
          previous_until AS "previousUntil", failing_since AS "failingSince"
        FROM gateway_webhook_endpoint WHERE id = ? AND disabled_at IS NULL`,
      [id],
    );
    if (!row) return null;
    const { secret, previousSecrets, previousUntil, failingSince } = row;
    return {
      ...row,
      secret: this.secrets.open(WEBHOOK_SECRETS.secret, id, secret),
      previousSecrets:
        previousSecrets && this.secrets.open(WEBHOOK_SECRETS.previous, id, previousSecrets),
      previousUntil: numberOf(previousUntil),
      failingSince: numberOf(failingSince),
    };
  }

  /**
   * `due`: up to `most` without an attempt in order of position, then as many retries by time.
   * `nextRetryAt`: when the first retry after `now` is due.
   */
  async due(
    endpointId: string,
    now: number,
    most: number,
  ): Promise<{ readonly due: DueDelivery[]; readonly nextRetryAt: number | null }> {
    const page = (condition: string, order: string) =>
      `SELECT * FROM (
        SELECT position, id, message_id AS "messageId", sequence, type, payload, attempts, revision, due_at
        FROM gateway_webhook_delivery WHERE endpoint_id = ? AND ${condition}
        ORDER BY ${order} LIMIT ?) AS page`;
    const retries = (condition: string) => page(condition, 'due_at, position');
    const rows = await this.#database.all<DueDelivery & { readonly due_at: string | number }>(
      `${page('due_at = 0', 'position')}
        UNION ALL ${retries('due_at > 0 AND due_at <= ?')}
        UNION ALL ${retries('due_at > ?')}
        ORDER BY due_at, position`,
      [endpointId, most, endpointId, now, most, endpointId, now, 1],
    );
    const last = Number(rows.at(-1)?.due_at ?? 0);
    const nextRetryAt = last > now ? last : null;
    const due = nextRetryAt === null ? rows : rows.slice(0, -1);
    return { due: due.map((row) => ({ ...row, position: Number(row.position) })), nextRetryAt };
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
    await sql.run(this.#recordResults, this.#result.bind(ordered));
    await sql.run(
      `INSERT INTO gateway_webhook_attempt
          (endpoint_id, delivery_id, message_id, attempt, started_at, duration, status, error, response)
        SELECT ${this.#attempt.names.join(', ')} FROM ${this.#attempt.sql}`,
      this.#attempt.bind(group),
    );
    // Every process locks endpoints in the order of their ids.
    for (const { endpoint, change } of group.toSorted(byEndpoint))
      if (change)
        await sql.run(
          `UPDATE gateway_webhook_endpoint SET failing_since = ?,
            disabled_reason = COALESCE(disabled_reason, ?), disabled_at = COALESCE(disabled_at, ?)
            WHERE id = ? AND url = ?`,
          [
            change.failingSince,
            change.disabled?.reason ?? null,
            change.disabled?.at ?? null,
            endpoint.id,
            endpoint.url,
          ],
        );
    return group.map(() => undefined);
  }

  /** Makes deliveries due at once, like retries, so that they do not delay new ones. */
  async redeliver(endpointId: string, wanted: Redelivery, now: number): Promise<number> {
    const [condition, ...values] = conditionOf(wanted);
    const where = `endpoint_id = ? AND id > ? AND ${condition}`;
    let after = FIRST_ID;
    for (let count = 0; ;) {
      const params = [endpointId, after, ...values];
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

function deliveredAt({ error, startedAt, duration }: AttemptOutcome): number | null {
  return error === null ? startedAt + duration : null;
}

const EMAIL = `type LIKE 'email.%'`;

const OF_CALLER: Readonly<Record<CallerKinds, string>> = {
  all: '1 = 1',
  token: `NOT ${EMAIL}`,
  email: EMAIL,
  email_whatsapp: `(${EMAIL} OR type LIKE 'whatsapp.%')`,
};

function conditionOf({
  deliveryId,
  since,
  caller = 'all',
}: Redelivery): readonly [string, ...unknown[]] {
  const mayHave = OF_CALLER[caller];
  if (deliveryId !== undefined) return [`id = ? AND ${mayHave}`, deliveryId];
  return since
    ? [`created_at >= ? AND ${mayHave}`, since.getTime()]
    : [`delivered_at IS NULL AND ${mayHave}`];
}

function byEndpoint(a: RecordedAttempt, b: RecordedAttempt): number {
  return a.endpoint.id < b.endpoint.id ? -1 : Number(a.endpoint.id > b.endpoint.id);
}
