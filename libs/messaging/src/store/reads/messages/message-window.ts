import type { MessageFilter } from '../../../message/views.js';
import type { ListScope, Place } from '../../rows/cursor.js';
import { FIRST_ID, hasOtherChannels, ID_SLACK, idAt, LAST_ID } from '../newest-batches.js';

type Big = string | number;

export interface Head {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly sender: string;
  readonly state: number;
  readonly recipients: number;
  readonly parts: number;
  readonly createdAt: Big;
  readonly sendAt: Big | null;
  /** Start of the part of the window in which a tag is searched. */
  readonly tagged?: Big;
}

export const HEAD = `b.id, b.tenant, b.channel, b.sender, b.state, b.recipient_count AS recipients, b.parts,
  b.created_at AS "createdAt", b.send_at AS "sendAt"`;

/** Positions of a batch, `to` excluded. */
export interface Range {
  readonly head: Head;
  readonly from: number;
  readonly to: number;
}

export type Filter = Omit<MessageFilter, 'tenant'> & {
  readonly provider?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly toPart?: string | undefined;
  readonly toPartOf?: 'whole' | 'shown' | undefined;
  readonly country?: string | undefined;
  readonly subject?: string | undefined;
  /** With `batchId`: one message. */
  readonly position?: number | undefined;
  readonly limit: number;
};

/** Ids between the cursor, the batch and the times of a filter. */
export function boundsOf(
  { batchId, since, until }: Pick<Filter, 'batchId' | 'since' | 'until'>,
  after: Place | undefined,
) {
  const latest = [after?.[0], batchId, until && idAt(until.getTime() + ID_SLACK, 'f')];
  const earliest = [batchId, since && idAt(since.getTime() - ID_SLACK, '0')];
  const given = (ids: readonly (string | undefined)[]) =>
    ids.filter((id) => id !== undefined).toSorted();
  return { latest: given(latest)[0] ?? LAST_ID, earliest: given(earliest).at(-1) ?? FIRST_ID };
}

/** Whether a batch of the range may be left out by {@link matches}. */
export function mayNotMatch({ tenants, channel }: ListScope, { from, since, until, tag }: Filter) {
  const isTagged = tag !== undefined && tenants === 'all';
  const isOther = hasOtherChannels({ tenants, channel, tag });
  return [from, since, until].some((one) => one !== undefined) || isTagged || isOther;
}

export function matches(
  { tenant, channel, sender, createdAt, tagged = 1 }: Head,
  scope: ListScope,
  { from, since, until }: Pick<Filter, 'from' | 'since' | 'until'>,
): boolean {
  const at = Number(createdAt) / 1_000;
  return (
    (scope.tenants === 'all' || scope.tenants.includes(tenant)) &&
    (scope.channel === undefined || channel === scope.channel) &&
    Number(tagged) === 1 &&
    (from === undefined || sender === from) &&
    (since === undefined || at >= since.getTime()) &&
    (until === undefined || at < until.getTime())
  );
}

/** `end`: the last position, where `most` ended the ranges. */
export function rangesOf(
  heads: readonly Head[],
  after: Place | undefined,
  most: number,
  position?: number,
) {
  const ranges: Range[] = [];
  let left = most;
  for (const head of heads) {
    const from = Math.max(head.id === after?.[0] ? after[1] + 1 : 0, position ?? 0);
    const to = Math.min(head.recipients, from + left, (position ?? Infinity) + 1);
    if (to <= from) continue;
    ranges.push({ head, from, to });
    left -= to - from;
    if (left === 0) return { ranges, end: [head.id, to - 1] as const };
  }
  return { ranges, end: undefined };
}

export function endOf({ id, recipients }: Head): Place {
  return [id, recipients];
}
