import type { Channel } from '../../message/message.js';
import type { Tenants } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';

export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** More than between the time of a batch and that in its id, in milliseconds. */
export const ID_SLACK = 60_000;

export interface NewestBatches {
  readonly tenants: Tenants;
  /** Batches of other channels come too where {@link hasOtherChannels}. @default every channel */
  readonly channel?: Channel | undefined;
  /** Ids from `earliest` to `latest`, which `excluded` leaves out. */
  readonly earliest?: string | undefined;
  readonly latest?: string | undefined;
  readonly excluded?: boolean;
  /** With all tenants a column `tagged` instead: no index has the tags of all. */
  readonly tag?: string | undefined;
  readonly limit: number;
}

const TAGGED = `, CASE WHEN EXISTS (SELECT 1 FROM messaging_batch_label l
  WHERE l.batch = b.id AND l.tag = ?) THEN 1 ELSE 0 END AS tagged`;

/**
 * The caller leaves out batches of other channels: no index has the channel of all tenants, or that
 * of a tag.
 */
export function hasOtherChannels({
  tenants,
  channel,
  tag,
}: Pick<NewestBatches, 'tenants' | 'channel' | 'tag'>): boolean {
  return channel !== undefined && (tenants === 'all' || tag !== undefined);
}

/**
 * The newest batches of all tenants or of some, by the index of each tenant and channel.
 * @param columns of `b`, with the id
 */
export async function newestBatches<T>(
  database: StoreDatabase,
  columns: string,
  range: NewestBatches,
): Promise<T[]> {
  const { tenants, channel, earliest = FIRST_ID, latest = LAST_ID, excluded, tag, limit } = range;
  const { dialect } = database;
  const to = excluded ? '<' : '<=';
  if (tenants === 'all')
    return database.all<T>(
      `SELECT ${columns} ${tag === undefined ? '' : TAGGED} FROM messaging_batch b
       WHERE b.id ${to} ? AND b.id >= ? ORDER BY b.id DESC LIMIT ?`,
      [...(tag === undefined ? [] : [tag]), latest, earliest, limit],
    );
  const ofChannel = hasOtherChannels(range) ? undefined : channel;
  const [index, isOfChannel] =
    ofChannel === undefined
      ? ['messaging_batch_list', '']
      : ['messaging_batch_channel', 'AND b.channel = ?'];
  const one =
    tag === undefined
      ? `SELECT ${columns} FROM messaging_batch b ${dialect.forceIndex(index)}
         WHERE b.tenant = ? ${isOfChannel} AND b.id ${to} ? AND b.id >= ? ORDER BY b.id DESC LIMIT ?`
      : `SELECT ${columns} FROM messaging_batch_label l
         ${dialect.join} messaging_batch b ON b.id = l.batch
         WHERE l.tenant = ? AND l.tag = ? AND l.batch ${to} ? AND l.batch >= ?
         ORDER BY l.batch DESC LIMIT ?`;
  const each = tenants.map((tenant) => [
    tenant,
    ...(ofChannel === undefined ? [] : [ofChannel]),
    ...(tag === undefined ? [] : [tag]),
    latest,
    earliest,
    limit,
  ]);
  if (each.length === 0) return [];
  if (each.length === 1) return database.all<T>(one, each[0]);
  const parts = each.map((_, n) => `SELECT * FROM (${one}) AS of_${n}`);
  return database.all<T>(
    `SELECT * FROM (${parts.join(' UNION ALL ')}) AS newest ORDER BY id DESC LIMIT ?`,
    [...each.flat(), limit],
  );
}

/** A UUIDv7 of this time in milliseconds, the lowest or the highest. */
export function idAt(time: number, fill: '0' | 'f'): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  const [two, twelve] = [fill.repeat(4), fill.repeat(12)];
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${two}-${two}-${twelve}`;
}
