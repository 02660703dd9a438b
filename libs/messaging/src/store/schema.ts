import { BatchEntity } from './entities/batch.entity.js';
import {
  BatchChunkEntity,
  LaneEntity,
  MessageEntity,
  ReportEntity,
  SubmissionEntity,
} from './entities/store.entities.js';
import { BatchQueue1700000000340 } from './migrations/batch-queue.migration.js';
import { HeldLanes1700000000310 } from './migrations/held-lanes.migration.js';
import { Store1700000000000 } from './migrations/store.migration.js';
import { Policy1700000000100 } from './migrations/policy.migration.js';
import { RecipientIndex1700000000330 } from './migrations/recipient-index.migration.js';

export const STORE_ENTITIES = [
  BatchEntity,
  BatchChunkEntity,
  SubmissionEntity,
  MessageEntity,
  ReportEntity,
  LaneEntity,
];

/** Only for apps that cap the frequency: every message pays for the index. */
export const FREQUENCY_CAP_MIGRATIONS = [RecipientIndex1700000000330];

export const STORE_MIGRATIONS = [
  Store1700000000000,
  Policy1700000000100,
  HeldLanes1700000000310,
  BatchQueue1700000000340,
];

/** Recipients in one chunk row. */
export const CHUNK_SIZE = 1_000;

/** Where a batch stands; `pending` and `requeued` say what is left to start. */
export const BATCH_PHASE = { accepted: 0, sending: 1, completed: 2, cancelled: 3 } as const;

/** What became of a submission; `null` in the store: still open. */
export const SUBMISSION_OUTCOME = {
  accepted: 1,
  rejected: 2,
  /** Definitely not accepted: its messages are queued again, or `failed`. */
  refused: 3,
  /** Never learned. */
  unknown: 4,
  /** Never started: its messages are queued again. */
  withdrawn: 5,
  /** Its time was over before it could start. */
  expired: 6,
} as const;

export const CLASS_ORDER = { high: 0, normal: 1 } as const;
