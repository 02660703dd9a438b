import type { ChannelRegistry } from '../message/channel-registry.js';
import type { DeliveryReport } from '../message/delivery-report.js';
import { identifier, plausible, word } from '../message/report-fields.js';
import { timedDigestId } from './report-hash.js';
import type { HeldMessage } from './status.js';

/** A report as the recorder takes it: fit to store, whoever parsed it. Times are epoch microseconds. */
export interface ReceivedReport extends DeliveryReport {
  readonly provider: string;
  readonly receivedAt: number;
  /** Rank of its status. */
  readonly rank: number | null;
  /** What makes it this report and no other. */
  readonly hash: string;
  /** It is in the log already and waits there. */
  readonly waiting: boolean;
}

/** As wide as the store's columns. */
const RECIPIENT_LENGTH = 320;

/**
 * The door of the log. Parsers are anybody's: what would not fit the database (NUL, halves of a pair,
 * absurd times, a status that is none) is mended here, so that one report never fails the others.
 */
export function receivedReport(
  report: DeliveryReport,
  provider: string,
  now: number,
  channels: ChannelRegistry,
): ReceivedReport {
  const reference = identifier(report.reference);
  const messageId = identifier(report.messageId);
  const named = identifier(report.recipient);
  const recipient = named !== null && named.length <= RECIPIENT_LENGTH ? named : null;
  const status = channels.isReported(report.status) ? report.status : null;
  const rawStatus = word(report.rawStatus) ?? word(report.status) ?? '';
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
      provider,
      reference,
      messageId,
      recipient,
      status,
      rawStatus,
      errorCode,
    ),
    waiting: false,
  };
}

/** Epoch microseconds of what the report tells of: the SMSC's time, else ours. */
export function reportedAt({ providerTime, receivedAt }: ReceivedReport): number {
  return providerTime ? providerTime.getTime() * 1_000 : receivedAt;
}

/** Its row of the log. */
export function logRow(
  report: ReceivedReport,
  { tenant = '', batch, position, nameless = false }: LoggedPlace,
  sequence: number | null,
): unknown[] {
  return [
    report.hash,
    tenant,
    batch ?? null,
    position ?? null,
    report.provider,
    report.reference,
    report.messageId,
    nameless ? null : report.recipient,
    report.rank,
    report.rawStatus,
    report.errorCode,
    report.providerTime ? report.providerTime.getTime() * 1_000 : null,
    report.receivedAt,
    sequence,
  ];
}

/** Whose it is, as far as that is known. */
interface LoggedPlace {
  readonly tenant?: string;
  readonly batch?: string;
  readonly position?: number;
  readonly nameless?: boolean;
}

/** A report in the log that matches nothing yet. */
export interface WaitingRow {
  readonly id: string | number;
  readonly hash: string;
  readonly provider: string;
  readonly reference: string | null;
  readonly message_id: string | null;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly raw_status: string;
  readonly error_code: string | null;
  readonly provider_time: string | number | null;
  readonly received_at: string | number;
}

export function fromWaitingRow(row: WaitingRow, channels: ChannelRegistry): ReceivedReport {
  return {
    hash: row.hash,
    provider: row.provider,
    submissionId: undefined,
    reference: row.reference,
    messageId: row.message_id,
    recipient: row.recipient,
    status: row.status === null ? null : channels.statusOf(row.status),
    rank: row.status,
    rawStatus: row.raw_status,
    errorCode: row.error_code,
    providerTime: row.provider_time === null ? null : new Date(Number(row.provider_time) / 1_000),
    receivedAt: Number(row.received_at),
    waiting: true,
  };
}

/** A report and the message it is about. */
export interface MatchedReport {
  readonly report: ReceivedReport;
  readonly place: { readonly batch: string; readonly position: number };
}

/** A message as it was before its report; `v_index` is the report's place in the group. */
export type MessageBefore = HeldMessage & { readonly v_index: number };
