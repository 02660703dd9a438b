import { type BatchLabels, NO_LABELS } from '../../message/labels.js';
import type { MessageContent } from '../../message/message.js';
import type { BatchStatus } from '../../message/status.js';
import type { BatchView, StatusCounts } from '../../message/views.js';
import { BATCH_STATE, stateOf } from '../rows/batch-state.js';
import { shownContent, type StoredContent } from '../rows/stored-content.js';
import { dateOf } from './report-list.js';

/** A 64-bit integer, as the driver returns it; times are epoch microseconds. */
export type Big = string | number;

export interface BatchRow extends Pick<
  BatchView,
  'id' | 'tenant' | 'channel' | 'sender' | 'recipients' | 'parts'
> {
  readonly state: number;
  readonly lane: string;
  readonly notification: string | null;
  readonly content: string | null;
  readonly deliveryReport: number;
  readonly labelled: number;
  readonly guarded: number;
  readonly createdAt: Big;
  readonly sendAt: Big | null;
  readonly validUntil: Big | null;
  readonly deferredUntil: Big;
  readonly due: number;
  readonly waits: number;
}

/** The part of a batch's content that views show. */
export type Shown = (batch: string, json: string | null) => ReturnType<typeof shownOf>;

/** SQL that reads {@link BatchRow}s, up to its condition. @param now SQL of the database's clock */
export function batchesOf(now: string): string {
  return `SELECT b.id, b.tenant, b.channel, b.lane, b.notification, b.sender, b.content, b.parts, b.state,
    b.labelled, b.guarded, b.delivery_report AS "deliveryReport", b.recipient_count AS "recipients",
    b.created_at AS "createdAt", b.send_at AS "sendAt", b.valid_until AS "validUntil",
    b.parked_until AS "deferredUntil", ${progressOf(now)} FROM messaging_batch b`;
}

export function viewOf<C extends StatusCounts | null>(
  {
    state,
    due,
    waits,
    deferredUntil,
    lane: _lane,
    labelled: _labelled,
    guarded: _guarded,
    ...row
  }: BatchRow,
  counts: C,
  shown: Shown,
) {
  return {
    ...row,
    ...shown(row.id, row.content),
    deliveryReport: row.deliveryReport === 1,
    status: batchStatusOf({ state, due, waits }),
    createdAt: dateOf(row.createdAt),
    sendAt: row.sendAt === null ? null : dateOf(row.sendAt),
    validUntil: row.validUntil === null ? null : dateOf(row.validUntil),
    counts,
    deferredUntil: stateOf({ state }) === 'deferred' ? dateOf(deferredUntil) : null,
  };
}

/** The part of a content that a view shows, and of the labels that are kept as long. */
export function shownOf(
  stored: StoredContent | undefined,
): BatchLabels & { readonly content: MessageContent | null } {
  if (!stored) return { content: null, ...NO_LABELS };
  const { content, labels = NO_LABELS } = stored;
  return { content: shownContent(content), ...labels };
}

/** SQL columns: its time has come; it is deferred, and no message of it has started. PostgreSQL reads a whole table for `EXISTS`. */
export function progressOf(now: string): string {
  return `CASE WHEN b.available_at <= ${now} THEN 1 ELSE 0 END AS due,
    CASE WHEN b.state = ${BATCH_STATE.deferred} AND (
      SELECT min(s.n) FROM messaging_submission s WHERE s.batch = b.id) IS NULL THEN 1 ELSE 0 END AS waits`;
}

export function batchStatusOf(row: Pick<BatchRow, 'state' | 'due' | 'waits'>): BatchStatus {
  const state = stateOf(row);
  if (state === 'accepted') return Number(row.due) === 1 ? 'queued' : 'scheduled';
  if (Number(row.waits) === 1) return 'queued';
  return state === 'completed' || state === 'cancelled' ? state : 'sending';
}
