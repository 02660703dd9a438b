import type { Personal } from '../../message/email-content.js';
import { CHUNK_SIZE, PIECE_SIZE } from '../schema/tables.js';
import type { NewBatch } from './new-batch.js';

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

/** Whether the batch has rows besides its own and those of its recipients. */
export function hasData({ hasPersonal, attachments, labels }: NewBatch): boolean {
  return hasPersonal === true || attachments !== undefined || labels !== undefined;
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
