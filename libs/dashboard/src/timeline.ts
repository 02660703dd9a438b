import type { LaneHealth, ReportView } from '@dundun/messaging';
import type { MessageRecord, SubmissionView } from '@dundun/messaging/operations';
import type { ChannelRegistry } from '@dundun/messaging/ports';
import type { TimelineEntry } from './api.js';
import { isAddress, maskedText } from './masking.js';
import { iso } from './query.js';
import { holdOf, reasonOf, statusTitle } from './words.js';

const NOTHING = {
  status: null,
  detail: null,
  answer: null,
  remedy: null,
  code: null,
  provider: null,
} as const;

/**
 * Events of a message, in words, oldest first. No entry has an address or a text of it.
 * @param operate whether the caller may see by which figures a provider was chosen: they are of all tenants
 */
export function timelineOf(
  message: MessageRecord,
  channels: ChannelRegistry,
  operate: boolean,
): TimelineEntry[] {
  const { acceptedAt, sendAt, submissions, reports, provider } = message;
  const logged = new Set(reports.map(({ rawStatus }) => rawStatus));
  const rejected = submissions.findLast(({ outcome }) => outcome === 'rejected');
  const entries: TimelineEntry[] = [
    ...submissions.flatMap((one) => attemptOf(one, logged.has('submit'), operate)),
    ...reports.map((report) => ({
      ...reportOf(report, provider, channels),
      answer: report.rawStatus === 'submit' ? answerOf(rejected) : null,
    })),
  ].toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  const accepted = {
    ...NOTHING,
    at: iso(acceptedAt),
    kind: 'accepted',
    status: 'queued',
    title: 'Accepted',
  } as const;
  const scheduled =
    sendAt && sendAt > acceptedAt
      ? [
          {
            ...NOTHING,
            at: iso(acceptedAt),
            kind: 'scheduled' as const,
            title: 'Scheduled',
            detail: iso(sendAt),
          },
        ]
      : [];
  return [accepted, ...scheduled, ...entries];
}

/** Why a queued message has not started, or a request takes long. */
export function waitingOf(
  { status, waitsUntil, deferredUntil, errorCode, attempts }: MessageRecord,
  lane: LaneHealth | undefined,
  now: Date,
): TimelineEntry[] {
  const entry = { ...NOTHING, at: iso(now), kind: 'waiting' as const };
  if (status === 'sending' && attempts > 1)
    return [{ ...entry, title: 'No answer yet: the request is repeated with growing waits' }];
  if (status !== 'queued') return [];
  if (lane?.hold) return [{ ...entry, ...holdOf(lane.hold.reason), code: lane.hold.reason }];
  if (lane?.pauseReason != null) {
    const { title, remedy } = reasonOf(lane.pauseReason, lane.pauseProvider);
    const until = lane.pausedUntil && lane.pausedUntil > now ? iso(lane.pausedUntil) : null;
    return [
      {
        ...entry,
        title: `The lane rests: ${title}`,
        detail: until,
        remedy,
        code: lane.pauseReason,
        provider: lane.pauseProvider,
      },
    ];
  }
  if (deferredUntil && deferredUntil > now && errorCode !== null) {
    const { title, remedy } = reasonOf(errorCode, null);
    const detail = iso(deferredUntil);
    return [{ ...entry, title: `Deferred: ${title}`, detail, remedy, code: errorCode }];
  }
  if (waitsUntil && waitsUntil > now)
    return [{ ...entry, title: 'Waits for its time', detail: iso(waitsUntil) }];
  return [{ ...entry, title: 'Waits for its turn in the lane' }];
}

function attemptOf(
  submission: SubmissionView,
  hasOutcome: boolean,
  operate: boolean,
): TimelineEntry[] {
  const { provider, reason, attempt, startedAt, finishedAt, outcome, errorCode } = submission;
  const chosen = reason !== null && !operate ? 'chosen by outcome' : reason;
  const started: TimelineEntry = {
    ...NOTHING,
    at: iso(startedAt),
    kind: 'attempt',
    status: 'sending',
    title: `Request to ${provider}`,
    detail: [`Attempt ${attempt}`, ...(chosen === null ? [] : [chosen])].join('; '),
    provider,
  };
  // The log of reports has the answer of an accepted or rejected request.
  const isLogged = hasOutcome && (outcome === 'accepted' || outcome === 'rejected');
  if (outcome === null || finishedAt === null || isLogged) return [started];
  const words = errorCode === null ? undefined : reasonOf(errorCode, provider);
  return [
    started,
    {
      at: iso(finishedAt),
      kind: 'outcome',
      status: STATUS_AFTER[outcome],
      title: OUTCOMES[outcome],
      detail: otherThan(OUTCOMES[outcome], words?.title),
      answer: answerOf(submission),
      remedy: words?.remedy ?? null,
      code: errorCode,
      provider,
    },
  ];
}

/** The provider's words of a failure: the log of an accepted request has its id and status alone. */
function answerOf(submission: SubmissionView | undefined): string | null {
  return submission?.errorText ? maskedText(submission.errorText) : null;
}

/** A detail that only repeats the title is left out. */
function otherThan(title: string, detail: string | undefined): string | null {
  return detail === undefined || detail === title ? null : detail;
}

type Outcome = NonNullable<SubmissionView['outcome']>;

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  accepted: 'Accepted by the provider',
  rejected: 'Rejected by the provider',
  refused: 'Not accepted; back in the queue',
  unknown: 'The answer of the provider was lost',
  withdrawn: 'Withdrawn before it started; back in the queue',
  expired: 'Its validity ended before the request',
  cancelled: 'Cancelled before the request',
};

const STATUS_AFTER: Readonly<Record<Outcome, string>> = {
  accepted: 'sent',
  rejected: 'rejected',
  refused: 'queued',
  unknown: 'unknown',
  withdrawn: 'queued',
  expired: 'expired',
  cancelled: 'cancelled',
};

function reportOf(
  { status, rawStatus, errorCode, receivedAt, sequence }: ReportView,
  provider: string | null,
  channels: ChannelRegistry,
): Omit<TimelineEntry, 'answer'> {
  const own = rawStatus === 'submit' || rawStatus === 'policy';
  const isEvent = status === null && channels.isEvent(rawStatus);
  const words = errorCode === null ? undefined : reasonOf(errorCode, provider);
  const said = /^[\w .:-]{1,64}$/.test(rawStatus) && !isAddress(rawStatus) ? rawStatus : 'a word';
  const title = isEvent
    ? statusTitle(rawStatus)
    : status === null
      ? `${provider ?? 'The provider'} reported ${said}, which is mapped to no status`
      : statusTitle(status);
  return {
    at: iso(receivedAt),
    kind: isEvent ? 'event' : own ? 'outcome' : 'report',
    status: sequence === null && status === null ? null : status,
    title,
    detail:
      otherThan(title, words?.title) ?? (rawStatus === 'policy' ? 'Denied by a policy' : null),
    remedy:
      words?.remedy ??
      (status === null && !isEvent
        ? 'Map the word in the parser of the provider’s callbacks'
        : null),
    code: errorCode,
    provider: rawStatus === 'policy' ? null : provider,
  };
}
