import type { DispatchEngine } from './dispatch-engine.js';

/** Health of the broker that an engine uses. */
export interface EngineHealth {
  /** `degraded`: the broker delivers no wakes, so messages wait for the wake job; no message is lost. */
  readonly state: 'up' | 'degraded';
  /** Description of the fault, with the remedy; `null` without a fault. */
  readonly reason: string | null;
}

/** An engine with a broker whose health can be queried. */
export interface ObservedEngine extends DispatchEngine {
  /** Asks the broker, within a deadline. Never throws. */
  health(): Promise<EngineHealth>;
}

/** Returns the engine's health; an engine without a broker is always up. */
export function healthOf(engine: DispatchEngine | ObservedEngine): Promise<EngineHealth> {
  return 'health' in engine ? engine.health() : Promise.resolve({ state: 'up', reason: null });
}
