import { setImmediate as turn } from 'node:timers/promises';
import { type AcceptRefusedError, SpendBusyError } from '../../message/errors.js';
import type { Pause, WatchedBatches } from '../../ports/acceptance-guard.js';
import type { GuardedBatch, SpendGuards } from '../../ports/spend-guard.js';
import { isLockTimeout } from '../database/database-errors.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { takesTurns } from '../rows/batch-data.js';
import type { NewBatch } from '../rows/new-batch.js';

/** Asks the library's guard against abuse and the app's spend guard about new batches. */
export class BatchGuards {
  constructor(
    private readonly database: StoreDatabase,
    private readonly spend: SpendGuards,
  ) {}

  /** The batch with the guards that it passes. */
  marked(batch: NewBatch): NewBatch {
    const { guard, abuse } = this.spend;
    const isGuarded = guard?.guards(batch.tenant);
    const isWatched = abuse?.guards(batch.tenant);
    return isGuarded || isWatched
      ? { ...batch, ...(isGuarded && { guarded: true }), ...(isWatched && { watched: true }) }
      : batch;
  }

  /** Asks the library's own guard, which knows stored batches by their chunks. */
  async watch(
    tx: Transaction,
    batches: readonly NewBatch[],
  ): Promise<WatchedBatches<unknown> | undefined> {
    const watched = batches.filter((batch) => batch.watched).map(acceptedOf);
    if (watched.length === 0) return undefined;
    return this.spend.abuse?.watch(tx, watched, pauseOf(watched));
  }

  /** Counts for the library's own guard, then asks the app's. @returns the refused batches */
  async count(
    tx: Transaction,
    batches: readonly NewBatch[],
    watched: WatchedBatches<unknown> | undefined,
    timeout: number | undefined,
  ): Promise<ReadonlyMap<string, AcceptRefusedError>> {
    const { guard } = this.spend;
    const limit = timeout === undefined ? undefined : this.database.dialect.lockTimeout(timeout);
    if (limit !== undefined) await tx.run(limit);
    try {
      const refused = new Map(await watched?.count(tx));
      const guarded = batches.filter(({ id, guarded: is }) => is && !refused.has(id));
      if (!guard || guarded.length === 0) return refused;
      const asked = guarded.map((batch) => this.guardedOf(batch));
      const unpaid = await this.database.runForeign(() => guard.onAccepted(asked, tx.manager));
      return new Map([...refused, ...unpaid]);
    } catch (error) {
      throw isLockTimeout(error) ? new SpendBusyError() : error;
    }
  }

  /** The batch as the spend guard sees it. */
  guardedOf(batch: NewBatch): GuardedBatch {
    const { id, tenant, channel, sender, content, parts, spender = null, createdAt } = batch;
    return {
      id,
      tenant,
      spender,
      channel,
      sender,
      content,
      category: this.database.channels.priceCategoryOf(channel, content),
      parts: parts || 1,
      recipients: acceptedOf(batch).recipients,
      createdAt: new Date(createdAt),
    };
  }
}

/** The batch without the recipients that policy denied. */
function acceptedOf<B extends Pick<NewBatch, 'denied' | 'recipients'>>(batch: B): B {
  const { denied, recipients } = batch;
  return denied.length > 0 ? { ...batch, recipients: recipients.slice(denied.length) } : batch;
}

export function pauseOf(batches: readonly NewBatch[]): Pause {
  return batches.some(takesTurns) ? () => turn() : () => undefined;
}
