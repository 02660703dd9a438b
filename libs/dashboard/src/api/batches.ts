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
