/** Drains a lane until nothing is due. Resolves with the due time of the next run (epoch ms), where it is known. */
export type Drain = (lane: string, signal: AbortSignal) => Promise<number | undefined>;

/** Announces to the dispatch that a lane has work. */
export interface LaneWaker {
  /** Work is due on this lane now, or at `at` (epoch ms). Never throws. The wake may be slow or lost. */
  wake(lane: string, at?: number): void;
}

export const LANE_WAKER = Symbol('LANE_WAKER');

/**
 * Decides which process drains which lane, and when. The store holds all state: an engine may lose its own, and the
 * wake job repairs that. Implementations run `dispatchEngineContract()`.
 */
export interface DispatchEngine extends LaneWaker {
  start(drain: Drain): Promise<void>;
  /** Takes no new lane, aborts the drains, and resolves when they have ended. */
  stop(): Promise<void>;
  /** Asks the broker, within a deadline. Never throws. Absent where the engine has no broker. */
  health?(): Promise<EngineHealth>;
}

export interface EngineHealth {
  /** `degraded`: the broker delivers no wakes, so messages wait for the wake job; no message is lost. */
  readonly state: 'up' | 'degraded';
  /** Description of the fault, with the remedy; `null` without a fault. */
  readonly reason: string | null;
}

/** @param context `leaseTime`: how long a lane stays with a process that no longer renews it, in milliseconds */
export type EngineFactory = (context: { readonly leaseTime: number }) => DispatchEngine;

export const DISPATCH_ENGINE = Symbol('DISPATCH_ENGINE');
