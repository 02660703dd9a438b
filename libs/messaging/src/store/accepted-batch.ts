import type { NewBatch } from './new-batch.js';
import type { StatusChange } from './status.js';

export interface AcceptedBatch {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly recipients: number;
  readonly replayed: boolean;
  /** Statuses it began with. */
  readonly changes: readonly StatusChange[];
}

/** The batch an idempotency key stands for: the one at hand, or the one that had the key before. */
export interface KeyOwner extends Pick<NewBatch, 'id' | 'fingerprint' | 'createdAt'> {
  readonly recipients: { readonly length: number };
}

/** The answer to `batch`, which is `owner`'s where that had the key first. */
export function accepted(
  batch: NewBatch,
  owner: KeyOwner,
  changes: readonly StatusChange[],
): AcceptedBatch {
  const replayed = owner.id !== batch.id;
  return {
    id: owner.id,
    createdAt: owner.createdAt,
    recipients: owner.recipients.length,
    replayed,
    changes: replayed ? [] : changes,
  };
}
