import { BATCH_COLUMN_NAMES, batchValues, microseconds } from './batch-columns.js';
import type { Dialect } from './dialect.js';
import type { Sql } from './ledger-database.js';
import type { NewBatch } from './new-batch.js';
import { BATCH_PHASE } from './schema.js';

/** In what concurrent batches differ; the rest is mostly the same for all of them. */
const OWN = ['id', 'content', 'created_at', 'idempotency_key', 'fingerprint'] as const;
const OWN_PLACES = OWN.map((name) => BATCH_COLUMN_NAMES.indexOf(name));
const SHARED_PLACES = BATCH_COLUMN_NAMES.flatMap((name, place) =>
  (OWN as readonly string[]).includes(name) ? [] : [place],
);

const INSERT = 'INSERT INTO messaging_batch';
const COMPUTED = 'available_at, valid_until, phase, pending';
const COMPUTED_VALUES = `?, ?, ${BATCH_PHASE.accepted}, 1`;

const INSERT_ONE = `${INSERT} (${BATCH_COLUMN_NAMES.join(', ')}, ${COMPUTED})
  VALUES (${BATCH_COLUMN_NAMES.map(() => '?').join(', ')}, ${COMPUTED_VALUES}) ON CONFLICT DO NOTHING`;

/** What is shared is bound once, and read out of JSON is only the rest: the fewer columns of a row, the better. */
const INSERT_ALIKE = `${INSERT} (${namesAt(SHARED_PLACES)}, ${COMPUTED}, ${OWN.join(', ')})
  SELECT ${SHARED_PLACES.map(() => '?').join(', ')}, ${COMPUTED_VALUES},
    ${OWN.map((_, place) => `value ->> ${place}`).join(', ')}
  FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

/** Batches that share all but what each has of its {@link OWN}. */
interface Alike {
  /** What {@link INSERT_ALIKE} binds before the rows. */
  readonly shared: readonly unknown[];
  readonly rows: (readonly unknown[])[];
  readonly first: readonly unknown[];
}

/** Writes new batches on SQLite, where what a row costs is its columns on their way into the statement. */
export class SqliteBatches {
  readonly #lanes;
  readonly #advance: string;

  constructor(dialect: Dialect) {
    this.#lanes = dialect.rows({ v_lane: 'key' });
    // SQLite's clock counts milliseconds only, so the lane itself keeps acceptances apart.
    this.#advance = `INSERT INTO messaging_lane (lane_key, accepted_at)
      SELECT v_lane, ${dialect.now} FROM ${this.#lanes.sql} WHERE true
      ON CONFLICT (lane_key) DO UPDATE SET accepted_at = max(accepted_at + 1, excluded.accepted_at)
      RETURNING lane_key, accepted_at`;
  }

  async insert(tx: Sql, batches: readonly NewBatch[]): Promise<void> {
    const keys = [...new Set(batches.map(({ lane }) => lane))].map((lane) => [lane]);
    const lanes = await tx.all<{ lane_key: string; accepted_at: number }>(
      this.#advance,
      this.#lanes.bind(keys),
    );
    const acceptedAt = new Map(lanes.map((lane) => [lane.lane_key, lane.accepted_at]));
    for (const { shared, rows, first } of alike(batches, acceptedAt))
      await (rows.length === 1
        ? tx.run(INSERT_ONE, [...first, ...shared.slice(SHARED_PLACES.length)])
        : tx.run(INSERT_ALIKE, [...shared, JSON.stringify(rows)]));
  }
}

function alike(
  batches: readonly NewBatch[],
  acceptedAt: ReadonlyMap<string, number>,
): Iterable<Alike> {
  const groups = new Map<string, Alike>();
  for (const batch of batches) {
    const values = batchValues(batch);
    const availableAt = Math.max(
      acceptedAt.get(batch.lane) as number,
      microseconds(batch.sendAt) ?? 0,
    );
    const validUntil = batch.validFor === null ? null : availableAt + batch.validFor * 1_000;
    const shared = [...SHARED_PLACES.map((place) => values[place]), availableAt, validUntil];
    const row = OWN_PLACES.map((place) => values[place]);
    // None of them can hold a line break.
    const key = shared.join('\n');
    const group = groups.get(key);
    if (group) group.rows.push(row);
    else groups.set(key, { shared, rows: [row], first: values });
  }
  return groups.values();
}

function namesAt(places: readonly number[]): string {
  return places.map((place) => BATCH_COLUMN_NAMES[place]).join(', ');
}
