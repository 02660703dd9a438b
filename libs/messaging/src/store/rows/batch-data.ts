import type { Personal } from '../../message/content/email-content.js';
import { CHUNK_SIZE, PIECE_SIZE } from '../schema/tables.js';
import type { NewBatch } from './new-batch.js';
import { hasLongText, longLengthOf } from './stored-content.js';

/** Names and variables of a chunk's recipients. */
export interface PersonalChunk {
  readonly batch: string;
  readonly n: number;
  readonly entries: string;
}

export interface AttachmentPiece {
  readonly batch: string;
  readonly digest: string;
  readonly n: number;
  readonly bytes: Buffer;
}

/** A part of a long text of a content. */
export interface TextPiece {
  readonly n: number;
  readonly piece: number;
  readonly bytes: Buffer;
}

/** A piece of a batch's texts, as drivers return it. */
export interface TextRow {
  readonly batch: string;
  readonly n: number;
  readonly bytes: Uint8Array;
}

/** The texts of one batch. @param pieces in their order */
export function textsOf(pieces: readonly TextRow[]): string[] {
  const parts: Uint8Array[][] = [];
  for (const { n, bytes } of pieces) (parts[n] ??= []).push(bytes);
  return parts.map((own) => Buffer.concat(own).toString());
}

export const INSERT_TEXT =
  'INSERT INTO messaging_batch_text (batch, n, piece, bytes) VALUES (?, ?, ?, ?)';

/** Most characters of a piece: three bytes each at most, below a server's limit of one statement. */
const PIECE_LENGTH = 1_024 * 1_024;

/** Whether the batch has rows besides its own and those of its recipients. */
export function hasData(batch: NewBatch): boolean {
  const { hasPersonal, attachments, labels } = batch;
  const hasRows = hasPersonal === true || attachments !== undefined || labels !== undefined;
  return hasRows || hasLongText(batch);
}

/** Size of its long texts and attachments. */
export function bytesOf({ content, attachments = [] }: NewBatch): number {
  return attachments.reduce((sum, { content: { length } }) => sum + length, longLengthOf(content));
}

/** Rejections that are written in one turn of the event loop; a batch with more is stored alone. */
export const REJECTIONS = 500;

/** Bytes of texts and attachments that are written in one turn; a batch with more is stored alone. */
export const TURN_BYTES = 1_024 * 1_024;

/** Most recipients of a watched batch that is stored in one turn. */
export const WATCHED = 1_000;

/** Whether other work has a turn of the event loop while the batch is stored. */
export function takesTurns(batch: NewBatch): boolean {
  return (
    batch.denied.length > REJECTIONS ||
    bytesOf(batch) > TURN_BYTES ||
    (batch.watched === true && batch.recipients.length > WATCHED)
  );
}

export function* textPiecesOf(texts: readonly string[]): Generator<TextPiece> {
  for (const [n, text] of texts.entries())
    for (let from = 0, piece = 0; from < text.length; piece++) {
      let to = from + PIECE_LENGTH;
      // The second half of a character belongs to the first.
      if (/^[\uDC00-\uDFFF]/.test(text.charAt(to))) to++;
      yield { n, piece, bytes: Buffer.from(text.slice(from, to)) };
      from = to;
    }
}

/** A row of a batch's labels: its first row has them all. */
export interface LabelRow {
  readonly n: number;
  readonly tag: string;
  readonly labels: string | null;
}

export function* labelRowsOf({ labels }: NewBatch): Generator<LabelRow> {
  if (!labels) return;
  const { tags } = labels;
  for (let n = 0; n < Math.max(1, tags.length); n++)
    yield { n, tag: tags[n] ?? '', labels: n === 0 ? JSON.stringify(labels) : null };
}

/** A chunk in which no recipient has a name or variables has no row. */
export function* personalChunksOf({ id, personal = [] }: NewBatch): Generator<PersonalChunk> {
  for (let n = 0; n * CHUNK_SIZE < personal.length; n++) {
    const own = personal.slice(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE);
    if (own.some((one) => one !== undefined))
      yield {
        batch: id,
        n,
        entries: own.map((one) => (one ? JSON.stringify(one) : '')).join('\n'),
      };
  }
}

/** Attachments with the same bytes are stored once. */
export function* piecesOf({ id, attachments = [] }: NewBatch): Generator<AttachmentPiece> {
  const written = new Set<string>();
  for (const { digest, content } of attachments) {
    if (written.has(digest)) continue;
    written.add(digest);
    for (let n = 0; n * PIECE_SIZE < content.length; n++)
      yield {
        batch: id,
        digest,
        n,
        bytes: content.subarray(n * PIECE_SIZE, (n + 1) * PIECE_SIZE),
      };
  }
}

export function personalOf(line: string | undefined): Personal | undefined {
  return line ? (JSON.parse(line) as Personal) : undefined;
}
