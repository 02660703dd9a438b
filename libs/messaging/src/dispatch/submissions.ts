import { messageIdOf, submissionIdOf } from '../message/ids.js';
import type { Addressed, AppliedDecision, PolicyPipeline } from '../policy/policy-pipeline.js';
import type { Clock } from '../ports/clock.js';
import type { AttachmentInfo } from '../message/content/email-content.js';
import { personalised } from '../message/variables.js';
import type { Submission } from '../ports/message-transport.js';
import type { IntendedSubmission } from '../store/rows/intent.js';
import type { IntendedMessages, RefusedResult, SkippedResult } from '../store/rows/outcome.js';
import { UNREADABLE } from '../store/rows/content-seals.js';
import { RESTORED } from '../store/rows/hold.js';
import type { UnansweredSubmission, PlannedBatch } from '../store/rows/planned-batch.js';

/** A column is a 16-bit number; an outage of months makes more requests. */
const MOST_ATTEMPTS = 30_000;

/**
 * A submission whose intent is committed. Times are milliseconds on the monotonic clock.
 *
 * ```
 * planned ─intent─▶ prepared ─start─▶ in flight ─▶ accepted, rejected, refused: recorded
 *                    │  ▲                └─▶ uncertain ─▶ resend, unchanged, within the idempotency window
 *                    │  └────────────────────────────────────┘    or after it: unknown
 *                    ├─▶ withdrawn: planned again
 *                    └─▶ skipped: expired, denied, or a resend whose time is over
 * ```
 */
export interface PreparedSubmission
  extends
    IntendedMessages,
    Pick<IntendedSubmission, 'batch' | 'n' | 'firstPosition' | 'lastPosition' | 'provider'> {
  submission: Submission;
  readonly intendedAt: number;
  /** The submission does not start later. */
  readonly validUntil: number;
  readonly dueSince: number;
  /** Place and priority of the batch in the lane. */
  readonly place: number;
  readonly priority: number;
  /** Set for a resend: due time. The provider may already have it, so it is never withdrawn. */
  resendAt?: number | undefined;
  /** Outcome to record instead of a request: the batch has expired or is in doubt, or is denied. */
  skipOutcome: SkippedResult | undefined;
  decidedAt: number;
  /** Failures of its messages that count against `maxAttempts`. */
  readonly countedFailures: number;
  /** Providers of the route that have refused its messages; see `Refusals`. */
  readonly refusedBy: string | null;
  /** The last failure of a submission that the provider may have. */
  readonly doubt?: SubmissionDoubt | undefined;
  /** True for a resend that the provider was asked after since the last failure. */
  readonly asked?: boolean;
}

export type SubmissionDoubt = Required<Pick<RefusedResult, 'errorCode' | 'errorText'>>;

/** Policy decision on the n-th planned recipient of a batch; `undefined`: the message may start. */
export type DecisionOf = (batch: PlannedBatch, index: number) => AppliedDecision | undefined;

/** Decision on a recipient that was erased before its message started. */
const ERASED: AppliedDecision = {
  decision: 'deny',
  policy: 'erasure',
  code: 'erased',
  reason: 'was erased',
};

/** Asks the policies about all batches of a plan in one call, except those that are not sent. */
export async function decidePlanned(
  policy: PolicyPipeline,
  planned: readonly PlannedBatch[],
): Promise<DecisionOf> {
  const offsets = new Map<PlannedBatch, number>();
  let offset = 0;
  let erased = false;
  const asked = planned.flatMap((batch) => {
    if (skipOutcomeOf(batch)) return [];
    const { id: batchId, tenant, channel, sender, content } = batch;
    const recipients = batch.recipients.map(({ recipient }) => recipient);
    erased ||= recipients.includes('');
    offsets.set(batch, offset);
    offset += recipients.length;
    return { message: { tenant, channel, sender, content, batchId }, recipients };
  });
  if (erased) return decideLeft(policy, asked, offsets);
  const decisions = await policy.review(asked, 'dispatch');
  if (decisions.size === 0) return () => undefined;
  return (batch, index) => decisions.get((offsets.get(batch) ?? Number.NaN) + index);
}

/** Policies never see erased recipients. */
async function decideLeft(
  policy: PolicyPipeline,
  asked: readonly Addressed[],
  offsets: ReadonlyMap<PlannedBatch, number>,
): Promise<DecisionOf> {
  const all = asked.flatMap(({ recipients }) => recipients);
  const places = [...all.keys()].filter((place) => all[place] !== '');
  const left = asked.map(({ message, recipients }) => {
    return { message, recipients: recipients.filter((recipient) => recipient !== '') };
  });
  const decisions = new Map(
    [...(await policy.review(left, 'dispatch'))].map(([n, decision]) => [places[n], decision]),
  );
  return (batch, index) => {
    const place = (offsets.get(batch) ?? Number.NaN) + index;
    return all[place] === '' ? ERASED : decisions.get(place);
  };
}

/** Asks about prepared submissions again; returns the first decision against any member of each. */
export async function decidePrepared(
  policy: PolicyPipeline,
  items: readonly PreparedSubmission[],
): Promise<Map<PreparedSubmission, AppliedDecision>> {
  const asked = items.map(({ submission }) => {
    const { tenant, channel, sender, content, batchId, recipients } = submission;
    return { message: { tenant, channel, sender, content, batchId }, recipients };
  });
  const of = items.flatMap((item) => item.positions.map(() => item));
  const found = new Map<PreparedSubmission, AppliedDecision>();
  for (const [index, decision] of await policy.review(asked, 'dispatch')) {
    const item = of[index] as PreparedSubmission;
    const before = found.get(item);
    if (!before || (before.decision === 'defer' && decision.decision !== 'defer'))
      found.set(item, decision);
  }
  return found;
}

/** The attachments that the submission needs and does not have yet. */
export function missingAttachments({ submission }: PreparedSubmission): readonly AttachmentInfo[] {
  const { content, attachments } = submission;
  return content.kind === 'email' && !attachments ? (content.attachments ?? []) : [];
}

/**
 * Milliseconds since the first intent, by the larger of two clocks: the monotonic clock stops while
 * the machine sleeps, the wall clock may be set back.
 */
export function ageOf(
  { intendedAt, submission }: Pick<PreparedSubmission, 'intendedAt' | 'submission'>,
  clock: Clock,
): number {
  return Math.max(clock.monotonic() - intendedAt, clock.now() - submission.firstSentAt.getTime());
}

/**
 * Outcome of a submission whose time is over before it starts. A resend becomes `unknown`: it is
 * repeated neither late nor after the end of the provider's idempotency window.
 * @param keyLasts milliseconds for which the provider honours an idempotency key
 */
export function lateOutcomeOf(
  item: PreparedSubmission,
  clock: Clock,
  keyLasts: number,
): PreparedSubmission['skipOutcome'] {
  const over = item.validUntil <= clock.monotonic();
  if (item.resendAt === undefined) return over ? { result: 'expired' } : undefined;
  if (over) return { result: 'unknown', errorCode: 'validity_over' };
  return ageOf(item, clock) < keyLasts
    ? undefined
    : { result: 'unknown', errorCode: 'outcome_lost' };
}

/** Number of the request after `attempts` ones. */
export function nextAttempt(attempts: number): number {
  return Math.min(MOST_ATTEMPTS, attempts + 1);
}

/** Restores a submission that a former holder left unanswered, with the same id and members. */
export function takenOver(
  left: UnansweredSubmission,
  now: number,
  wallNow: number,
): PreparedSubmission {
  const { batch, n, firstPosition, lastPosition, provider, firstSentAt, recipients } = left;
  return {
    batch,
    n,
    firstPosition,
    lastPosition,
    provider,
    positions: recipients.map(({ position }) => position),
    guarded: left.guarded,
    whole: false,
    intendedAt: now - Math.max(0, wallNow - firstSentAt.getTime()),
    decidedAt: -Infinity,
    skipOutcome: undefined,
    validUntil: validUntilOf(left, now),
    dueSince: now - left.dueFor,
    place: left.place,
    priority: left.priority,
    resendAt: now,
    countedFailures: left.countedFailures,
    // It stays with its provider.
    refusedBy: null,
    doubt:
      left.errorCode === null
        ? undefined
        : { errorCode: left.errorCode, errorText: left.errorText ?? '' },
    submission: submissionOf(
      left,
      { ...left, attempt: nextAttempt(left.attempt) },
      recipients,
      wallNow,
    ),
  };
}

export function validUntilOf({ validFor }: Pick<PlannedBatch, 'validFor'>, now: number): number {
  return validFor === null ? Infinity : now + validFor;
}

export function skipOutcomeOf(batch: PlannedBatch): PreparedSubmission['skipOutcome'] {
  if (batch.inDoubtAt !== null) return { result: 'unknown', errorCode: RESTORED };
  if (batch.expired) return { result: 'expired' };
  return batch.unreadable ? { result: 'rejected', errorCode: UNREADABLE } : undefined;
}

export function denialOf(decision: AppliedDecision | undefined): PreparedSubmission['skipOutcome'] {
  if (decision?.decision !== 'deny') return undefined;
  const result = decision === ERASED ? 'cancelled' : 'rejected';
  return { result, errorCode: decision.code };
}

/** @param wallNow when `validFor` was reckoned */
export function submissionOf(
  of: Pick<
    PlannedBatch,
    | 'validFor'
    | 'tenant'
    | 'channel'
    | 'sender'
    | 'content'
    | 'deliveryReport'
    | 'dueAt'
    | 'trace'
    | 'labels'
    | 'hasPersonal'
  >,
  request: Pick<UnansweredSubmission, 'batch' | 'n' | 'attempt' | 'firstSentAt'>,
  members: UnansweredSubmission['recipients'],
  wallNow: number,
): Submission {
  // All members have the same text, so that providers need no variables.
  const isText = of.hasPersonal && of.content.kind === 'text';
  return {
    id: submissionIdOf(request.batch, request.n),
    batchId: request.batch,
    tenant: of.tenant,
    channel: of.channel,
    sender: of.sender,
    content: isText ? personalised(of.content, members[0]?.personal) : of.content,
    recipients: members.map(({ recipient }) => recipient),
    messageIds: members.map(({ position }) => messageIdOf(request.batch, position)),
    ...(of.labels && { labels: of.labels }),
    ...(of.hasPersonal && !isText && { personal: members.map(({ personal }) => personal) }),
    deliveryReport: of.deliveryReport,
    attempt: request.attempt,
    dueAt: of.dueAt,
    firstSentAt: request.firstSentAt,
    ...(of.validFor !== null && { validUntil: new Date(wallNow + of.validFor) }),
    trace: of.trace,
  };
}
