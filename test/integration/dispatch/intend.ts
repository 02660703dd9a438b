import { slice } from '../../../libs/messaging/src/dispatch/slice.js';
import type { Lease } from '../../../libs/messaging/src/store/rows/lease.js';
import type { MessageStore } from '../../../libs/messaging/src/store/message-store.js';

export const LANE = ':sms';
export const TRANSPORT = 'scripted';

/** Limits of a slice whose messages all have one provider. */
export function everythingTo(provider: string) {
  return {
    routeOf: () => undefined,
    placementOf: () => ({ provider }),
    share: (_: string, wanted: number) => wanted,
    anyProvider: provider,
  };
}

/** A drain up to the start of its requests; runs `meanwhile` after the plan. */
export async function intend(store: MessageStore, meanwhile?: () => Promise<unknown>) {
  const lease = (await store.lanes.acquire(LANE)) as Lease;
  const planned = await store.work.plan(LANE, 100);
  await meanwhile?.();
  const limits = {
    ...everythingTo(TRANSPORT),
    now: 0,
    wallNow: Date.now(),
    most: Infinity,
  };
  const intent = slice(planned, () => undefined, limits);
  const { fence } = lease;
  const live = await store.intents.record({ lane: LANE, fence, ...intent });
  const heads = intent.submissions.map(({ batch, n, firstPosition, lastPosition }) => ({
    batch,
    n,
    firstPosition,
    lastPosition,
    provider: TRANSPORT,
    fence,
    attempt: 2,
  }));
  return { lease, heads, live };
}
