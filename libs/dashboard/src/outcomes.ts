import type { MessageStats } from '@dundun/messaging';
import type { ChannelRegistry } from '@dundun/messaging/ports';

/** Outcomes of messages; the others are on the way. */
export interface Outcomes {
  /** Reached their recipient for good, such as `delivered` or `completed`. */
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Together at most the accepted ones: a message may have had several statuses. */
export function outcomesOf(
  channels: ChannelRegistry,
  { accepted, counts }: Pick<MessageStats, 'accepted' | 'counts'>,
): Outcomes {
  const reached = Math.min(reachedOf(channels, counts), accepted);
  const delivered = Math.max(0, reached - (counts[REVERSED] ?? 0));
  const cancelled = Math.min(counts[CANCELLED] ?? 0, accepted - delivered);
  return {
    delivered,
    failed: Math.min(failedOf(channels, counts), accepted - delivered - cancelled),
    cancelled,
  };
}

/** Messages that reached their recipient, also those that failed afterwards. */
export function reachedOf(channels: ChannelRegistry, counts: MessageStats['counts']): number {
  const names = channels.names.map((channel) => channels.statusesOf(channel));
  return familiesOf(
    names.map((statuses) =>
      statuses.flatMap(([name, { terminal, failed }]) => (terminal && !failed ? [name] : [])),
    ),
  ).reduce((all, family) => all + Math.max(...family.map((name) => counts[name] ?? 0)), 0);
}

/** Messages with a status of failure, also of those that were delivered before. */
export function failedOf(channels: ChannelRegistry, counts: MessageStats['counts']): number {
  const names = channels.names.flatMap((channel) =>
    channels.statusesOf(channel).flatMap(([name, { failed }]) => (failed ? [name] : [])),
  );
  const failing = new Set(names.filter((name) => name !== CANCELLED));
  return [...failing].reduce((sum, name) => sum + (counts[name] ?? 0), 0);
}

const CANCELLED = 'cancelled';

/** An order that the operator took back; it was delivered before. */
const REVERSED = 'reversed';

/** Statuses that one message can have had together, such as `delivered` and `read`. */
function familiesOf(lists: readonly (readonly string[])[]): string[][] {
  let families: string[][] = [];
  for (const list of lists) {
    if (list.length === 0) continue;
    const isOther = (family: readonly string[]) => !family.some((name) => list.includes(name));
    const joined = families.filter((family) => !isOther(family)).flat();
    families = [...families.filter(isOther), [...new Set([...joined, ...list])]];
  }
  return families;
}
