/** Tells the dispatch that a lane has work; never throws. */
export interface LaneWaker {
  /** @param at epoch milliseconds; now where it is left out */
  wake(lane: string, at?: number): void;
}

export const LANE_WAKER = Symbol('LANE_WAKER');
