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
}

/** Reason of the hold, and error code of what is settled instead of sent. */
export const RESTORED = 'restored';

/** The hold that a restored database starts with. */
export const RESTORE_HOLD = { lanes: '*', reason: RESTORED } as const;

/** The hold of a restored database on the messages of one channel. */
export function restoreHoldOf(channel: string): Pick<Hold, 'lanes' | 'reason'> {
  return { lanes: `*:${channel}`, reason: RESTORED };
}

const LANES = /^(?:\*|\*:[^*]+|[^*]+:\*|[^*]+)$/;

/** @throws MessageValidationError */
export function checkHold({ lanes, reason }: Pick<Hold, 'lanes' | 'reason'>): void {
  if (lanes.length > 255 || !LANES.test(lanes))
    throw new MessageValidationError([
      { path: 'lanes', message: "must be a lane's name, tenant:*, *:channel or *" },
    ]);
  if (!/^[a-z_]{1,32}$/.test(reason))
    throw new MessageValidationError([
      { path: 'reason', message: 'must be a word of a to z and _, up to 32 characters' },
    ]);
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
    const colon = lane.lastIndexOf(':');
    return (
      holds.get('*') ??
      holds.get(lane) ??
      (colon < 0
        ? undefined
        : (holds.get(`${lane.slice(0, colon)}:*`) ?? holds.get(`*${lane.slice(colon)}`)))
    );
  }
}
