import { expect, it } from '@jest/globals';
import type { RouteOf } from '../routing/router.js';
import type { PlannedBatch, PlannedRecipient } from '../store/rows/planned-batch.js';
import { type LeasedWork, LaneMemory } from './leased-work.js';
import { PlanRoutes } from './plan-routes.js';

const ROUTE = {} as RouteOf;
const BATCH = { id: 'later' } as PlannedBatch;
const RECIPIENT = { refusedBy: null } as PlannedRecipient;

it('a plan that was read before the end of a deferral starts no message of its provider', () => {
  const now = 1_003;
  const clock = { monotonic: () => now };
  const memory = new LaneMemory('lane', { backoff: 50, clock, channels: new Map() } as never);
  // An earlier message is due at the same time.
  memory.deferUntil('a', 1_000);
  const work = {
    now,
    memory,
    context: { router: { candidates: () => ['a'], reasonFor: () => null } },
    pause: { pausedFor: () => 0 },
    provider: () => ({ honoursKeys: true, breaker: { isOpen: false } }),
  } as unknown as LeasedWork;
  const placedAt = (plannedAt: number) =>
    new PlanRoutes(work, 1, plannedAt, () => false).placementOf(ROUTE, 'id', RECIPIENT, BATCH);
  // It waits for the next plan alone.
  expect(placedAt(999)).toEqual({ deferFor: 0.001 });
  expect(placedAt(1_002)).toMatchObject({ deferFor: 0.001 });
  expect(placedAt(now + 1)).toEqual({ provider: 'a', reason: null });
});
