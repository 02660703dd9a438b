import { messageIdOf } from '../../message/ids.js';
import { MessageNotFoundError, MessageStatusError } from '../../message/errors.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import type { AlsoOption } from '../database/sql.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { changeEntry } from '../rows/received-report.js';
import { LOCKED_COLUMNS, type LockedMessage, raise } from '../rows/status.js';
import type { StatusWriter } from './status-writer.js';

export interface MessagePosition {
  readonly batchId: string;
  readonly position: number;
}

/** Fields that a repetition takes over from the batch of the message. Times are epoch microseconds. */
export interface ResentBatch {
  readonly tenant: string;
  readonly channel: string;
  readonly lane: string;
  readonly priority: number;
  readonly sender: string;
  /** JSON; null after retention erased it. */
  readonly content: string | null;
  readonly deliveryReport: number;
  readonly parts: number;
  readonly availableAt: string | number;
  readonly validUntil: string | number | null;
}

export interface Settlement {
  readonly status: number;
  readonly errorCode: string | null;
  readonly by: string;
  readonly note: string | null;
}

/** Name of operators among the sources of the report log. */
const OPERATOR = 'operator';

/** Changes of messages by operators: they settle those in doubt, and send failed ones again. */
export class OperatorChanges {
  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /**
   * Gives a message that is `unknown` its status, with an entry in the report log.
   * @throws MessageStatusError where it has another status
   */
  async settle(
    { batchId, position }: MessagePosition,
    { status, errorCode, by, note }: Settlement,
    also?: AlsoOption['also'],
  ): Promise<void> {
    const id = messageIdOf(batchId, position);
    const details = { settled_by: by, ...(note !== null && { note }) };
    const changes = await this.database.transaction(async (tx) => {
      const message = await this.#lock(tx, batchId, position);
      if (!message) throw new MessageNotFoundError(id);
      const name = this.database.channels.nameOf(message.status);
      if (message.status !== STATUS_RANK.unknown)
        throw new MessageStatusError(id, name, 'only a message that is unknown can be settled');
      const change = raise(message, status, this.clock.now() * 1_000, errorCode);
      if (!change) return [];
      await this.writer.write(tx, [change]);
      // Events of the change do not have the name of the operator: customers get them.
      const origin = { provider: OPERATOR, rawStatus: 'settled' };
      await this.writer.log(tx, [changeEntry({ ...change, details }, origin)]);
      await also?.(tx.manager);
      return [change];
    });
    this.writer.publish(changes);
  }

  /** Locks a message that is to be sent again. @returns its rank and recipient */
  async lockForResend(
    tx: Transaction,
    { batchId, position }: MessagePosition,
  ): Promise<Pick<LockedMessage, 'status' | 'recipient'> | undefined> {
    return this.#lock(tx, batchId, position);
  }

  async batchOf({ batchId }: MessagePosition): Promise<ResentBatch | undefined> {
    const [row] = await this.database.all<ResentBatch>(
      `SELECT b.tenant, b.channel, b.lane, b.priority, b.sender, b.content, b.parts,
         b.delivery_report AS "deliveryReport", b.available_at AS "availableAt",
         b.valid_until AS "validUntil"
       FROM messaging_batch b WHERE b.id = ?`,
      [batchId],
    );
    return row;
  }

  /** The batch that repeats the message; read it after the lock. */
  async repetitionOf(
    tx: Transaction,
    { batchId, position }: MessagePosition,
  ): Promise<string | undefined> {
    const [row] = await tx.all<{ newBatch: string }>(
      `SELECT r.new_batch AS "newBatch" FROM messaging_resend r
       WHERE r.batch = ? AND r.position = ?`,
      [batchId, position],
    );
    return row?.newBatch;
  }

  /** Links the message with the batch that repeats it, which gets its attachments. */
  async link(
    tx: Transaction,
    { batchId, position }: MessagePosition,
    newBatch: string,
    by: string | null,
  ): Promise<void> {
    const { dialect } = this.database;
    const rows = dialect.rows({
      v_batch: 'uuid',
      v_position: 'int',
      v_new: 'uuid',
      v_by: 'key',
      v_at: 'bigint',
    });
    await tx.run(
      `INSERT INTO messaging_resend (batch, position, new_batch, resent_by, resent_at)
       SELECT v_batch, v_position, v_new, v_by, v_at FROM ${rows.sql}`,
      rows.bind([[batchId, position, newBatch, by, this.clock.now() * 1_000]]),
    );
    const ids = dialect.rows({ v_old: 'uuid', v_new: 'uuid' });
    const params = ids.bind([[batchId, newBatch]]);
    await tx.run(
      `INSERT INTO messaging_batch_attachment (batch, digest, n, bytes) SELECT v_new, t.digest, t.n, t.bytes
       FROM ${ids.sql} ${dialect.join} messaging_batch_attachment t ON t.batch = v_old WHERE 1 = 1
       ${dialect.ignoreConflict('messaging_batch_attachment', 'n')}`,
      params,
    );
  }

  async #lock(
    tx: Transaction,
    batchId: string,
    position: number,
  ): Promise<LockedMessage | undefined> {
    const [message] = await tx.all<LockedMessage>(
      `SELECT ${LOCKED_COLUMNS} FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch
       WHERE m.batch = ? AND m.position = ? ${this.database.dialect.forUpdate('m')}`,
      [batchId, position],
    );
    return message;
  }
}
