import type { Addressed, AppliedDecision, PolicyPipeline } from '../policy/policy-pipeline.js';
import type { Clock } from '../ports/clock.js';
import type { AttachmentInfo } from '../message/email-content.js';
import type { Submission } from '../ports/message-transport.js';
import type {
  DeferredMessage,
  IntendedBatch,
  IntendedSubmission,
  Intent,
} from '../store/rows/intent.js';
import type { IntendedMessages, Outcome } from '../store/rows/outcome.js';
import { RESTORED } from '../store/rows/hold.js';
import type { OpenSubmission, PlannedBatch } from '../store/rows/planned-batch.js';
import { writeContent } from '../store/rows/stored-content.js';

/** Shortest deferral in milliseconds; without it a lane would spin. */
const SHORTEST_DEFERRAL = 1_000;

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
  /** Set for a resend: due time. The provider may already have it, so it is never withdrawn. */
  resendAt?: number | undefined;
  /** Outcome to record instead of a request: the batch has expired or is in doubt, or is denied. */
  skipOutcome: Pick<Outcome, 'result' | 'errorCode'> | undefined;
  decidedAt: number;
}

/** The intent of a plan; its submissions are prepared once it is committed. */
export interface Slice extends Omit<Intent, 'lane' | 'fence'> {
  readonly submissions: readonly (IntendedSubmission & PreparedSubmission)[];
}

export interface SliceLimits {
  readonly provider: string;
  /** Returns the most recipients of the next submission, of the batch's `wanted` ones. */
  readonly share: (wanted: number, batch: PlannedBatch) => number;
  /** Milliseconds on the monotonic clock. */
  readonly now: number;
  readonly wallNow: number;
  /** Largest number of submissions. */
  readonly most: number;
}

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

/**
 * Cuts planned batches, in order, into submissions of neighbours with the same number of attempts
 * and policy decision. Denied messages form one that never starts; deferred messages form none.
 */
export function slice(
  planned: readonly PlannedBatch[],
  decisionOf: DecisionOf,
  { provider, share, now, wallNow, most }: SliceLimits,
): Slice {
  const batches: IntendedBatch[] = [];
  const submissions: (IntendedSubmission & PreparedSubmission)[] = [];
  const deferred: DeferredMessage[] = [];
  const firstSentAt = new Date(wallNow);
  for (const batch of planned) {
    if (submissions.length >= most) break;
    const { id, revision } = batch;
    const skipped = skipOutcomeOf(batch);
    let n = batch.nextSubmission;
    let from = 0;
    let dueAt = batch.deferredUntil ?? Infinity;
    while (from < batch.recipients.length && submissions.length < most) {
      const decision = decisionOf(batch, from);
      const goes = !skipped && (decision === undefined || decision.decision === 'substitute');
      const limit = goes ? share(batch.recipients.length - from, batch) : Infinity;
      const members = neighbours(batch, decisionOf, from, limit);
      from += members.length;
      if (decision?.decision === 'defer') {
        const due = Math.max(decision.until.getTime(), wallNow + SHORTEST_DEFERRAL) * 1_000;
        dueAt = Math.min(dueAt, due);
        for (const member of members) deferred.push({ ...member, batch: id, dueAt: due });
        continue;
      }
      const attempt = (members[0] as PlannedBatch['recipients'][number]).attempts + 1;
      const positions = members.map(({ position }) => position);
      const content = decision?.decision === 'substitute' ? decision.content : undefined;
      // Spread objects cost 5 % of the dispatch on SQLite here.
      submissions.push({
        batch: id,
        n,
        firstPosition: positions[0] as number,
        lastPosition: positions.at(-1) as number,
        provider,
        attempt,
        content: content ? writeContent({ content, hasPersonal: batch.hasPersonal }) : null,
        recipients: members,
        positions,
        whole: n === 0 && !batch.more && from === batch.recipients.length && dueAt === Infinity,
        intendedAt: now,
        decidedAt: now,
        skipOutcome: skipped ?? denialOf(decision),
        validUntil: validUntilOf(batch, now),
        dueSince: now - batch.dueFor,
        resendAt: undefined,
        submission: submissionOf(
          content ? { ...batch, content } : batch,
          { batch: id, n, attempt, firstSentAt },
          members,
        ),
      });
      n++;
    }
    const more = batch.more || from < batch.recipients.length;
    const requeued =
      dueAt < Infinity ||
      batch.moreRequeued ||
      batch.recipients.slice(from).some((member) => member.requeued);
    batches.push({
      id,
      revision,
      pending: more || dueAt < Infinity,
      requeued,
      parkUntil: more || dueAt === Infinity ? null : dueAt,
    });
  }
  return { batches, submissions, deferred, firstSentAt: wallNow };
}

/** Restores a submission that a former holder left open, with the same id and members. */
export function reopened(open: OpenSubmission, now: number, wallNow: number): PreparedSubmission {
  const { batch, n, firstPosition, lastPosition, provider, firstSentAt, recipients } = open;
  return {
    batch,
    n,
    firstPosition,
    lastPosition,
    provider,
    positions: recipients.map(({ position }) => position),
    whole: false,
    intendedAt: now - Math.max(0, wallNow - firstSentAt.getTime()),
    decidedAt: -Infinity,
    skipOutcome: undefined,
    validUntil: validUntilOf(open, now),
    dueSince: now - open.dueFor,
    resendAt: now,
    submission: submissionOf(open, open, recipients),
  };
}

function validUntilOf({ validFor }: Pick<PlannedBatch, 'validFor'>, now: number): number {
  return validFor === null ? Infinity : now + validFor;
}

function skipOutcomeOf(batch: PlannedBatch): PreparedSubmission['skipOutcome'] {
  if (batch.inDoubtAt !== null) return { result: 'unknown', errorCode: RESTORED };
  return batch.expired ? { result: 'expired' } : undefined;
}

function denialOf(decision: AppliedDecision | undefined): PreparedSubmission['skipOutcome'] {
  if (decision?.decision !== 'deny') return undefined;
  const result = decision === ERASED ? 'cancelled' : 'rejected';
  return { result, errorCode: decision.code };
}

function neighbours(
  batch: PlannedBatch,
  decisionOf: DecisionOf,
  from: number,
  most: number,
): PlannedBatch['recipients'] {
  const { attempts } = batch.recipients[from] as PlannedBatch['recipients'][number];
  const decision = decisionOf(batch, from);
  let to = from + 1;
  while (
    to < batch.recipients.length &&
    to - from < most &&
    batch.recipients[to]?.attempts === attempts &&
    isSame(decisionOf(batch, to), decision)
  )
    to++;
  return batch.recipients.slice(from, to);
}

function isSame(a: AppliedDecision | undefined, b: AppliedDecision | undefined): boolean {
  if (a?.decision === 'deny' && b?.decision === 'deny') return a.code === b.code;
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function submissionOf(
  of: Pick<
    PlannedBatch,
    | 'tenant'
    | 'channel'
    | 'sender'
    | 'content'
    | 'deliveryReport'
    | 'dueAt'
    | 'trace'
    | 'hasPersonal'
  >,
  request: Pick<OpenSubmission, 'batch' | 'n' | 'attempt' | 'firstSentAt'>,
  members: OpenSubmission['recipients'],
): Submission {
  return {
    id: `${request.batch}-s${request.n}`,
    batchId: request.batch,
    tenant: of.tenant,
    channel: of.channel,
    sender: of.sender,
    content: of.content,
    recipients: members.map(({ recipient }) => recipient),
    messageIds: members.map(({ position }) => `${request.batch}-${position}`),
    ...(of.hasPersonal && { personal: members.map(({ personal }) => personal) }),
    deliveryReport: of.deliveryReport ? 'yes' : 'none',
    attempt: request.attempt,
    dueAt: of.dueAt,
    firstSentAt: request.firstSentAt,
    trace: of.trace,
  };
}
