/** Drains a lane until nothing is due. Resolves with the due time of the next run (epoch ms), where it is known. */
export type Drain = (lane: string, signal: AbortSignal) => Promise<number | undefined>;

/**
 * Decides which process drains which lane, and when. The store holds all state: an engine may lose its own, and the
 * wake job repairs that. Implementations run `dispatchEngineContract()`.
 */
export interface DispatchEngine {
  /** Announces that work is due on this lane now, or at `at` (epoch ms). Never throws. The wake may be slow or lost. */
  wake(lane: string, at?: number): void;
  start(drain: Drain): Promise<void>;
  /** Takes no new lane, aborts the drains, and resolves when they have ended. */
  stop(): Promise<void>;
}

export const DISPATCH_ENGINE = Symbol('DISPATCH_ENGINE');
