import type { BatchView, Receipt, ReportView, StatusCounts } from '@dundun/messaging';
import type { IsoTimes } from '../http/iso-times.js';

/** As Fastify says of the JSON it writes itself. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Answer to a send (interface section 2.2), as JSON: there is nothing in it to escape. */
export function sendSmsAnswer({ id, recipients, createdAt }: Receipt, times: IsoTimes): string {
  return `{"status_code":200,"message":"Your request is being processed","reference_id":"${id}","recipients_processed":${recipients},"created_at":"${times.of(createdAt)}"}`;
}

/** A batch as a list shows it. */
export interface BatchSummary {
  readonly reference_id: string;
  readonly from: string;
  /** `null` once retention erased it. */
  readonly body: string | null;
  readonly delivery_report: 'none' | 'yes';
  readonly status: BatchView['status'];
  readonly created_at: string;
  readonly send_at: string | null;
  readonly recipients_processed: number;
  readonly parts: number;
  /** `null`: the gateway has no price list. */
  readonly cost: number | null;
  readonly currency: string | null;
  /** Messages by status, zeros left out. */
  readonly counts: StatusCounts;
}

/** A batch read back, its unique recipients included. */
export interface BatchAnswer extends BatchSummary {
  readonly to: readonly string[];
}

export function batchSummary(batch: BatchView): BatchSummary {
  return {
    reference_id: batch.id,
    from: batch.sender,
    body: batch.content?.kind === 'text' ? batch.content.text : null,
    delivery_report: batch.deliveryReport,
    status: batch.status,
    created_at: batch.createdAt.toISOString(),
    send_at: batch.sendAt?.toISOString() ?? null,
    recipients_processed: batch.recipients,
    parts: batch.parts,
    cost: null,
    currency: null,
    counts: batch.counts,
  };
}

/** A delivery report: the callback's `data` and when the gateway had it. */
export interface DeliveryReportAnswer {
  readonly reference_id: string;
  /** `null`: the carrier reported a recipient that the batch never named. */
  readonly message_id: string | null;
  readonly to: string;
  readonly from: string;
  /** `null`: a status nobody mapped; it moved nothing. */
  readonly status: ReportView['status'];
  readonly error_code: string | null;
  readonly smsc_timestamp: string;
  /** Which change of the message's status this was; `null` where it moved nothing. */
  readonly sequence: number | null;
  readonly received_at: string;
}

export function deliveryReportAnswer(report: ReportView): DeliveryReportAnswer {
  return {
    reference_id: report.batchId,
    message_id: report.messageId,
    to: report.recipient,
    from: report.sender,
    status: report.status,
    error_code: report.errorCode,
    smsc_timestamp: report.providerTime.toISOString(),
    sequence: report.sequence,
    received_at: report.receivedAt.toISOString(),
  };
}
