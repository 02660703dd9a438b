import type { FallbackReason, NotificationStatus } from '../../message/events.js';

/**
 * The state of a step that has begun:
 *
 * | State | Its message |
 * |---|---|
 * | `queued` | has not started, or waits for a further try: it can be cancelled |
 * | `held` | has not started, and a restored database may have sent it before |
 * | `sending` | is planned or in flight: it may become queued again |
 * | `unreported` | was sent or may have been, without a final report |
 * | `failed` | surely did not arrive: a terminal status of the channel that is `failed`; or policy denied it, or the notification cancelled it |
 * | `cancelled` | the app cancelled it, or an erasure |
 * | `reached` | arrived: another terminal status, such as `delivered` |
 */
export type StepState =
  | 'queued'
  | 'held'
  | 'sending'
  | 'unreported'
  | 'failed'
  | 'cancelled'
  | 'reached';

/** Times and durations in milliseconds. */
export interface Situation {
  readonly now: number;
  readonly status: NotificationStatus;
  /** The steps that have begun, in their order. */
  readonly steps: readonly {
    readonly state: StepState;
    readonly at: number;
    readonly denied?: boolean;
  }[];
  /** Steps to come. */
  readonly left: number;
  readonly after: number | null;
  readonly unless: 'sent' | 'delivered';
  /** No step begins from this time on. */
  readonly until: number | null;
  /** Time without a report after which a message is `undecided`. */
  readonly giveUpAfter: number;
}

export type NotificationDecision =
  | { readonly kind: 'end'; readonly status: Exclude<NotificationStatus, 'pending'> }
  /** `stop`: only where the message of the last step can be cancelled. */
  | { readonly kind: 'next'; readonly reason: FallbackReason; readonly stop: boolean }
  /** Looked at again at `at`, or earlier after a status that ends a step. */
  | { readonly kind: 'wait'; readonly at: number }
  /** It has its end. */
  | { readonly kind: 'none' };

/** Wait until a message that may become queued again is looked at again. */
export const LOOK_AGAIN = 2_000;
/** The same of a message whose lane a restored database holds. */
const HELD_AGAIN = 5_000;

/**
 * ```
 *               a step reached ─────────────▶ delivered ◀──────── a late report ─┐
 *                   │                                                            │
 * pending ──────────┼─ all steps failed ────▶ failed ────────────────────────────┤
 *  │  ▲             ├─ no report in time ───▶ undecided ─ all steps failed ─▶ failed
 *  └──┘ next step   └─ cancelled ───────────▶ cancelled ─────────────────────────┘
 * ```
 */
export function decide(of: Situation): NotificationDecision {
  const { now, status, steps, left, after, unless, until, giveUpAfter } = of;
  const last = steps.at(-1);
  const isFailed = steps.every(({ state }) => state === 'failed' || state === 'cancelled');
  if (steps.some(({ state }) => state === 'reached'))
    return status === 'delivered' ? { kind: 'none' } : { kind: 'end', status: 'delivered' };
  if (status !== 'pending')
    return status === 'undecided' && isFailed
      ? { kind: 'end', status: 'failed' }
      : { kind: 'none' };
  if (!last || last.state === 'cancelled') return { kind: 'end', status: 'cancelled' };
  const mayGoOn = left > 0 && (until === null || now < until);
  if (last.state === 'failed' && mayGoOn)
    return { kind: 'next', reason: last.denied ? 'denied' : 'failed', stop: false };
  if (last.state === 'failed' && isFailed) return { kind: 'end', status: 'failed' };
  if (last.state === 'held') return { kind: 'wait', at: now + HELD_AGAIN };
  const deadline = mayGoOn && after !== null ? last.at + after : Infinity;
  if (now >= deadline && last.state === 'queued')
    return { kind: 'next', reason: 'not_started', stop: true };
  if (now >= deadline && unless === 'delivered')
    return { kind: 'next', reason: 'not_delivered', stop: false };
  if (now >= deadline && last.state === 'sending') return { kind: 'wait', at: now + LOOK_AGAIN };
  const giveUpAt = (last.state === 'queued' ? Math.max(now, last.at) : last.at) + giveUpAfter;
  if (now >= giveUpAt) return { kind: 'end', status: 'undecided' };
  return { kind: 'wait', at: now < deadline ? Math.min(deadline, giveUpAt) : giveUpAt };
}
