import { laneOf, partsOfLane } from '../../message/ids.js';
import { MessageValidationError } from '../../message/errors.js';

/** An operator's stop of lanes: sends are accepted, and nothing of the lanes starts meanwhile. */
export interface Hold {
  /**
   * Name of a lane, `tenant:*` for all lanes whose names begin so, `*:channel` for all that end so,
   * or `*` for every lane.
   */
  readonly lanes: string;
  /** A word of `a` to `z` and `_`, up to 32 characters. */
  readonly reason: string;
  readonly since: Date;
  /** When it ends by itself; `null`: by its release only. */
  readonly until: Date | null;
  /** Why, in words for operators. */
  readonly note: string | null;
}

export interface NewHold extends Pick<Hold, 'lanes' | 'reason'> {
  /** Up to 255 characters. @default none */
  readonly note?: string | undefined;
  /** Milliseconds until it ends by itself. @default it ends by its release */
  readonly lasts?: number | undefined;
}

/** Reason of the holds that `MessagingOperations` places. */
export const OPERATOR_HOLD = 'operator';

/** Reason of the holds that the guard against abuse places; an operator's hold of the lane stays beside it. */
export const GUARD_HOLD = 'guard';

/** Reason of the hold, and error code of messages that are settled instead of sent. */
export const RESTORED = 'restored';

/** The hold that a restored database starts with. */
export const RESTORE_HOLD = { lanes: '*', reason: RESTORED } as const;

/** The hold of a restored database on the messages of one channel. */
export function restoreHoldOf(channel: string): Pick<Hold, 'lanes' | 'reason'> {
  return { lanes: `*:${channel}`, reason: RESTORED };
}

const LANES = /^(?:\*|\*:[^*]+|[^*]+:\*|[^*]+)$/;

const NOTE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** @throws MessageValidationError */
export function checkHold({ lanes, reason, note }: NewHold): void {
  checkLanes(lanes);
  if (note !== undefined && !(typeof note === 'string' && NOTE.test(note)))
    throw new MessageValidationError([
      { path: 'note', message: 'must be 1 to 255 characters, without control characters' },
    ]);
  if (!/^[a-z_]{1,32}$/.test(reason))
    throw new MessageValidationError([
      { path: 'reason', message: 'must be a word of a to z and _, up to 32 characters' },
    ]);
}

/** @throws MessageValidationError */
export function checkLanes(lanes: string): void {
  if (typeof lanes !== 'string' || lanes.length > 255 || !LANES.test(lanes))
    throw new MessageValidationError([
      { path: 'lanes', message: "must be a lane's name, tenant:*, *:channel or *" },
    ]);
}

/** Whether `lanes`, as of a hold, has the lane. */
export function hasLane(lanes: string, lane: string): boolean {
  return lanesWith(lane).includes(lanes);
}

/** Each form of `lanes` that has the lane. */
function lanesWith(lane: string): readonly string[] {
  const parts = partsOfLane(lane);
  return ['*', lane, ...(parts ? [laneOf(parts.tenant, '*'), laneOf('*', parts.channel)] : [])];
}

/** Finds the hold on a lane by at most four look-ups, for any number of holds. */
export class HoldIndex {
  readonly #byLanes: ReadonlyMap<string, Hold>;

  constructor(readonly holds: readonly Hold[]) {
    this.#byLanes = new Map(holds.map((hold) => [hold.lanes, hold]));
  }

  of(lane: string): Hold | undefined {
    const holds = this.#byLanes;
    if (holds.size === 0) return undefined;
    for (const lanes of lanesWith(lane)) {
      const hold = holds.get(lanes);
      if (hold) return hold;
    }
    return undefined;
  }
}
