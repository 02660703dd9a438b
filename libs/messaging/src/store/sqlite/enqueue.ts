import { BATCH_STATE } from '../rows/batch-state.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import {
  isPlainBatch,
  microseconds,
  NEW_BATCH_NAMES,
  type NewBatch,
  newBatchRow,
} from '../rows/new-batch.js';
import type { FastPaths } from '../store.js';
import { SQLITE_LANE_CLOCK } from './dialect.js';

/** The columns in which concurrent batches without keys differ. */
const OWN: readonly string[] = ['id', 'content', 'created_at'];
const SHARED_PLACES = NEW_BATCH_NAMES.flatMap((name, place) => (OWN.includes(name) ? [] : [place]));

/** After all batches that the lane has accepted, and not before the batch's due time. */
const AVAILABLE_AT = '(SELECT max(accepted_at, ?) FROM messaging_lane WHERE lane_key = ?)';

/** Number of digits of a time in microseconds. */
const TIME = 16;

/**
 * One JSON object has a member per batch: SQLite returns a member's name and text unchanged, while
 * it would serialise an array to JSON and parse it again for each element.
 */
const INSERT_BATCHES = `INSERT INTO messaging_batch
    (${SHARED_PLACES.map((place) => NEW_BATCH_NAMES[place]).join(', ')}, available_at, valid_until, state,
    id, created_at, content)
  SELECT ${SHARED_PLACES.map(() => '?').join(', ')}, ${AVAILABLE_AT}, ${AVAILABLE_AT} + ?, ${BATCH_STATE.accepted},
    key, CAST(substr(value, 1, ${TIME}) AS INTEGER), substr(value, ${TIME + 1})
  FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

const INSERT_CHUNKS = `INSERT INTO messaging_batch_chunk (batch, n, recipients)
  SELECT key, 0, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

/**
 * Stores batches with one statement per set of batches that differ only in id, content and time,
 * and their chunks with another.
 *
 * Assumes batches without keys and denied recipients, of one chunk.
 *
 * Gain: 7 times the throughput of one INSERT each with group commit (figure A3); 4 µs per batch
 * where seventeen columns from JSON take 13.
 */
export const enqueue: NonNullable<FastPaths['enqueue']> = async (sql, batches) => {
  if (!batches.every(isPlainBatch)) throw new ConcurrentChangeError();
  const groups = alikeGroups(batches);
  const lanes = [...new Set(groups.map(([{ lane }]) => lane))];
  await sql.run(SQLITE_LANE_CLOCK.advance, SQLITE_LANE_CLOCK.bind(lanes));
  for (const group of groups) {
    const [first] = group;
    const row = newBatchRow(first);
    const due = microseconds(first.sendAt) ?? 0;
    await sql.run(INSERT_BATCHES, [
      ...SHARED_PLACES.map((place) => row[place]),
      due,
      first.lane,
      due,
      first.lane,
      microseconds(first.validFor),
      members(group, ({ createdAt, content }) => {
        return String(Math.trunc(createdAt * 1_000)).padStart(TIME, '0') + content;
      }),
    ]);
  }
  await sql.run(INSERT_CHUNKS, [members(batches, ({ recipients }) => recipients.join('\n'))]);
};

type Group = [NewBatch, ...NewBatch[]];

/** Groups batches that share all columns but {@link OWN}; usually one group. */
function alikeGroups(batches: readonly NewBatch[]): Group[] {
  const groups = new Map<string, Group>();
  let last: Group | undefined;
  for (const batch of batches) {
    if (last && isAlike(last[0], batch)) {
      last.push(batch);
      continue;
    }
    const row = newBatchRow(batch);
    const key = JSON.stringify([...SHARED_PLACES.map((place) => row[place]), batch.validFor]);
    last = groups.get(key);
    if (last) last.push(batch);
    else groups.set(key, (last = [batch]));
  }
  return [...groups.values()];
}

function isAlike(a: NewBatch, b: NewBatch): boolean {
  return (
    a.lane === b.lane &&
    a.sender === b.sender &&
    a.tenant === b.tenant &&
    a.channel === b.channel &&
    a.class === b.class &&
    a.deliveryReport === b.deliveryReport &&
    a.parts === b.parts &&
    a.recipients.length === b.recipients.length &&
    a.sendAt === b.sendAt &&
    a.validFor === b.validFor
  );
}

/** One JSON object with a text for each batch id; the texts need no escaping. */
function members(batches: readonly NewBatch[], textOf: (batch: NewBatch) => string): string {
  let json = '';
  for (const batch of batches)
    json += `${json && ','}"${batch.id}":${JSON.stringify(textOf(batch))}`;
  return `{${json}}`;
}
