import { entitiesOf } from './columns.js';

export const BATCH_COUNT_COLUMNS = {
  /** Messages of a large batch by status: the sums of its rows. See `COUNT_KIND`. */
  batch_count: {
    batch: 'uuid NOT NULL',
    kind: 'small NOT NULL',
    status: 'small NOT NULL',
    messages: 'int NOT NULL',
  },
} as const;

export const BATCH_COUNT_KEYS = { batch_count: 'batch, kind, status' } as const;

export const BATCH_COUNT_ENTITIES = entitiesOf(BATCH_COUNT_COLUMNS, BATCH_COUNT_KEYS);
