import type { EntityManager } from 'typeorm';
import type { MessageClass } from '../message/message.js';
import type { Duration } from '../ports/duration.js';

export interface SendOptions {
  /** Join this transaction: the send commits or rolls back with it. Must be inside `dataSource.transaction()` of the module's data source. */
  readonly manager?: EntityManager;
  /** Whose message it is. @default '' */
  readonly tenant?: string;
  /** At most 255 visible ASCII characters; the same key and content again returns the first batch. */
  readonly idempotencyKey?: string;
  /** @default 'normal' */
  readonly class?: MessageClass;
  /** What has not left this long after it was due is `expired`, not sent. @default never */
  readonly validFor?: Duration;
}
