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

/** Gives other work a turn of the event loop, where the transaction allows that. */
export type Pause = () => Promise<unknown> | undefined;

/** The library's own guard, which decides before that of the app. */
export interface AcceptanceGuard<Tx> {
  /** Called for each batch: it answers from memory. */
  guards(tenant: string): boolean;
  /** In the transaction that stores the batches, before their recipients are stored. Locks nothing. */
  watch(tx: Tx, batches: readonly WatchedBatch[], pause: Pause): Promise<WatchedBatches<Tx>>;
}

/** Batches that the guard has seen and not counted yet. */
export interface WatchedBatches<Tx> {
  /** Batches that are refused whatever was sent before, by their id. */
  readonly refused: ReadonlyMap<string, AcceptRefusedError>;
  /**
   * Locks what the limits count until the commit: other sends of the tenant wait, so that the caller
   * stores recipients before. @returns the batches that are refused now, by their id
   */
  count(tx: Tx): Promise<ReadonlyMap<string, AcceptRefusedError>>;
}
