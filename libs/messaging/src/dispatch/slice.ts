import type {
  DeferredMessage,
  IntendedBatch,
  IntendedSubmission,
  Intent,
} from '../store/intent.js';
import type { OpenSubmission } from '../store/open-submissions.js';
import type { PlannedBatch } from '../store/planned-batch.js';
import type { IntendedMessages, Outcome } from '../store/outcome.js';
import type { Ruling } from '../policy/ruling.js';
import type { Clock } from '../ports/clock.js';
import type { Submission } from '../ports/message-transport.js';
import type { RulingOf } from './lane-policy.js';

/** A submission whose intent is committed, ready to start. */
export interface Ready extends IntendedMessages {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly submission: Submission;
  /** Milliseconds on the monotonic clock when it was first intended. */
  readonly intendedAt: number;
  /** What is recorded in place of a request: its time is over, or policy forbids it. */
  readonly instead: Pick<Outcome, 'result' | 'errorCode'> | undefined;
  /** When its time is over, on the monotonic clock: then it is not started. */
  readonly validUntil: number;
  /** Since when it was to leave, on the monotonic clock. */
  readonly dueSince: number;
  /** It may have reached the provider before: it is never withdrawn. */
  readonly resent: boolean;
}

export interface Slice {
  readonly intent: Pick<Intent, 'batches' | 'submissions' | 'deferred' | 'firstSentAt'>;
  readonly ready: readonly Ready[];
}

export interface SliceLimits {
  /** Name of the provider that carries it. */
  readonly provider: string;
  /** How many recipients the next submission may have. */
  readonly share: (wanted: number) => number;
  /** Milliseconds on the monotonic clock. */
  readonly now: number;
  /** Epoch milliseconds. */
  readonly wallNow: number;
  /** Submissions. */
  readonly most: number;
}

/** What is deferred stays so at least this long, in milliseconds, or the lane would spin. */
const SHORTEST_DEFERRAL = 1_000;

/**
 * Cuts planned batches, in order, into at most `most` submissions of neighbours with the same number
 * of attempts and the same ruling. What policy denies becomes a submission that never starts; what it
 * defers is none.
 */
export function slice(
  planned: readonly PlannedBatch[],
  rulingOf: RulingOf,
  { provider, share, now, wallNow, most }: SliceLimits,
): Slice {
  const batches: IntendedBatch[] = [];
  const submissions: IntendedSubmission[] = [];
  const deferred: DeferredMessage[] = [];
  const ready: Ready[] = [];
  const firstSentAt = new Date(wallNow);
  for (const batch of planned) {
    if (submissions.length >= most) break;
    const { id, revision } = batch;
    let n = batch.nextSubmission;
    let from = 0;
    let dueAt = batch.deferredUntil ?? Infinity;
    while (from < batch.recipients.length && submissions.length < most) {
      const ruling = rulingOf(batch, from);
      const goes = !batch.expired && (ruling === undefined || ruling.decision === 'substitute');
      const limit = goes ? share(batch.recipients.length - from) : Infinity;
      const members = neighbours(batch, rulingOf, from, limit);
      from += members.length;
      if (ruling?.decision === 'defer') {
        const due = Math.max(ruling.until, wallNow + SHORTEST_DEFERRAL) * 1_000;
        dueAt = Math.min(dueAt, due);
        for (const member of members) deferred.push({ ...member, batch: id, dueAt: due });
        continue;
      }
      const attempt = (members[0] as PlannedBatch['recipients'][number]).attempts + 1;
      const positions = members.map(({ position }) => position);
      const firstPosition = positions[0] as number;
      const lastPosition = positions.at(-1) as number;
      const content = ruling?.decision === 'substitute' ? ruling.content : undefined;
      submissions.push({
        batch: id,
        n,
        firstPosition,
        lastPosition,
        attempt,
        content: content ? JSON.stringify(content) : null,
        provider,
        recipients: members,
      });
      ready.push({
        batch: id,
        n,
        firstPosition,
        lastPosition,
        positions,
        whole: n === 0 && !batch.more && from === batch.recipients.length && dueAt === Infinity,
        intendedAt: now,
        instead: insteadOf(batch, ruling),
        ...timesOf(batch, now),
        resent: false,
        submission: submissionOf(
          content ? { ...batch, content } : batch,
          id,
          n,
          attempt,
          members,
          firstSentAt,
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
  return { intent: { batches, submissions, deferred, firstSentAt: wallNow }, ready };
}

/**
 * Milliseconds since it was first intended, by the worse of two clocks: one stops while the machine
 * sleeps, the other may be set back.
 */
export function ageOf({ intendedAt, submission }: Ready, clock: Clock): number {
  return Math.max(clock.monotonic() - intendedAt, clock.now() - submission.firstSentAt.getTime());
}

/** What a former holder left open, as it was: the same id, the same members. */
export function reopened(open: OpenSubmission, now: number, wallNow: number): Ready {
  return {
    batch: open.batch,
    n: open.n,
    firstPosition: open.firstPosition,
    lastPosition: open.lastPosition,
    positions: open.recipients.map(({ position }) => position),
    whole: false,
    intendedAt: now - Math.max(0, wallNow - open.firstSentAt.getTime()),
    instead: undefined,
    ...timesOf(open, now),
    resent: true,
    submission: submissionOf(
      open,
      open.batch,
      open.n,
      open.attempt,
      open.recipients,
      open.firstSentAt,
    ),
  };
}

function timesOf({ validFor, dueFor }: Pick<PlannedBatch, 'validFor' | 'dueFor'>, now: number) {
  return { validUntil: validFor === null ? Infinity : now + validFor, dueSince: now - dueFor };
}

function insteadOf({ expired }: PlannedBatch, ruling: Ruling | undefined): Ready['instead'] {
  if (expired) return { result: 'expired' };
  return ruling?.decision === 'deny' ? { result: 'rejected', errorCode: ruling.code } : undefined;
}

function neighbours(
  batch: PlannedBatch,
  rulingOf: RulingOf,
  from: number,
  most: number,
): PlannedBatch['recipients'] {
  const { attempts } = batch.recipients[from] as PlannedBatch['recipients'][number];
  const ruling = rulingOf(batch, from);
  let to = from + 1;
  while (
    to < batch.recipients.length &&
    to - from < most &&
    batch.recipients[to]?.attempts === attempts &&
    isSame(rulingOf(batch, to), ruling)
  )
    to++;
  return batch.recipients.slice(from, to);
}

function isSame(a: Ruling | undefined, b: Ruling | undefined): boolean {
  if (a === b) return true;
  if (a?.decision === 'deny' && b?.decision === 'deny') return a.code === b.code;
  return JSON.stringify(a) === JSON.stringify(b);
}

function submissionOf(
  of: Pick<PlannedBatch, 'tenant' | 'channel' | 'sender' | 'content' | 'deliveryReport' | 'trace'>,
  batchId: string,
  n: number,
  attempt: number,
  members: readonly { readonly recipient: string }[],
  firstSentAt: Date,
): Submission {
  return {
    id: `${batchId}-s${n}`,
    batchId,
    tenant: of.tenant,
    channel: of.channel,
    sender: of.sender,
    content: of.content,
    recipients: members.map(({ recipient }) => recipient),
    deliveryReport: of.deliveryReport ? 'yes' : 'none',
    attempt,
    firstSentAt,
    trace: of.trace,
  };
}
