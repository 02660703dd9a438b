import type { LaneTask } from './dispatcher.js';
import type { LeasedLane } from './leased-lane.js';

export interface DueTask {
  /** For logs. */
  readonly underWay: string;
  /** Milliseconds until the work is due; `Infinity` where the time is not known. */
  readonly dueIn: () => Promise<number>;
  /** @param stop aborts where a stop lasts too long */
  readonly run: (stop: AbortSignal) => Promise<unknown>;
}

/** The task of a lane whose work is one call, made whenever it is due. */
export function dueTask(
  leased: Pick<LeasedLane, 'valid'> & { readonly stopping: Pick<AbortSignal, 'aborted'> },
  { underWay, dueIn, run }: DueTask,
): LaneTask {
  const stop = new AbortController();
  return {
    underWay,
    nudge: () => undefined,
    pump: async () => {
      if (leased.stopping.aborted || !leased.valid || (await dueIn()) > 0) return;
      await run(stop.signal);
    },
    abort: () => stop.abort(),
    nextDueIn: dueIn,
  };
}
