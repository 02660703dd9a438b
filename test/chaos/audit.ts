import type { DataSource } from 'typeorm';
import { STATUS_RANK } from '../../libs/messaging/src/message/status.js';
import type { BookEntry } from './processes/protocol.js';

/** Rank of a call that the upstream accepted. */
const INITIATED = 41;

interface StoreRow {
  readonly batch: string;
  readonly send_key: string;
  readonly state: number;
  readonly recipient_count: number;
  readonly position: number | null;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly n: number | null;
  readonly reference: string | null;
}

/** Differences between the store and the upstream's log. Every list but `unknown` must be empty. */
export interface Findings {
  /** Accepted sends the store does not know. */
  readonly forgotten: readonly string[];
  /** Keys of sends with more than one batch. */
  readonly repeatedBatches: readonly string[];
  /** Messages neither sent nor unknown, nor rejected by the upstream. */
  readonly unfinished: readonly string[];
  /** Messages the store calls sent and the book does not have. */
  readonly lost: readonly string[];
  /** Rejected messages that the book has. */
  readonly misrejected: readonly string[];
  /** Recipients the book has more than once. */
  readonly doubled: readonly string[];
  /** Book entries under a key no committed intent has. */
  readonly unintended: readonly string[];
  /** A submission's reference that is not the book's. */
  readonly misreferenced: readonly string[];
  /** Keys that came back with another body. */
  readonly conflicting: readonly string[];
  /** Submission keys of messages with an unknown outcome. */
  readonly unknown: readonly string[];
  readonly messages: number;
}

export async function audit(
  store: DataSource,
  book: readonly BookEntry[],
  accepted: ReadonlyMap<string, string>,
  refused: ReadonlySet<string>,
): Promise<Findings> {
  const rows = (await store.query(
    `SELECT b.id AS batch, b.idempotency_key AS send_key, b.state, b.recipient_count,
       m.position, m.recipient, m.status, s.n, s.reference
     FROM messaging_batch b LEFT JOIN messaging_message m ON m.batch = b.id
     LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission`,
  )) as StoreRow[];
  const intents = new Set(
    (
      (await store.query('SELECT batch, n FROM messaging_submission')) as {
        batch: string;
        n: number;
      }[]
    ).map(({ batch, n }) => `${batch}-s${n}`),
  );
  const taken = new Map<string, BookEntry[]>();
  for (const entry of book)
    for (const recipient of entry.recipients)
      taken.set(recipient, [...(taken.get(recipient) ?? []), entry]);
  const batches = new Map<string, Set<string>>();
  const begun = new Map<string, { rows: number; of: number }>();
  for (const { send_key, batch, recipient_count, position } of rows) {
    batches.set(send_key, (batches.get(send_key) ?? new Set()).add(batch));
    const known = begun.get(batch) ?? { rows: 0, of: recipient_count };
    if (position !== null) known.rows++;
    begun.set(batch, known);
  }
  const name = ({ batch, position }: StoreRow) => `${batch}-${position}`;
  const messages = rows.filter(({ position }) => position !== null);
  const isSent = ({ status }: StoreRow) => [STATUS_RANK.sent, INITIATED].includes(Number(status));
  const isUnknown = ({ status }: StoreRow) => Number(status) === STATUS_RANK.unknown;
  const isRejected = ({ status, batch, n }: StoreRow) =>
    Number(status) === STATUS_RANK.rejected && refused.has(`${batch}-s${n}`);
  const hasEnded = (row: StoreRow) => isSent(row) || isUnknown(row) || isRejected(row);
  return {
    messages: messages.length,
    forgotten: [...accepted].filter(([key, id]) => !batches.get(key)?.has(id)).map(([key]) => key),
    repeatedBatches: [...batches].filter(([, ids]) => ids.size > 1).map(([key]) => key),
    unfinished: [
      ...messages.filter((row) => !hasEnded(row)).map(name),
      ...[...begun].filter(([, { rows: n, of }]) => n < of).map(([batch]) => batch),
    ],
    lost: messages.filter((row) => isSent(row) && !taken.has(row.recipient ?? '')).map(name),
    misrejected: messages
      .filter((row) => isRejected(row) && taken.has(row.recipient ?? ''))
      .map(name),
    doubled: [...taken].filter(([, entries]) => entries.length > 1).map(([to]) => to),
    unintended: book.filter(({ key }) => !intents.has(key)).map(({ key }) => key),
    misreferenced: messages
      .filter(
        (row) =>
          isSent(row) &&
          !taken.get(row.recipient ?? '')?.some(({ reference }) => reference === row.reference),
      )
      .map(name),
    conflicting: book.filter(({ conflicts }) => conflicts > 0).map(({ key }) => key),
    unknown: [...new Set(messages.filter(isUnknown).map(({ batch, n }) => `${batch}-s${n}`))],
  };
}

/** Lists that must be empty after every fault, with that of the order of each lane. */
export const ORDERED = {
  forgotten: [],
  repeatedBatches: [],
  unfinished: [],
  lost: [],
  misrejected: [],
  doubled: [],
  unintended: [],
  misreferenced: [],
  conflicting: [],
  passed: [],
} satisfies Partial<Findings> & { readonly passed: readonly string[] };
