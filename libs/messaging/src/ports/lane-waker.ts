/** Announces to the dispatch that a lane has work. Never throws. */
export interface LaneWaker {
  /** @param at epoch milliseconds; absent for now */
  wake(lane: string, at?: number): void;
}

export const LANE_WAKER = Symbol('LANE_WAKER');
