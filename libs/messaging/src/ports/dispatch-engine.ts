/** Works a lane until nothing is due; resolves with when to come again (epoch ms), if it knows. */
export type Drain = (lane: string, signal: AbortSignal) => Promise<number | undefined>;

/**
 * Decides who drains which lane when. The store is the truth: an engine may forget everything, and
 * the wake job repairs it. Implementations run `dispatchEngineContract()`.
 */
export interface DispatchEngine {
  /** Something is due on this lane now, or at `at` (epoch ms). Never throws; may be slow or lost. */
  wake(lane: string, at?: number): void;
  start(drain: Drain): Promise<void>;
  /** Take no new lane, abort the drains, resolve when they have ended. */
  stop(): Promise<void>;
}

export const DISPATCH_ENGINE = Symbol('DISPATCH_ENGINE');
