import type { Channel } from '../../message/message.js';
import type { Page, Tenants } from '../../message/views.js';
import { MessageValidationError } from '../../message/errors.js';

/** Reads within another scope do not find the batch. */
export interface BatchScope {
  readonly tenant: string;
  readonly channel: Channel;
}

export interface ListScope {
  readonly tenants: Tenants;
  /** @default every channel */
  readonly channel?: Channel | undefined;
}

export interface PageRequest {
  readonly cursor?: string;
  readonly limit: number;
}

const SHAPE = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  number: /^\d{1,15}$/,
  position: /^\d{1,9}$/,
  /** Batch and position. */
  place: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.\d{1,9}$/,
  /** Time, and numbers of batches and reports since. */
  changes: /^\d{1,15}(?:\.\d{1,4}){2,3}$/,
  /** Time and id. */
  report: /^\d{1,16}\.\d{1,15}$/,
  group: /^grp_[0-9A-Za-z]{10,60}$/,
  suppression: /^\S{1,320} (?:\*|[a-z][a-z0-9-]{0,15}) (?:\*|[a-z0-9_-]{1,32}) [01]$/,
} as const;

/** Cursors are opaque to callers, so their content may change. */
export function encodeCursor(value: string): string {
  return Buffer.from(value).toString('base64url');
}

/** @throws MessageValidationError on `cursor` */
export function decodeCursor(cursor: string, shape: keyof typeof SHAPE): string {
  const value = Buffer.from(cursor.slice(0, 600), 'base64url').toString();
  // Other texts decode to the same value, such as one with white space.
  if (!SHAPE[shape].test(value) || encodeCursor(value) !== cursor)
    throw new MessageValidationError([
      { path: 'cursor', message: 'is not a cursor of this list; start again without it' },
    ]);
  return value;
}

/** A message in a list by id: its batch and position; of an inbound message its id and 0. */
export type Place = readonly [id: string, position: number];

/** The newest batch first, in a batch by position. */
export function inListOrder([id, position]: Place, [otherId, otherPosition]: Place): number {
  if (id === otherId) return position - otherPosition;
  return id > otherId ? -1 : 1;
}

export function encodePlace(place: Place): string {
  return encodeCursor(place.join('.'));
}

/** @throws MessageValidationError on `cursor` */
export function placeOf(cursor: string): Place {
  const [id = '', position = ''] = decodeCursor(cursor, 'place').split('.');
  return [id, Number(position)];
}

/** The query for `rows` asks for one row more than `limit`. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (row: T) => string | number,
): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { data, nextCursor: hasMore ? encodeCursor(String(cursorOf(last))) : null };
}
