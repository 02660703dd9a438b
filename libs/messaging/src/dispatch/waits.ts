import { backoff } from './backoff.js';
import { type Failure, THROTTLED } from './submit-answers.js';

/**
 * Longest pause of a provider, and longest backoff of a lane, in milliseconds; a provider may ask for
 * a longer one.
 */
const LONGEST = 30_000;

/** Failures of one message after which it backs off by itself and the next message is the probe. */
export const FAILURES_BEFORE_PROBE = 3;

/** Messages of one batch that fail with no success between them, after which another is the probe. */
const MOST_OF_BATCH = 2;

/** Longest backoff of a lane while few submissions are uncertain, in milliseconds: others leave soon. */
const LONGEST_OF_FEW = 1_000;

/** More submissions than this that are uncertain with no success between them are an outage. */
const MOST_DOUBTS = 10;

/** Longest wait before a provider that can be asked is asked, in milliseconds. */
const LONGEST_DOUBT = 15_000;

/** Refusals for the provider's rate after which a message backs off by itself. */
const THROTTLES_BEFORE_PROBE = 3;

/** Shortest time that a throttled message waits beyond the pause, so that another one is the probe. */
const SHORTEST_BEYOND = 1_000;

/** Shortest deferral in milliseconds; without it a lane would spin. */
export const SHORTEST_DEFERRAL = 1_000;

/** Interval between two searches for a missing route, in milliseconds. */
export const NO_ROUTE_DEFERRAL = 30_000;

/** Time after which a probe without an answer no longer keeps other requests of its lane waiting, in ms. */
export const LANE_PROBE_LASTS = 1_000;

/** Time in which a probe without an answer lets no other lane or process probe the provider, in ms. */
export const PROVIDER_PROBE_LASTS = 2_000;

/** What a failure means for the waits. {@link RULES} has its row. */
export type Situation =
  | 'rejected'
  | 'deferred'
  | 'paused'
  | 'throttled'
  | 'throttled often'
  | 'failed together'
  | 'failed'
  | 'failed often'
  | 'doubted'
  | 'paused in doubt';

/** What is known of a failure and those before it. Times in milliseconds. */
export interface FailureFacts {
  /** First backoff: the option `dispatch.backoff`. */
  readonly base: number;
  /** Wait that the provider asks for. */
  readonly asked?: number | undefined;
  /** Failures of the message. */
  readonly failures: number;
  /** Failures of the provider in the lane with no success between them. */
  readonly inARow: number;
  /** Messages that failed with no success between them. */
  readonly failing: number;
  /** Time for which the lane starts no request of the provider already. */
  readonly pausedFor: number;
  /** Time for which the message backs off already. */
  readonly backsOffFor: number;
  /** A resend of a submission that is uncertain: its failure says little about the provider. */
  readonly isResend: boolean;
  /** The provider can be asked after the submission before it is sent again. */
  readonly canBeAsked: boolean;
}

/** Messages of the lane that may start meanwhile; `probe`: the next one of the provider, alone. */
type GoingOn = 'all' | 'of other providers' | 'probe';

/** Whether a failure counts against `maxAttempts`. */
type Counted = 'never' | 'with evidence';

/** What a failure leads to. Waits in milliseconds. */
export interface Wait {
  /** The provider gets no request, of any lane of any process. */
  readonly pause: number;
  /** The provider gets no request of the lane. */
  readonly backoff: number;
  /** The message does not start; 0: it is the first that does. */
  readonly message: number;
  readonly counted: Counted;
  readonly goingOn: GoingOn;
}

type Rule = Pick<Wait, 'counted' | 'goingOn'> & {
  readonly [scope in 'pause' | 'backoff' | 'message']: (facts: FailureFacts) => number;
};

const none = () => 0;
const asked = (facts: FailureFacts) => facts.asked ?? 0;

/** Requests in flight together fail together, so they count as one failure. */
const askedOrDoubledPause = ({ asked: wait, pausedFor, base, inARow }: FailureFacts) =>
  wait ?? (pausedFor > 0 ? pausedFor : Math.min(LONGEST, backoff(base, inARow)));

const beyondPause = ({ pausedFor }: FailureFacts) =>
  pausedFor + Math.min(LONGEST, Math.max(SHORTEST_BEYOND, pausedFor));

const askedOrDoubled = ({ asked: wait, base, failures, failing, canBeAsked }: FailureFacts) =>
  wait ??
  Math.min(canBeAsked && !isOutage(failing) ? LONGEST_DOUBT : Infinity, backoff(base, failures));

/** A single failing message may be the cause, so others do not wait for it. */
const ofSeveral = ({ base, failing, inARow }: FailureFacts) =>
  failing <= 1 ? 0 : Math.min(LONGEST, backoff(base, inARow));

/** The submission is sent again by itself, so that others need not wait for it, unless all have to. */
const ofSeveralDoubts = ({ base, failing, isResend }: FailureFacts) => {
  if (failing <= 1 || isResend) return 0;
  return isOutage(failing)
    ? Math.min(LONGEST, backoff(base, failing - MOST_DOUBTS))
    : Math.min(LONGEST_OF_FEW, backoff(base, 1));
};

/**
 * How long after which failure the provider pauses, the lane backs off and the message waits, whether
 * the failure counts as an attempt, and which messages of the lane go on.
 */
const RULES: Readonly<Record<Situation, Rule>> = {
  /** A definite answer about the message. */
  rejected: { pause: none, backoff: none, message: none, counted: 'never', goingOn: 'all' },
  /** The provider takes this message later, and others now. */
  deferred: { pause: none, backoff: none, message: asked, counted: 'never', goingOn: 'all' },
  /** The provider accepts nothing. */
  paused: {
    pause: askedOrDoubledPause,
    backoff: none,
    message: none,
    counted: 'never',
    goingOn: 'of other providers',
  },
  /** The same for its rate, beside the pause. */
  throttled: {
    pause: none,
    backoff: none,
    message: none,
    counted: 'never',
    goingOn: 'of other providers',
  },
  /** It may mean this message alone, such as its recipient. */
  'throttled often': {
    pause: none,
    backoff: none,
    message: beyondPause,
    counted: 'never',
    goingOn: 'probe',
  },
  /** In flight at a failure that the lane waits for already. */
  'failed together': {
    pause: none,
    backoff: none,
    message: ({ backsOffFor }) => backsOffFor,
    counted: 'never',
    goingOn: 'of other providers',
  },
  failed: {
    pause: none,
    backoff: askedOrDoubled,
    message: none,
    counted: 'with evidence',
    goingOn: 'of other providers',
  },
  /** {@link FAILURES_BEFORE_PROBE} times or more. */
  'failed often': {
    pause: none,
    backoff: ofSeveral,
    message: askedOrDoubled,
    counted: 'with evidence',
    goingOn: 'probe',
  },
  /** The provider may have accepted the submission, and gets it again under its key. */
  doubted: {
    pause: none,
    backoff: ofSeveralDoubts,
    message: askedOrDoubled,
    counted: 'with evidence',
    goingOn: 'probe',
  },
  /** The same, from a provider that accepts nothing. */
  'paused in doubt': {
    pause: none,
    backoff: ofSeveralDoubts,
    message: askedOrDoubled,
    counted: 'never',
    goingOn: 'probe',
  },
};

/** More messages fail, with no success between them, than a few bad ones explain. */
export function isOutage(failing: number): boolean {
  return failing > MOST_DOUBTS;
}

export function waitAfter(situation: Situation, facts: FailureFacts): Wait {
  const { pause, backoff: ofLane, message, counted, goingOn } = RULES[situation];
  return {
    pause: pause(facts),
    backoff: ofLane(facts),
    message: message(facts),
    counted,
    goingOn,
  };
}

/** How a lane sends to the provider of a failed request. */
export interface FailedRequest {
  readonly failure: Pick<Failure, 'kind' | 'uncertain' | 'code' | 'retryAfter'>;
  readonly concurrency: number;
  /** The provider gets a submission again under its key. */
  readonly honoursKeys: boolean;
  readonly isResend: boolean;
  /** Milliseconds for which the lane starts no request of the provider already. */
  readonly pausedFor: number;
}

/** Without the history, which turns `throttled` and `failed` into their rows for often. */
export function situationOf({ failure, ...lane }: FailedRequest): Situation {
  const { kind, uncertain, code, retryAfter } = failure;
  if (kind === 'permanent') return 'rejected';
  if (kind === 'deferred') return 'deferred';
  const isBusy = kind === 'paused' && code === THROTTLED;
  // With a concurrency of 1 a lane keeps its order.
  const mayStep = lane.concurrency > 1;
  const isDoubted = uncertain && !isBusy && retryAfter === undefined && mayStep && lane.honoursKeys;
  if (kind === 'paused' && !isDoubted) return isBusy && mayStep ? 'throttled' : 'paused';
  if (lane.pausedFor > 0 && !(isDoubted && lane.isResend)) return 'failed together';
  if (!isDoubted) return 'failed';
  return kind === 'paused' ? 'paused in doubt' : 'doubted';
}

/** Whether so many refusals for its rate, or failures, of a message make it step aside for a probe. */
export function escalated(
  situation: Situation,
  { failures, throttles }: { readonly failures: number; readonly throttles: number },
  failuresBeforeProbe: number,
): Situation {
  if (situation === 'throttled' && throttles >= THROTTLES_BEFORE_PROBE) return 'throttled often';
  if (situation === 'failed' && failures >= failuresBeforeProbe) return 'failed often';
  return situation;
}

/**
 * Milliseconds for which new messages of a batch back off, while another batch is the probe.
 * @param left milliseconds of its backoff that are left
 * @param messages of the batch that failed with no success between them
 */
export function batchBackoff(left: number, messages: number): number {
  return messages < MOST_OF_BATCH ? 0 : Math.max(0, Math.min(LONGEST, left));
}

/** What a breaker knows when its provider pauses. Times in milliseconds. */
interface PauseFacts {
  readonly base: number;
  /** Pause that the provider asks for. */
  readonly asked: number | undefined;
  /** Pause that the lane of the failure has reckoned. */
  readonly ofLane: number;
  /** The provider pauses already. */
  readonly isPaused: boolean;
  /** Pauses with no success between them. */
  readonly trips: number;
}

/** Pause of a provider for all lanes, in milliseconds: it doubles after each failed probe. */
export function providerPause({ base, asked: wait, ofLane, isPaused, trips }: PauseFacts): number {
  if (wait !== undefined) return wait;
  const own = trips > 1 && !isPaused ? Math.min(LONGEST, backoff(base, trips)) : 0;
  return Math.max(ofLane, own);
}

/** When a plan may give a provider a message. Milliseconds. */
interface PlanFacts {
  /** Backoff of the batch. */
  readonly batch: number;
  /** Pause of the provider, or backoff of the lane from it. */
  readonly provider: number;
  /** Deferral of the messages before it. */
  readonly before: number;
  /** The provider is probed, and has the probe. */
  readonly hasProbe: () => boolean;
}

/** Milliseconds for which the plan of a lane with several providers defers a message; 0: it starts. */
export function plannedDeferral({ batch, provider, before, hasProbe }: PlanFacts): number {
  if (batch > 0) return Math.max(SHORTEST_DEFERRAL, batch);
  // A deferral ends when that of the messages before it does, or none would ever end.
  if (before > 0 && provider <= before) return before;
  if (provider > 0) return Math.max(SHORTEST_DEFERRAL, provider);
  return hasProbe() ? SHORTEST_DEFERRAL : 0;
}

/** What becomes of the messages of a failed submission. */
type Course =
  | 'rejected'
  | 'expired'
  /** No attempt is left. */
  | 'failed'
  /** At once, and without a wait. */
  | 'to the next provider'
  /** After their wait; the provider has not accepted them. */
  | 'queued'
  /** After their wait, unchanged under their key; the provider may have accepted them. */
  | 'sent again'
  | 'unknown';

export interface CourseFacts {
  readonly situation: Situation;
  /** The providers of the route after a definite refusal; `undefined`: the message keeps its provider. */
  readonly others: { readonly next: boolean; readonly over: boolean } | undefined;
  /** The provider may have the submission, by this request or one before it. */
  readonly mayHaveIt: boolean;
  /** The provider may get the submission again. */
  readonly isRepeatable: boolean;
  readonly canBeAsked: boolean;
  /** The provider's time for a deferred message is over. */
  readonly isExpired: boolean;
  /** Failures that count from now on, and those with the earlier ones. */
  readonly counts: number;
  readonly countedFailures: number;
  readonly maxAttempts: number;
}

export function courseOf(facts: CourseFacts): Course {
  const { situation, others, mayHaveIt, counts, countedFailures, maxAttempts } = facts;
  if (situation === 'rejected') return others && !others.over ? 'to the next provider' : 'rejected';
  if (situation === 'deferred') {
    if (facts.isExpired) return 'expired';
    return facts.mayHaveIt ? 'sent again' : 'queued';
  }
  if (others?.next) return 'to the next provider';
  const isExhausted = (counts > 0 || others !== undefined) && countedFailures >= maxAttempts;
  if (!mayHaveIt) return isExhausted ? 'failed' : 'queued';
  return !facts.isRepeatable || (isExhausted && !facts.canBeAsked) ? 'unknown' : 'sent again';
}
