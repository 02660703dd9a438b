import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { doubledWait, type QueueDatabase, WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { forUpdate } from '../accounts/accounts.service.js';
import { SmppOutbox } from './smpp-outbox.js';
import { receiptOfPart } from './smpp-receipts.js';
import { type SmppDelivery, SmppPart } from './smpp.tables.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const DELIVERY_AGE = 72 * HOUR;

/** Most deliveries of a pair; the oldest are given up. */
const MOST_DELIVERIES = 100_000;

/** Time for a long message to be complete. */
const PART_AGE = HOUR;

/** Rows deleted per transaction. */
const SLICE = 1_000;

/** Refusals after which a delivery lets others go first. */
const REFUSALS_IN_TURN = 3;

export type DueDelivery = Pick<
  SmppDelivery,
  | 'position'
  | 'messageId'
  | 'state'
  | 'error'
  | 'source'
  | 'destination'
  | 'text'
  | 'submittedAt'
  | 'doneAt'
  | 'attempts'
>;

interface Row extends Omit<DueDelivery, 'position' | 'submittedAt' | 'doneAt'> {
  readonly position: string | number;
  readonly submittedAt: string | number;
  readonly doneAt: string | number;
}

/** Reads and settles deliveries. Times are epoch milliseconds of the gateway's clock. */
@Injectable()
export class SmppDeliveryStore {
  readonly #database: QueueDatabase;

  constructor(
    { database }: WorkQueues,
    private readonly messaging: MessagingService,
    private readonly outbox: SmppOutbox,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.#database = database;
  }

  /** In order, those that were refused several times last. */
  async due(systemId: string, most: number): Promise<DueDelivery[]> {
    const rows = await this.#database.all<Row>(
      `SELECT position, message_id AS "messageId", state, error, source, destination, text,
          submitted_at AS "submittedAt", done_at AS "doneAt", attempts
        FROM gateway_smpp_delivery WHERE system_id = ? AND due_at <= ?
        ORDER BY due_at, position LIMIT ?`,
      [systemId, this.clock.now(), most],
    );
    return rows.map((row) => ({
      ...row,
      position: Number(row.position),
      submittedAt: new Date(Number(row.submittedAt)),
      doneAt: new Date(Number(row.doneAt)),
    }));
  }

  /** When the first delivery of each of these pairs is due. */
  async firstDue(systemIds: Iterable<string>): Promise<{ systemId: string; dueAt: number }[]> {
    const ids = [...systemIds];
    if (ids.length === 0) return [];
    // One index lookup each, for any backlog.
    const first = `SELECT ? AS "systemId",
      (SELECT MIN(due_at) FROM gateway_smpp_delivery WHERE system_id = ?) AS "dueAt"`;
    const rows = await this.#database.all<{ systemId: string; dueAt: string | number | null }>(
      ids.map(() => first).join(' UNION ALL '),
      ids.flatMap((id) => [id, id]),
    );
    return rows.flatMap(({ systemId, dueAt }) =>
      dueAt === null ? [] : [{ systemId, dueAt: Number(dueAt) }],
    );
  }

  /** Milliseconds since the oldest delivery was written; 0 where none waits. */
  async oldestAge(): Promise<number> {
    const [row] = await this.#database.all<{ first: string | number | null }>(
      'SELECT MIN(created_at) AS "first" FROM gateway_smpp_delivery',
    );
    return row?.first == null ? 0 : Math.max(0, this.clock.now() - Number(row.first));
  }

  /** Settles deliveries that were answered with 0, and those that were refused, in one transaction. */
  async settle(delivered: readonly DueDelivery[], refused: readonly DueDelivery[]): Promise<void> {
    if (delivered.length + refused.length === 0) return;
    await this.#database.transaction(async (tx) => {
      if (delivered.length > 0)
        await tx.run(
          `DELETE FROM gateway_smpp_delivery
            WHERE position IN (${delivered.map(() => '?').join(', ')})`,
          delivered.map(({ position }) => position),
        );
      for (const { position, attempts } of refused)
        await tx.run(
          'UPDATE gateway_smpp_delivery SET attempts = ?, due_at = ? WHERE position = ?',
          [Math.min(attempts + 1, 30_000), this.#retryAt(attempts + 1), position],
        );
    });
  }

  /** Gives up deliveries that are too old or too many, and unfinished long messages. */
  async purge(signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    const old = 'SELECT position FROM gateway_smpp_delivery WHERE created_at < ?';
    await this.#delete(signal, `${old} LIMIT ${SLICE}`, [now - DELIVERY_AGE]);
    const full = await this.#database.all<{ systemId: string }>(
      `SELECT system_id AS "systemId" FROM gateway_smpp_delivery
        GROUP BY system_id HAVING COUNT(*) > ${MOST_DELIVERIES}`,
    );
    for (const { systemId } of full) {
      const [last] = await this.#database.all<{ position: string | number }>(
        `SELECT position FROM gateway_smpp_delivery WHERE system_id = ?
          ORDER BY position DESC LIMIT 1 OFFSET ${MOST_DELIVERIES}`,
        [systemId],
      );
      const oldest = `SELECT position FROM gateway_smpp_delivery
        WHERE system_id = ? AND position <= ? LIMIT ${SLICE}`;
      if (last) await this.#delete(signal, oldest, [systemId, last.position]);
    }
    while (!signal.aborted && (await this.#expireParts(now)) === SLICE);
  }

  #expireParts(now: number): Promise<number> {
    return this.messaging.transaction(async (manager) => {
      const parts = await manager.find(SmppPart, {
        where: { createdAt: LessThan(new Date(now - PART_AGE)) },
        order: { createdAt: 'ASC', systemId: 'ASC', messageKey: 'ASC', part: 'ASC' },
        take: SLICE,
        ...forUpdate(manager),
      });
      for (const { systemId, messageKey, part } of parts)
        await manager.delete(SmppPart, { systemId, messageKey, part });
      const receipts = parts.flatMap((part) => receiptOfPart(part, 'expired', new Date(now)));
      await this.outbox.write(manager, receipts);
      return parts.length;
    });
  }

  async #delete(signal: AbortSignal, positions: string, params: unknown[]): Promise<void> {
    // MySQL accepts no LIMIT directly within IN.
    const sql = `DELETE FROM gateway_smpp_delivery
      WHERE position IN (SELECT position FROM (${positions}) AS slice)`;
    while (!signal.aborted && (await this.#database.transaction((tx) => tx.run(sql, params))) > 0);
  }

  #retryAt(refusals: number): number {
    if (refusals < REFUSALS_IN_TURN) return 0;
    return this.clock.now() + doubledWait(MINUTE, refusals - REFUSALS_IN_TURN, HOUR);
  }
}
