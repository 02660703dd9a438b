import { STATUS_RANK } from '../message/status.js';
import type { Dialect } from './dialect.js';
import type { Transaction } from './store-database.js';
import type { NewBatch } from './new-batch.js';
import { digestId } from './digest-id.js';
import { type HeldMessage, raise, type StatusChange } from './status.js';
import type { StatusWriter } from './status-writer.js';

/** What policy denied at acceptance: the batch's first recipients, `rejected` from the beginning. */
export class DeniedRecipients {
  readonly #rows;
  readonly #insert: string;

  constructor(
    dialect: Dialect,
    private readonly writer: StatusWriter,
  ) {
    this.#rows = dialect.rows({ v_batch: 'uuid', v_position: 'int', v_recipient: 'key' });
    this.#insert = `INSERT INTO messaging_message (batch, position, status, attempt, recipient)
      SELECT v_batch, v_position, ${STATUS_RANK.queued}, 0, v_recipient FROM ${this.#rows.sql}
      WHERE 1 = 1 ${dialect.ignoreConflict('messaging_message', 'position')}`;
  }

  /** @returns what changed, by batch */
  async reject(
    tx: Transaction,
    batches: readonly NewBatch[],
  ): Promise<ReadonlyMap<string, readonly StatusChange[]>> {
    const changes = new Map<string, StatusChange[]>();
    for (const batch of batches)
      if (batch.denied.length > 0) changes.set(batch.id, rejections(batch));
    if (changes.size === 0) return changes;
    const all = [...changes.values()].flat();
    const rows = all.map(({ message: m }) => [m.batch, m.position, m.recipient]);
    // A commit whose answer was lost has told the listeners already.
    if ((await tx.run(this.#insert, this.#rows.bind(rows))) === 0) return changes;
    await this.writer.write(tx, all);
    await this.writer.log(tx, all.map(logRow));
    return changes;
  }

  /** After the commit. */
  publish(changes: readonly StatusChange[]): void {
    if (changes.length > 0) this.writer.publish(changes);
  }
}

function rejections(batch: NewBatch): StatusChange[] {
  return batch.denied.map((code, position) => {
    const message: HeldMessage = {
      batch: batch.id,
      position,
      recipient: batch.recipients[position] as string,
      tenant: batch.tenant,
      channel: batch.channel,
      sender: batch.sender,
      delivery_report: batch.deliveryReport ? 1 : 0,
      status: STATUS_RANK.queued,
      sequence: 0,
      error_code: null,
      reference: null,
    };
    return raise(message, STATUS_RANK.rejected, batch.createdAt * 1_000, code) as StatusChange;
  });
}

function logRow({ message, status, sequence, errorCode, at }: StatusChange): unknown[] {
  const { batch, position, tenant, recipient } = message;
  return [
    digestId('policy', batch, position, status),
    tenant,
    batch,
    position,
    'policy',
    null,
    null,
    recipient,
    status,
    'policy',
    errorCode,
    null,
    at,
    sequence,
  ];
}
