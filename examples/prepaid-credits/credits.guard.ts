import {
  type GuardedBatch,
  type GuardedCancellation,
  type GuardedEnd,
  type SpendGuard,
  SpendRefusedError,
} from '@dundun/messaging/ports';
import type { MessageStatusChanged } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { type EntityManager, In } from 'typeorm';
import { CreditAccount, CreditBatch } from './credits.tables.js';

/** Statuses of messages that cost nothing. */
const FREE = new Set(['expired', 'failed', 'rejected', 'cancelled']);

/**
 * Each part of a message takes a credit when the message is accepted. One that does not leave, or that the
 * provider refuses, gives its credits back.
 */
@Injectable()
export class CreditsGuard implements SpendGuard {
  guards(): boolean {
    return true;
  }

  async onAccepted(
    batches: readonly GuardedBatch[],
    manager: EntityManager,
  ): Promise<Map<string, SpendRefusedError>> {
    const refused = new Map<string, SpendRefusedError>();
    // A commit whose answer was lost is repeated.
    const known = await manager.findBy(CreditBatch, { batch: In(batches.map(({ id }) => id)) });
    const paid = new Set(known.map(({ batch }) => batch));
    for (const { id, tenant, parts, recipients } of inOneOrder(batches)) {
      if (paid.has(id)) continue;
      const needed = parts * recipients.length;
      const { affected } = await manager
        .createQueryBuilder()
        .update(CreditAccount)
        .set({ credits: () => 'credits - :needed' })
        .where('tenant = :tenant AND credits >= :needed', { tenant, needed })
        .execute();
      if (affected) await manager.insert(CreditBatch, { batch: id, tenant, each: parts });
      else
        refused.set(
          id,
          new SpendRefusedError(
            'insufficient_balance',
            `The message needs ${needed} credits; buy more first`,
            { needed: String(needed) },
          ),
        );
    }
    return refused;
  }

  /** By the two statuses alone, so that reports in any order lead to the same sum. */
  async onChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    await this.#giveBack(
      manager,
      changes.map(({ batchId, previous, status }) => {
        return { batchId, messages: Number(FREE.has(status)) - Number(FREE.has(previous)) };
      }),
    );
  }

  async onCancelled(
    batches: readonly GuardedCancellation[],
    manager: EntityManager,
  ): Promise<void> {
    await this.#giveBack(
      manager,
      batches.map(({ batchId, recipients }) => ({ batchId, messages: recipients.length })),
    );
  }

  /** A message without a report keeps its credits. */
  async onEnded(_batches: readonly GuardedEnd[]): Promise<void> {}

  async #giveBack(
    manager: EntityManager,
    freed: readonly { readonly batchId: string; readonly messages: number }[],
  ): Promise<void> {
    const found = freed.filter(({ messages }) => messages !== 0);
    if (found.length === 0) return;
    const batches = await manager.findBy(CreditBatch, {
      batch: In(found.map(({ batchId }) => batchId)),
    });
    const known = new Map(batches.map((batch) => [batch.batch, batch]));
    const sums = new Map<string, number>();
    for (const { batchId, messages } of found) {
      const { tenant, each } = known.get(batchId)!;
      sums.set(tenant, (sums.get(tenant) ?? 0) + messages * each);
    }
    for (const tenant of [...sums.keys()].toSorted())
      await manager.increment(CreditAccount, { tenant }, 'credits', sums.get(tenant)!);
  }
}

/** Two transactions that change the same accounts wait for each other in one order. */
function inOneOrder(batches: readonly GuardedBatch[]): GuardedBatch[] {
  return batches.toSorted((a, b) => (a.tenant < b.tenant ? -1 : Number(a.tenant > b.tenant)));
}
