import type { MessageOutcomes } from '@dundun/messaging/operations';
import type { ChannelRegistry } from '@dundun/messaging/ports';
import type { Failure, Outcomes } from './api.js';
import { reasonOf } from './words.js';

export type Outcome = 'delivered' | 'failed' | 'cancelled' | 'unknown' | 'onTheWay';

/** What a message with this status counts as; each counts once. */
export function outcomeOf(channels: ChannelRegistry, channel: string, status: string): Outcome {
  if (status === 'cancelled' || status === 'unknown') return status;
  const [, known] = channels.statusesOf(channel).find(([name]) => name === status) ?? [];
  if (known?.failed) return 'failed';
  return known?.terminal ? 'delivered' : 'onTheWay';
}

/** Sums of channels and times: the outcomes add up to the accepted messages. */
export function outcomesOf(channels: ChannelRegistry, slots: readonly MessageOutcomes[]): Outcomes {
  const sums = { delivered: 0, failed: 0, cancelled: 0, unknown: 0, onTheWay: 0, read: 0 };
  for (const { channel, outcomes } of slots)
    for (const { status, messages } of outcomes) {
      sums[outcomeOf(channels, channel, status)] += messages;
      if (status === 'read') sums.read += messages;
    }
  const sumOf = (field: 'accepted' | 'sent') => slots.reduce((sum, one) => sum + one[field], 0);
  return { accepted: sumOf('accepted'), sent: sumOf('sent'), ...sums };
}

/** Most failures first, each of one channel, status and error code. */
export function failuresOf(
  channels: ChannelRegistry,
  slots: readonly MessageOutcomes[],
): readonly Failure[] {
  const failures = new Map<string, Failure>();
  for (const { channel, outcomes } of slots)
    for (const { status, errorCode, messages } of outcomes) {
      if (outcomeOf(channels, channel, status) !== 'failed') continue;
      const key = JSON.stringify([channel, status, errorCode]);
      const reason = errorCode === null ? null : reasonOf(errorCode, null).title;
      const before = failures.get(key)?.messages ?? 0;
      failures.set(key, { channel, status, errorCode, reason, messages: before + messages });
    }
  return [...failures.values()].toSorted((one, other) => other.messages - one.messages);
}
