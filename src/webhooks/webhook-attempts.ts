import type { Page } from '@dundun/messaging';
import { type QueueDatabase, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { invalidField } from '../http/api-error.js';
import { type AttemptError, numberOf, WebhookAttemptEntity } from './webhooks.tables.js';

/** Attempts that a page looks at in search of those that match its filter. */
const WINDOW = 2_000;

/** Newest attempts of a period that are counted. */
const COUNTED = 20_000;

const CURSOR = /^(\d{1,16})\.(\d{1,16})$/;

/** Times are epoch milliseconds of the start of the attempt. */
export interface AttemptFilter {
  /** `type` of the callback. */
  readonly event?: string | undefined;
  readonly result?: 'success' | 'failed' | undefined;
  /** HTTP status of the answer, or the error without one, such as `timeout`. */
  readonly code?: string | undefined;
  readonly since?: number | undefined;
  /** Excluded. */
  readonly until?: number | undefined;
}

export interface AttemptPage {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface AttemptCounts {
  /** By the start of each slot, oldest first; slots without an attempt are left out. */
  readonly slots: readonly {
    readonly at: number;
    readonly succeeded: number;
    readonly failed: number;
  }[];
  /** Older attempts of the period were not counted. */
  readonly isPartial: boolean;
}

interface Looked {
  readonly position: number;
  readonly at: number;
  readonly status: number | null;
  readonly error: AttemptError | null;
  readonly type: string | null;
}

/** Reads the attempts of an endpoint by time: a page looks at a bounded number of them. */
@Injectable()
export class WebhookAttempts {
  readonly #database: QueueDatabase;

  constructor(
    { database }: WorkQueues,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {
    this.#database = database;
  }

  /**
   * Newest first. A page looks at 2,000 attempts, so it may have fewer than match, even none.
   * @throws ApiError 422 on a cursor that no page has
   */
  async page(
    endpointId: string,
    filter: AttemptFilter,
    { cursor, limit }: AttemptPage,
  ): Promise<Page<WebhookAttemptEntity>> {
    const looked = await this.#look(endpointId, filter, cursor);
    const found = looked.filter((one) => matches(one, filter));
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : looked[WINDOW - 1];
    const positions = shown.map(({ position }) => position);
    const rows = await this.dataSource.manager.findBy(WebhookAttemptEntity, {
      position: In(positions),
    });
    const byPosition = new Map(rows.map((row) => [row.position, row]));
    return {
      data: positions.flatMap((position) => byPosition.get(position) ?? []),
      nextCursor: last ? `${last.at}.${last.position}` : null,
    };
  }

  /** How often each callback had been redelivered up to an attempt of a page, by its position. */
  async redeliveriesOf(
    page: readonly WebhookAttemptEntity[],
  ): Promise<ReadonlyMap<number, number>> {
    const messages = [...new Set(page.map(({ messageId }) => messageId))];
    const firsts = await this.dataSource.manager.find(WebhookAttemptEntity, {
      select: { deliveryId: true, position: true },
      where: { messageId: In(messages), attempt: 1 },
    });
    return new Map(
      page.map(({ deliveryId, position }) => {
        const begun = firsts.filter(
          (first) => first.deliveryId === deliveryId && first.position <= position,
        );
        return [position, Math.max(0, begun.length - 1)];
      }),
    );
  }

  /** Counts of the newest 20,000 attempts since a time. @param slot milliseconds */
  async counts(endpointId: string, since: number, slot: number): Promise<AttemptCounts> {
    const rows = await this.#database.all<{ began: string; failed: number; attempts: string }>(
      `SELECT began, failed, COUNT(*) AS attempts FROM (
        SELECT started_at - started_at % ${slot} AS began,
          CASE WHEN error IS NULL THEN 0 ELSE 1 END AS failed
        FROM gateway_webhook_attempt ${this.#byTime}
        WHERE endpoint_id = ? AND started_at >= ?
        ORDER BY started_at DESC, position DESC LIMIT ${COUNTED}) AS recent
      GROUP BY began, failed ORDER BY began`,
      [endpointId, since],
    );
    const slots = new Map<number, { at: number; succeeded: number; failed: number }>();
    let counted = 0;
    for (const { began, failed, attempts } of rows) {
      const at = Number(began);
      const known = slots.get(at) ?? { at, succeeded: 0, failed: 0 };
      known[Number(failed) === 1 ? 'failed' : 'succeeded'] += Number(attempts);
      counted += Number(attempts);
      slots.set(at, known);
    }
    return { slots: [...slots.values()], isPartial: counted >= COUNTED };
  }

  get #byTime(): string {
    return this.#database.dialect.forceIndex('gateway_webhook_attempt_time');
  }

  async #look(
    endpointId: string,
    { event, since = 0, until = Number.MAX_SAFE_INTEGER }: AttemptFilter,
    cursor: string | undefined,
  ): Promise<Looked[]> {
    const [, at = '', position = ''] = CURSOR.exec(cursor ?? '') ?? [];
    if (cursor !== undefined && at === '')
      throw invalidField('cursor', 'must be the next_cursor of the page before');
    const latest = Math.min(until - 1, at === '' ? Number.MAX_SAFE_INTEGER : Number(at));
    const after = at === '' ? '' : 'AND (started_at < ? OR position < ?)';
    const types = event === undefined ? [`NULL`, ''] : ['d.type', DELIVERIES];
    const rows = await this.#database.all<Looked & { position: string; at: string }>(
      `SELECT a.position, a.at, a.status, a.error, ${types[0]} AS type FROM (
        SELECT position, started_at AS at, status, error, endpoint_id, delivery_id
        FROM gateway_webhook_attempt ${this.#byTime}
        WHERE endpoint_id = ? AND started_at >= ? AND started_at <= ? ${after}
        ORDER BY started_at DESC, position DESC LIMIT ${WINDOW}) AS a ${types[1]}
      ORDER BY a.at DESC, a.position DESC`,
      [endpointId, since, latest, ...(at === '' ? [] : [Number(at), Number(position)])],
    );
    return rows.map((row) => ({
      ...row,
      position: Number(row.position),
      at: Number(row.at),
      status: numberOf(row.status),
    }));
  }
}

const DELIVERIES = `LEFT JOIN gateway_webhook_delivery d
  ON d.endpoint_id = a.endpoint_id AND d.id = a.delivery_id`;

function matches({ status, error, type }: Looked, { event, result, code }: AttemptFilter): boolean {
  return (
    (event === undefined || type === event) &&
    (result === undefined || (error === null) === (result === 'success')) &&
    (code === undefined || String(status ?? error) === code)
  );
}
