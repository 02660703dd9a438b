import type { ListQuery, TenantQuery, Timestamp } from './common.js';
import type { ContentOutline } from './messages.js';

// GET api/batches → ListAnswer<BatchItem>, GET api/batches/:id → BatchItem

export interface BatchesQuery extends ListQuery, TenantQuery {
  readonly channel?: string;
  readonly status?: BatchItem['status'];
}

export interface BatchItem {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly sender: string;
  readonly status: 'scheduled' | 'queued' | 'sending' | 'completed' | 'cancelled';
  readonly createdAt: Timestamp;
  readonly sendAt: Timestamp | null;
  readonly validUntil: Timestamp | null;
  /** Number of unique recipients. */
  readonly recipients: number;
  readonly parts: number;
  /** Number of messages by status, without zeros; null in a list for a large batch at work. */
  readonly counts: Readonly<Record<string, number>> | null;
  /** Messages that are neither queued nor being sent, of `recipients`; null as `counts`. */
  readonly done: number | null;
  readonly tags: readonly string[];
  readonly content: ContentOutline | null;
  /** `api/batches/:id/cancel` accepts it. */
  readonly canCancel: boolean;
  /** `api/batches/:id/reschedule` accepts it. */
  readonly canReschedule: boolean;
}

// POST api/batches/:id/cancel → BatchItem (needs `act`)
// POST api/batches/:id/reschedule → BatchItem (needs `act`)

export interface RescheduleRequest {
  readonly sendAt: Timestamp;
}

// GET api/batches/export?tenant&channel&status → text/csv, with at most 10,000 rows; `cursor`, `limit` and
// `X-Next-Cursor` as of GET api/messages/export

// POST api/batches/:id/resend → ResendBatchAnswer (needs `act`): sends a piece of the messages with the
// status again, each once, however often it is asked for

export interface ResendBatchRequest {
  /** A failed one of the channel, such as `undelivered`. */
  readonly status: string;
  /** `nextCursor` of the piece before. */
  readonly cursor?: string;
}

export interface ResendBatchAnswer {
  readonly resent: number;
  /** Messages that were sent again before, and are not now. */
  readonly repeated: number;
  /** Those that stay as they are, by the code of the error. */
  readonly refused: readonly {
    readonly code: string;
    readonly messages: number;
    /** For people, of one of them. */
    readonly message: string;
  }[];
  /** `null`: there are no more. */
  readonly nextCursor: string | null;
}
