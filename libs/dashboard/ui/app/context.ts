import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ChannelInfo, ContextAnswer } from '../../src/api.js';

/** The answer of `api/context`, for every page. */
export const ContextData = createContext<ContextAnswer | undefined>(undefined);

export function useContextData(): ContextAnswer {
  const data = useContext(ContextData);
  if (!data) throw new Error('a page is drawn before api/context answered');
  return data;
}

export function useChannel(name: string): ChannelInfo | undefined {
  return useContextData().channels.find((channel) => channel.name === name);
}

/** Each status of all channels once, by rank. */
export function allStatuses(channels: readonly ChannelInfo[], channel?: string): string[] {
  const ranks = new Map<string, number>();
  for (const { name, statuses } of channels) {
    if (channel && name !== channel) continue;
    for (const status of statuses) ranks.set(status.name, status.rank);
  }
  return [...ranks].toSorted(([, a], [, b]) => a - b).map(([name]) => name);
}
