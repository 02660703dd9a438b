import type { DispatchEngine } from './dispatch-engine.js';

/** What an engine can say of the broker it leans on. */
export interface EngineHealth {
  /** `degraded`: wakes do not travel, so messages wait for the wake job; nothing is lost. */
  readonly state: 'up' | 'degraded';
  /** What is wrong, with the remedy; `null` where nothing is. */
  readonly reason: string | null;
}

/** An engine with a broker, whose state may be asked for. */
export interface ObservedEngine extends DispatchEngine {
  /** Asks the broker, within a deadline. Never throws. */
  health(): Promise<EngineHealth>;
}

/** An engine without a broker is always up. */
export function healthOf(engine: DispatchEngine | ObservedEngine): Promise<EngineHealth> {
  return 'health' in engine ? engine.health() : Promise.resolve({ state: 'up', reason: null });
}
