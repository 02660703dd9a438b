import { BATCH_STATE } from '../rows/batch-state.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import { chunkRows, NEW_BATCH, type NewBatch, newBatchRow } from '../rows/new-batch.js';
import type { FastPaths } from '../store.js';
import { LANE_CLOCK } from './dialect.js';

/** The columns in which concurrent batches differ. */
const OWN = ['v_id', 'v_content', 'v_created_at'];
const NAMES = Object.keys(NEW_BATCH).slice(0, -1);
const SHARED = NAMES.flatMap((name, column) => (OWN.includes(name) ? [] : [column]));

/** After all batches that the lane has accepted, and not before the batch's due time. */
const AVAILABLE_AT =
  '(SELECT max(accepted_at, coalesce(?, 0)) FROM messaging_lane WHERE lane_key = ?)';

/** Number of digits of a time in microseconds. */
const TIME = 16;

/**
 * One JSON object has a member per batch: SQLite returns a member's name and text unchanged, while
 * it would serialise an array to JSON and parse it again for each element.
 */
const INSERT_BATCHES = `INSERT INTO messaging_batch
    (${SHARED.map((column) => NAMES[column]?.slice(2)).join(', ')}, available_at, valid_until, state,
    id, created_at, content)
  SELECT ${SHARED.map(() => '?').join(', ')}, ${AVAILABLE_AT}, ${AVAILABLE_AT} + ?, ${BATCH_STATE.accepted},
    key, CAST(substr(value, 1, ${TIME}) AS INTEGER), substr(value, ${TIME + 1})
  FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;
const INSERT_CHUNKS = `INSERT INTO messaging_batch_chunk (batch, n, recipients)
  SELECT key, 0, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

/**
 * Stores batches with one statement, and their recipients with another.
 *
 * Assumes batches of one chunk that differ only in id, content, time and recipients: a burst of
 * single sends.
 *
 * Gain: 7 times the throughput of one INSERT each with group commit (figure A3); 9 % more sends per
 * second through the gateway (A1).
 */
export const enqueue: NonNullable<FastPaths['enqueue']> = async (sql, batches) => {
  const [first] = batches as [NewBatch];
  const { lane, sendAt } = first;
  if (!batches.every((one) => isAlike(one, first))) throw new ConcurrentChangeError();
  const row = newBatchRow(first);
  const chunks = batches.flatMap(chunkRows) as [batch: string, n: number, recipients: string][];
  if (chunks.length > batches.length) throw new ConcurrentChangeError();
  const due = sendAt === null ? null : sendAt * 1_000;
  await sql.run(LANE_CLOCK.advance, LANE_CLOCK.bind([lane]));
  await sql.run(INSERT_BATCHES, [
    ...SHARED.map((column) => row[column]),
    ...[due, lane, due, lane],
    row.at(-1),
    members(
      batches.map(({ id, createdAt, content }) => [
        id,
        String(Math.trunc(createdAt * 1_000)).padStart(TIME, '0') + content,
      ]),
    ),
  ]);
  await sql.run(INSERT_CHUNKS, [
    members(chunks.map(([batch, , recipients]) => [batch, recipients])),
  ]);
};

function isAlike(a: NewBatch, b: NewBatch): boolean {
  return (
    a.idempotencyKey === null &&
    a.fingerprint === b.fingerprint &&
    a.denied.length === 0 &&
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

/** One JSON object with a text for each batch id; ids need no escaping. */
function members(texts: readonly (readonly [id: string, text: string])[]): string {
  return `{${texts.map(([id, text]) => `"${id}":${JSON.stringify(text)}`).join(',')}}`;
}
