import { submissionIdOf } from '../message/ids.js';
import type { TextContent } from '../message/message.js';
import { replacedIn } from '../message/variables.js';
import type { AppliedDecision } from '../policy/policy-pipeline.js';
import type {
  DeferredMessage,
  IntendedBatch,
  IntendedSubmission,
  Intent,
} from '../store/rows/intent.js';
import type { PlannedBatch, PlannedRecipient } from '../store/rows/planned-batch.js';
import { writtenPositions } from '../store/rows/span.js';
import { insteadOf } from '../store/rows/stored-content.js';
import {
  type DecisionOf,
  denialOf,
  nextAttempt,
  type PreparedSubmission,
  skipOutcomeOf,
  submissionOf,
  validUntilOf,
} from './submissions.js';
import { SHORTEST_DEFERRAL } from './waits.js';

/** Width of the column. */
const MOST_CODE = 64;

/** The intent of a plan; its submissions are prepared once it is committed. */
export interface Slice extends Omit<Intent, 'lane' | 'fence'> {
  readonly submissions: readonly (IntendedSubmission & PreparedSubmission)[];
}

/** Result for a submission: a provider, a deferral, or 'no room', which is so for all later ones. */
export type Placement =
  | { readonly provider: string; readonly reason?: string | null }
  | { readonly deferFor: number }
  | 'no room';

export interface SliceLimits<Route> {
  /** The messages of a submission have the same route. */
  readonly routeOf: (batch: PlannedBatch, index: number) => Route;
  /** @param id of the submission */
  readonly placementOf: (
    route: Route,
    id: string,
    first: PlannedRecipient,
    batch: PlannedBatch,
  ) => Placement;
  /** Returns the most recipients of the next submission, of the batch's `wanted` ones. */
  readonly share: (provider: string, wanted: number, batch: PlannedBatch) => number;
  /** Provider in the records of messages that never start. */
  readonly anyProvider: string;
  /** Milliseconds on the monotonic clock. */
  readonly now: number;
  readonly wallNow: number;
  /** Largest number of submissions. */
  readonly most: number;
}

/** Messages of one route that follow each other: a submission, or deferred messages. */
interface Run {
  readonly members: PlannedRecipient[];
  most: number;
  readonly decision: AppliedDecision | undefined;
  readonly text: string | undefined;
  /** Set for a submission. */
  n: number | undefined;
  provider: string;
  /** Why the route chose the provider. */
  reason: string | null;
  /** Due time of deferred messages, in epoch microseconds. */
  dueAt: number;
  /** No provider takes them now, whatever policy decides. */
  isWithoutProvider: boolean;
}

/**
 * Cuts planned batches, in order, into submissions: each has messages of one route that follow each
 * other, with the same number of attempts, policy decision and text. Denied messages form one that
 * never starts; deferred messages form none. Each message before the last one taken gets a row: as
 * the rows of a batch are a prefix of it, the cut ends at the first message that finds no room.
 */
export function slice<Route>(
  planned: readonly PlannedBatch[],
  decisionOf: DecisionOf,
  limits: SliceLimits<Route>,
): Slice {
  const batches: IntendedBatch[] = [];
  const submissions: (IntendedSubmission & PreparedSubmission)[] = [];
  const deferred: DeferredMessage[] = [];
  const { wallNow, most } = limits;
  for (const batch of planned) {
    const room = most - submissions.length;
    if (room <= 0) break;
    const { runs, taken } = runsOf(batch, decisionOf, limits, room);
    const { id, revision, recipients } = batch;
    // A batch without a due message, as before a redial, is deferred until one is due.
    if (runs.length === 0 && recipients.length > 0) break;
    const left = recipients.slice(taken);
    const isWhole = taken === recipients.length && !batch.more;
    let dueAt = batch.deferredUntil ?? Infinity;
    for (const run of runs) dueAt = Math.min(dueAt, run.dueAt);
    // A batch without a provider is deferred whole: none of its messages needs a row for that.
    const isWholeDeferred = isWhole && runs.every((run) => run.isWithoutProvider);
    for (const run of runs)
      if (run.n !== undefined)
        submissions.push(submissionOfRun(batch, run, isWhole && dueAt === Infinity, limits));
      else if (!isWholeDeferred)
        for (const member of run.members)
          deferred.push({ ...member, batch: id, dueAt: run.dueAt, reason: reasonOf(run) });
    const more = batch.more || left.length > 0;
    batches.push({
      id,
      revision,
      pending: more || dueAt < Infinity,
      requeued: dueAt < Infinity || batch.moreRequeued || left.some((member) => member.requeued),
      deferUntil: more || dueAt === Infinity ? null : dueAt,
    });
    if (left.length > 0) break;
  }
  return { batches, submissions, deferred, firstSentAt: wallNow };
}

function runsOf<Route>(
  batch: PlannedBatch,
  decisionOf: DecisionOf,
  { routeOf, placementOf, share, anyProvider, wallNow }: SliceLimits<Route>,
  room: number,
): { readonly runs: readonly Run[]; readonly taken: number } {
  const { recipients } = batch;
  const skipped = skipOutcomeOf(batch);
  const runs: Run[] = [];
  const latest = new Map<Route, Run>();
  let n = batch.nextSubmission;
  let started = 0;
  const begin = (route: Route, index: number): Run | undefined => {
    const first = recipients[index] as PlannedRecipient;
    const decision = decisionOf(batch, index);
    const text = ownTextsOf(batch, decision)?.(index);
    const run: Run = {
      members: [],
      most: Infinity,
      decision,
      text,
      n: undefined,
      provider: '',
      reason: null,
      dueAt: Infinity,
      isWithoutProvider: false,
    };
    if (decision?.decision === 'defer') {
      const wait = Math.max(SHORTEST_DEFERRAL, decision.until.getTime() - wallNow);
      run.dueAt = dueAfter(wait, wallNow);
      return run;
    }
    if (started >= room) return undefined;
    const goes = !skipped && (decision === undefined || decision.decision === 'substitute');
    const way = goes
      ? placementOf(route, submissionIdOf(batch.id, n), first, batch)
      : { provider: anyProvider };
    if (way === 'no room') return undefined;
    if ('deferFor' in way) {
      run.isWithoutProvider = true;
      // So that it expires in time.
      run.dueAt = dueAfter(Math.min(way.deferFor, batch.validFor ?? Infinity), wallNow);
      return run;
    }
    run.provider = way.provider;
    run.reason = way.reason ?? null;
    if (goes) run.most = share(way.provider, recipients.length - index, batch);
    run.n = n++;
    started++;
    return run;
  };
  const textOf = ownTextsOf(batch, undefined);
  const takes = (run: Run, index: number): boolean => {
    const member = recipients[index] as PlannedRecipient;
    const [first] = run.members as [PlannedRecipient];
    if (run.members.length >= run.most || member.attempts !== first.attempts) return false;
    if (member.countedFailures !== first.countedFailures || member.refusedBy !== first.refusedBy)
      return false;
    const decision = decisionOf(batch, index);
    if (!isSame(decision, run.decision)) return false;
    const texts = decision ? ownTextsOf(batch, decision) : textOf;
    return texts?.(index) === run.text;
  };
  let taken = 0;
  for (; taken < recipients.length; taken++) {
    const route = routeOf(batch, taken);
    let run = latest.get(route);
    if (!run || !takes(run, taken)) {
      run = begin(route, taken);
      if (!run) break;
      runs.push(run);
      latest.set(route, run);
    }
    run.members.push(recipients[taken] as PlannedRecipient);
  }
  return { runs, taken };
}

/** Why policy defers the messages; `null`: their providers pause. */
function reasonOf({ decision }: Run): string | null {
  if (decision?.decision !== 'defer') return null;
  return (decision.code ?? decision.policy.replaceAll('-', '_')).slice(0, MOST_CODE);
}

/** Epoch microseconds. */
function dueAfter(wait: number, wallNow: number): number {
  return Math.ceil((wallNow + wait) * 1_000);
}

function submissionOfRun(
  batch: PlannedBatch,
  { members, decision, n = 0, provider, reason }: Run,
  isWhole: boolean,
  { now, wallNow }: Pick<SliceLimits<unknown>, 'now' | 'wallNow'>,
): IntendedSubmission & PreparedSubmission {
  const { attempts, countedFailures, refusedBy } = members[0] as PlannedRecipient;
  const attempt = nextAttempt(attempts);
  const positions = members.map(({ position }) => position);
  const content =
    decision?.decision === 'substitute' ? insteadOf(decision.content, batch.content) : undefined;
  // Spread objects cost 5 % of the dispatch on SQLite here.
  return {
    batch: batch.id,
    n,
    firstPosition: positions[0] as number,
    lastPosition: positions.at(-1) as number,
    members: writtenPositions(positions),
    provider,
    reason,
    attempt,
    countedFailures,
    refusedBy,
    content: content ? { content, labels: batch.labels, hasPersonal: batch.hasPersonal } : null,
    recipients: members,
    positions,
    guarded: batch.guarded,
    whole: isWhole && n === 0 && members.length === batch.recipients.length,
    intendedAt: now,
    decidedAt: now,
    skipOutcome: skipOutcomeOf(batch) ?? denialOf(decision),
    validUntil: validUntilOf(batch, now),
    dueSince: now - batch.dueFor,
    place: batch.place,
    priority: batch.priority,
    resendAt: undefined,
    submission: submissionOf(
      content ? { ...batch, content } : batch,
      { batch: batch.id, n, attempt, firstSentAt: new Date(wallNow) },
      members,
      wallNow,
    ),
  };
}

/** The text of each recipient, where the recipients of a text have variables. */
function ownTextsOf(
  { content, hasPersonal, recipients }: PlannedBatch,
  decision: AppliedDecision | undefined,
): ((index: number) => string) | undefined {
  const sent = decision?.decision === 'substitute' ? decision.content : content;
  if (!hasPersonal || sent.kind !== 'text') return undefined;
  const { text } = sent as TextContent;
  return (index) => {
    const personal = recipients[index]?.personal;
    return personal ? replacedIn(text, personal) : text;
  };
}

function isSame(a: AppliedDecision | undefined, b: AppliedDecision | undefined): boolean {
  if (a?.decision === 'deny' && b?.decision === 'deny') return a.code === b.code;
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
