import { isOneChunk } from '../acceptance.statements.js';
import { BATCH_COLUMN_NAMES, batchValues, isAlike, microseconds } from '../batch-columns.js';
import type { Dialect } from '../dialect.js';
import type { Sql } from '../store-database.js';
import type { NewBatch } from '../new-batch.js';
import { BATCH_STATE } from '../batch-state.js';

/** In what concurrent batches differ; the rest is mostly the same for all of them. */
const OWN = ['id', 'content', 'created_at', 'idempotency_key', 'fingerprint'] as const;
const OWN_PLACES = OWN.map((name) => BATCH_COLUMN_NAMES.indexOf(name));
const SHARED_PLACES = BATCH_COLUMN_NAMES.flatMap((name, place) =>
  (OWN as readonly string[]).includes(name) ? [] : [place],
);

const INSERT = 'INSERT INTO messaging_batch';
const COMPUTED = 'available_at, valid_until, state';
/** After all that its lane accepted before, and not before it is due. */
const AVAILABLE_AT = '(SELECT max(accepted_at, ?) FROM messaging_lane WHERE lane_key = ?)';
const COMPUTED_VALUES = `${AVAILABLE_AT}, ${AVAILABLE_AT} + ?, ${BATCH_STATE.accepted}`;

const INSERT_ONE = `${INSERT} (${BATCH_COLUMN_NAMES.join(', ')}, ${COMPUTED})
  VALUES (${BATCH_COLUMN_NAMES.map(() => '?').join(', ')}, ${COMPUTED_VALUES}) ON CONFLICT DO NOTHING`;

const SHARED_COLUMNS = `${SHARED_PLACES.map((place) => BATCH_COLUMN_NAMES[place]).join(', ')}, ${COMPUTED}`;
const SHARED_VALUES = `${SHARED_PLACES.map(() => '?').join(', ')}, ${COMPUTED_VALUES}`;

const INSERT_KEYED = `${INSERT} (${SHARED_COLUMNS}, ${OWN.join(', ')})
  SELECT ${SHARED_VALUES}, ${OWN.map((_, place) => `value ->> ${place}`).join(', ')}
  FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

/** Digits of a time in microseconds. */
const TIME = 16;

/**
 * Without keys a batch is a member of one JSON object: SQLite gives a member's name and text as they are,
 * where an array would be written out as JSON again and read anew for each of its places.
 */
const INSERT_UNKEYED = `${INSERT} (${SHARED_COLUMNS}, id, created_at, content)
  SELECT ${SHARED_VALUES}, key, CAST(substr(value, 1, ${TIME}) AS INTEGER), substr(value, ${TIME + 1})
  FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

const INSERT_FIRST_CHUNKS = `INSERT INTO messaging_batch_chunk (batch, n, recipients)
  SELECT key, 0, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

/** Writes new batches on SQLite, where what a row costs is its columns on their way into the statement. */
export class SqliteBatches {
  readonly #advance: string;

  constructor({ now }: Dialect) {
    // SQLite's clock counts milliseconds only, so the lane itself keeps acceptances apart. To have it say
    // what it came to would cost more than to advance it; the batches read it where they are stored.
    this.#advance = `INSERT INTO messaging_lane (lane_key, accepted_at)
      SELECT value, ${now} FROM json_each(?) WHERE true
      ON CONFLICT (lane_key) DO UPDATE SET accepted_at = max(accepted_at + 1, excluded.accepted_at)`;
  }

  async insert(tx: Sql, batches: readonly NewBatch[]): Promise<void> {
    const groups = groupsOf(batches);
    const lanes = new Set(groups.map(([{ lane }]) => lane));
    await tx.run(this.#advance, [JSON.stringify([...lanes])]);
    for (const group of groups) {
      const [first] = group;
      const values = batchValues(first);
      if (group.length === 1) {
        await tx.run(INSERT_ONE, [...values, ...computed(first)]);
        continue;
      }
      const shared = [...SHARED_PLACES.map((place) => values[place]), ...computed(first)];
      await (first.idempotencyKey === null
        ? tx.run(INSERT_UNKEYED, [...shared, members(group, unkeyed)])
        : tx.run(INSERT_KEYED, [...shared, JSON.stringify(group.map(keyed))]));
    }
  }

  /** @returns false, having done nothing, where one of them takes more than a chunk */
  async insertFirstChunks(tx: Sql, batches: readonly NewBatch[]): Promise<boolean> {
    if (!batches.every(isOneChunk)) return false;
    await tx.run(INSERT_FIRST_CHUNKS, [
      members(batches, ({ recipients }) => recipients.join('\n')),
    ]);
    return true;
  }
}

type Group = [NewBatch, ...NewBatch[]];

/** Batches that share all but what each has of its {@link OWN}; mostly it is one group. */
function groupsOf(batches: readonly NewBatch[]): Group[] {
  const groups = new Map<string, Group>();
  let last: Group | undefined;
  for (const batch of batches) {
    if (last && isAlike(last[0], batch)) {
      last.push(batch);
      continue;
    }
    const values = batchValues(batch);
    // None of them can hold a line break.
    const key = [
      ...SHARED_PLACES.map((place) => values[place]),
      batch.validFor,
      batch.idempotencyKey === null,
    ].join('\n');
    last = groups.get(key);
    if (last) last.push(batch);
    else groups.set(key, (last = [batch]));
  }
  return [...groups.values()];
}

/** What {@link COMPUTED_VALUES} binds: when they are available, and how long they are valid. */
function computed({ lane, sendAt, validFor }: NewBatch): unknown[] {
  const due = microseconds(sendAt) ?? 0;
  return [due, lane, due, lane, microseconds(validFor)];
}

function keyed(batch: NewBatch): unknown[] {
  const values = batchValues(batch);
  return OWN_PLACES.map((place) => values[place]);
}

function unkeyed({ createdAt, content }: NewBatch): string {
  return String(Math.trunc(createdAt * 1_000)).padStart(TIME, '0') + content;
}

/** One JSON object: a text of each by its id, in which there is nothing to escape. */
function members(batches: readonly NewBatch[], textOf: (batch: NewBatch) => string): string {
  let json = '';
  for (const batch of batches)
    json += `${json && ','}"${batch.id}":${JSON.stringify(textOf(batch))}`;
  return `{${json}}`;
}
