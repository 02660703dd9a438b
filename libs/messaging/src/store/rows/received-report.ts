import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { DeliveryReport, ReportDetails, ReportedSubmit } from '../../message/events.js';
import { FIRST_REPORTED_RANK } from '../../message/status.js';
import { identifier, plausible, word } from '../../message/report-fields.js';
import { type Columns, type Dialect, into } from '../database/dialect.js';
import { digestId, timedDigestId } from './digest-id.js';
import { announce, type LockedMessage, raise, type StatusChange } from './status.js';

/** Values fit the store's columns; times are epoch microseconds. */
export interface ReceivedReport extends Omit<DeliveryReport, 'details' | 'submit'> {
  readonly provider: string;
  readonly receivedAt: number;
  readonly rank: number | null;
  /** Identifies the report: a repeated one has the same hash. */
  readonly hash: string;
  /** Event of a channel, in place of a status. */
  readonly event: string | null;
  /** Further data; only the columns have it as JSON. */
  readonly details: ReportDetails | null;
  /** The submit whose answer may have been lost; kept in the details while the report waits. */
  readonly submit: ReportedSubmit | null;
  /** The report is already in the log, without a message. */
  readonly waiting: boolean;
}

export interface MessagePlace {
  readonly batch: string;
  /** `undefined`: the report identifies the batch, but no message of it. */
  readonly position: number | undefined;
  /** The submission that the report is about; `undefined`: the message's last. */
  readonly submission?: number | undefined;
  /** The report names a submission with one recipient: its own form of the address does not count. */
  readonly isOnly?: boolean;
}

export interface MatchedReport extends LogEntry {
  readonly report: ReceivedReport;
  readonly place: { readonly batch: string; readonly position: number };
}

/** Longest recipient that fits its column. */
const RECIPIENT_LENGTH = 320;

/**
 * Cleans a report for the store. Applications write parsers; a report with NUL, an unpaired
 * surrogate, an absurd time or an unknown status must not fail the other reports of its group.
 */
export function receivedReport(
  report: DeliveryReport,
  provider: string,
  now: number,
  channels: ChannelRegistry,
  /** Secret, so that the hash does not reveal the recipient. */
  salt = '',
): ReceivedReport {
  const reference = identifier(report.reference);
  const messageId = identifier(report.messageId);
  const named = identifier(report.recipient);
  const recipient = named !== null && named.length <= RECIPIENT_LENGTH ? named : null;
  const status = channels.isReported(report.status) ? report.status : null;
  const event = channels.isEvent(report.status) ? report.status : null;
  const rawStatus = event ?? word(report.rawStatus) ?? word(report.status) ?? '';
  const errorCode = word(report.errorCode);
  const time = report.providerTime instanceof Date ? plausible(report.providerTime, now) : null;
  return {
    reference,
    messageId,
    recipient,
    status,
    rank: status === null ? null : (channels.rankOf(status) ?? null),
    rawStatus,
    errorCode,
    providerTime: time,
    provider,
    submissionId: report.submissionId,
    receivedAt: now * 1_000,
    hash: timedDigestId(
      time && time.getTime(),
      salt,
      provider,
      // A polled report may contain only the id of its submission.
      reference ?? (messageId === null ? (report.submissionId ?? null) : null),
      messageId,
      recipient,
      status,
      rawStatus,
      errorCode,
    ),
    event,
    details: detailsOf(report.details),
    submit: submitOf(report.submit, now),
    waiting: false,
  };
}

function submitOf(submit: DeliveryReport['submit'], now: number): ReportedSubmit | null {
  const sender = identifier(submit?.sender);
  const at = submit?.at instanceof Date ? plausible(submit.at, now) : null;
  return sender !== null && at ? { sender, at } : null;
}

/** The details of a report that waits: they find its message once its answer is given up. */
export function waitingDetails({ submit, details }: ReceivedReport): ReportDetails | null {
  return submit ? { submit_sender: submit.sender, submitted_at: submit.at.getTime() } : details;
}

/** Reads {@link waitingDetails}. */
function waitingSubmit(details: ReportDetails | null): ReportedSubmit | null {
  const { submit_sender: sender, submitted_at: at } = details ?? {};
  return typeof sender === 'string' && typeof at === 'number' ? { sender, at: new Date(at) } : null;
}

/** Longest JSON of details; a callback stays below 20 kB. */
const DETAILS_LENGTH = 8_000;

export function detailsOf(given: unknown): ReportDetails | null {
  if (typeof given !== 'object' || given === null) return null;
  const kept: [name: string, value: string | number | null][] = [];
  for (const [name, value] of Object.entries(given as Record<string, unknown>)) {
    if (identifier(name) === null) continue;
    if (value === null || Number.isFinite(value)) kept.push([name, value as number | null]);
    else if (typeof value === 'string')
      kept.push([name, value.slice(0, 1_024).replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ')]);
  }
  if (kept.length === 0) return null;
  const details = Object.fromEntries(kept);
  return JSON.stringify(details).length > DETAILS_LENGTH ? null : details;
}

/** @returns `undefined` where the status does not change, and the report has no event */
export function raiseBy(report: ReceivedReport, message: LockedMessage): StatusChange | undefined {
  const { rank, event, errorCode, provider, providerTime, receivedAt, details } = report;
  const at = providerTime ? micros(providerTime) : receivedAt;
  if (event !== null)
    // Before the acceptance, whose fast path counts from zero, an event is only logged.
    return message.status < FIRST_REPORTED_RANK
      ? undefined
      : { ...announce(message, event, at, errorCode), details };
  if (rank === null) return undefined;
  const change = raise(message, rank, at, errorCode);
  return change && { ...change, provider, receivedAt, ...(details !== null && { details }) };
}

type Noted = 'hash' | 'reference' | 'messageId' | 'providerTime' | 'details';

/** A row of the report log: a report, or a change of status that no provider reported. */
export interface LogEntry {
  readonly report: Partial<Pick<ReceivedReport, Noted>> &
    Pick<
      ReceivedReport,
      'provider' | 'recipient' | 'rank' | 'rawStatus' | 'errorCode' | 'receivedAt'
    >;
  readonly place: {
    readonly tenant?: string;
    readonly batch?: string;
    readonly position?: number;
    /** The recipient was erased; the report must not restore it. */
    readonly erased?: boolean;
  };
  /** Number of the announced change. */
  readonly sequence?: number;
}

export const LOG = {
  v_hash: ['uuid', ({ report }) => report.hash],
  v_tenant: ['key', ({ place }) => place.tenant ?? ''],
  v_batch: ['uuid', ({ place }) => place.batch],
  v_position: ['int', ({ place }) => place.position],
  v_provider: ['key', ({ report }) => report.provider],
  v_reference: ['key', ({ report }) => report.reference],
  v_message_id: ['key', ({ report }) => report.messageId],
  v_recipient: ['key', ({ report, place }) => (place.erased ? null : report.recipient)],
  v_status: ['int', ({ report }) => report.rank],
  v_raw_status: ['key', ({ report }) => report.rawStatus],
  v_error_code: ['key', ({ report }) => report.errorCode],
  v_provider_time: ['bigint', ({ report }) => report.providerTime && micros(report.providerTime)],
  v_received_at: ['bigint', ({ report }) => report.receivedAt],
  v_sequence: ['int', ({ sequence }) => sequence || null],
} satisfies Columns<LogEntry>;

export const INTO_LOG = into('report', LOG);

/** The log's entry of a change that no provider reported. */
export function changeEntry(
  { message, status, sequence, errorCode, at, event, details }: StatusChange,
  origin: Pick<ReceivedReport, 'provider' | 'rawStatus'> & Partial<Pick<ReceivedReport, Noted>>,
): LogEntry {
  const { recipient } = message;
  const rank = event === undefined ? status : null;
  const report = {
    ...origin,
    recipient,
    rank,
    errorCode,
    receivedAt: at,
    ...(details && {
      details,
      hash: digestId('change', message.batch, message.position, sequence),
    }),
  };
  return { report, place: message, sequence };
}

/** SQL suffix: a waiting report in the log gets its batch and message, once. */
export function onLogged(dialect: Dialect): string {
  return dialect.onConflict(
    'hash',
    `tenant = CASE WHEN messaging_report.batch IS NULL THEN new.tenant ELSE messaging_report.tenant END,
     recipient = CASE WHEN messaging_report.batch IS NULL THEN new.recipient ELSE messaging_report.recipient END,
     position = coalesce(messaging_report.position, new.position),
     sequence = coalesce(messaging_report.sequence, new.sequence),
     batch = coalesce(messaging_report.batch, new.batch)`,
    'hash IS NOT NULL',
  );
}

function micros(time: Date): number {
  return time.getTime() * 1_000;
}

/** In the log, without a message; times in microseconds, as drivers return them. */
export interface WaitingRow extends Pick<
  ReceivedReport,
  'hash' | 'provider' | 'reference' | 'messageId' | 'recipient' | 'rank' | 'rawStatus' | 'errorCode'
> {
  /** JSON. */
  readonly details: string | null;
  readonly id: string | number;
  readonly providerTime: string | number | null;
  readonly receivedAt: string | number;
}

export const WAITING_COLUMNS = `r.id, r.hash, r.provider, r.reference, r.message_id AS "messageId", r.recipient,
  r.status AS "rank", r.raw_status AS "rawStatus", r.error_code AS "errorCode",
  r.provider_time AS "providerTime", r.received_at AS "receivedAt", r.details`;

export function fromWaitingRow(
  { id: _id, ...row }: WaitingRow,
  channels: ChannelRegistry,
): ReceivedReport {
  // The channel of a stored rank may not be registered any more: such a report raises no status.
  const rank = row.rank !== null && channels.hasRank(row.rank) ? row.rank : null;
  const details = row.details === null ? null : (JSON.parse(row.details) as ReportDetails);
  const submit = waitingSubmit(details);
  return {
    ...row,
    submit,
    details: submit ? null : details,
    submissionId: undefined,
    status: rank === null ? null : channels.statusOf(rank),
    rank,
    event: row.rank === null && channels.isEvent(row.rawStatus) ? row.rawStatus : null,
    providerTime: row.providerTime === null ? null : new Date(Number(row.providerTime) / 1_000),
    receivedAt: Number(row.receivedAt),
    waiting: true,
  };
}
