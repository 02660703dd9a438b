import type { AcceptRefusedError } from '../message/errors.js';

/** A batch that is about to be stored; its row is locked. */
export interface WatchedBatch {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly lane: string;
  /** Address keys of the messages, without those that policy denied. */
  readonly recipients: readonly string[];
}

/** The library's own guard, which decides before that of the app. */
export interface AcceptanceGuard<Tx> {
  /** Called for each batch: it answers from memory. */
  guards(tenant: string): boolean;
  /** In the transaction that stores the batches. @returns the refused ones by the batch's id */
  onAccepted(
    tx: Tx,
    batches: readonly WatchedBatch[],
  ): Promise<ReadonlyMap<string, AcceptRefusedError>>;
}
