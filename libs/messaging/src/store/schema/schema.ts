import { BatchEntity } from './entities/batch.entity.js';
import {
  BatchChunkEntity,
  LaneEntity,
  MessageEntity,
  ReportEntity,
  SubmissionEntity,
} from './entities/store.entities.js';
import { RecipientIndex1790000000100, Store1790000000000 } from './store.migration.js';

export const STORE_ENTITIES = [
  BatchEntity,
  BatchChunkEntity,
  SubmissionEntity,
  MessageEntity,
  ReportEntity,
  LaneEntity,
];

/** Only for apps with a frequency cap: each message pays for the index. */
export const FREQUENCY_CAP_MIGRATIONS = [RecipientIndex1790000000100];

export const STORE_MIGRATIONS = [Store1790000000000];
