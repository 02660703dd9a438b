import type { Token } from './token.js';

/** Drains a lane until nothing is due. Resolves with the next due time (epoch ms), where known. */
export type Drain = (lane: string) => Promise<number | undefined>;

/** Announces to the dispatch that a lane has work. */
export interface LaneWaker {
  /** Work is due now, or at `at` (epoch ms). Never throws. The wake may be slow or lost. */
  wake(lane: string, at?: number): void;
}

/**
 * Decides which process drains which lane, and when. The store holds all state: the wake job
 * repairs the wakes that an engine loses. Implementations run `dispatchEngineContract()`.
 */
export interface DispatchEngine extends LaneWaker {
  /** For the log. @default the name of the class */
  readonly name?: string;
  start(drain: Drain): Promise<void>;
  /** Takes no new lane, and resolves when the running drains, which end early now, have ended. */
  stop(): Promise<void>;
  /** Asks the broker, within a deadline. Never throws. Absent where the engine has no broker. */
  health?(): Promise<EngineHealth>;
}

export interface EngineHealth {
  /** `degraded`: the broker delivers no wakes, so messages wait for the wake job; none is lost. */
  readonly state: 'up' | 'degraded';
  /** Description of the fault, with the remedy; `null` without a fault. */
  readonly reason: string | null;
}

export interface EngineContext {
  /** Milliseconds a lane stays with a process that no longer renews it. */
  readonly leaseTime: number;
  /**
   * Reads what tells the app's database from others, so that an engine with a broker notices wakes of
   * another one. `undefined`: it is not known.
   */
  readonly identity?: (() => Promise<string | undefined>) | undefined;
}

export type EngineFactory = (context: EngineContext) => DispatchEngine;

export const DISPATCH_ENGINE = Symbol('DISPATCH_ENGINE') as Token<DispatchEngine>;
